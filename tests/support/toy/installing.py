"""Installs the toy harness into a folder, as pip would: a package with metadata, and its program."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import invalidate_caches
from pathlib import Path

from dragoman.harnesses import reload_plugins

_HERE = Path(__file__).parent
_METADATA = "Metadata-Version: 2.1\nName: dragoman-toy\nVersion: 1.0\n"
_ENTRY_POINTS = "[dragoman.harnesses]\ntoy = dragoman_toy:TOY\n"


@dataclass(frozen=True)
class Toy:
    """Where the toy is installed."""

    site: Path
    """On ``sys.path``; for a process, on ``PYTHONPATH``."""
    command: Path
    """The program, ``toy-agent``."""
    home: Path
    """Where it keeps its sessions."""

    @property
    def env(self) -> dict[str, str]:
        """The environment in which a process finds the plug-in and its program."""
        paths = [str(self.site), os.environ.get("PYTHONPATH", "")]
        return {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PATH": f"{self.command.parent}{os.pathsep}{os.environ['PATH']}",
            "TOY_HOME": str(self.home),
        }


def install(folder: Path) -> Toy:
    """Write the package, its metadata and its program below a folder."""
    site, programs = folder / "site", folder / "bin"
    shutil.copytree(_HERE / "dragoman_toy", site / "dragoman_toy")
    info = site / "dragoman_toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(_METADATA, encoding="utf-8")
    (info / "entry_points.txt").write_text(_ENTRY_POINTS, encoding="utf-8")
    programs.mkdir()
    command = programs / "toy-agent"
    source = (site / "dragoman_toy" / "agent.py").read_text(encoding="utf-8")
    command.write_text(f"#!{sys.executable}\n{source}", encoding="utf-8")
    command.chmod(0o755)
    return Toy(site=site, command=command, home=folder / "toy-home")


@contextmanager
def installed(folder: Path) -> Generator[Toy]:
    """The toy, installed for this process as well."""
    toy = install(folder)
    before = {name: os.environ.get(name) for name in ("PATH", "TOY_HOME")}
    os.environ |= {name: toy.env[name] for name in before}
    sys.path.insert(0, str(toy.site))
    invalidate_caches()
    reload_plugins()
    try:
        yield toy
    finally:
        sys.path.remove(str(toy.site))
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        for name in [name for name in sys.modules if name.split(".")[0] == "dragoman_toy"]:
            del sys.modules[name]
        reload_plugins()
