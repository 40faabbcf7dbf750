"""The real programs: which releases are tried, where each comes from, and how it is installed.

This table is the one place that names them. A program from npm gets a folder of its own in the cache, with the Node
that it needs beside it, and a small executable that starts it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dragoman.rehearsal.program import find_bundled

_INSTALL_SECONDS = 900
_NODE = "node@22.23.3"


class NotInstalled(Exception):
    """A program that cannot be had here, and why."""


@dataclass(frozen=True, kw_only=True)
class RealProgram:
    """One program, in the release that is tried."""

    name: str
    release: str
    package: str | None = None
    """The package on npm; without one, the development install brings it from PyPI."""
    script: str = ""
    """What is started, below ``node_modules``: JavaScript, or a program of its own."""
    needs_node: bool = False
    """Whether it needs a newer Node than many machines have: one is installed beside it."""

    @property
    def is_javascript(self) -> bool:
        return self.script.endswith(".js")


PROGRAMS: dict[str, RealProgram] = {
    each.name: each
    for each in (
        RealProgram(name="codex", release=""),
        RealProgram(name="claude", release=""),
        RealProgram(
            name="gemini",
            release="0.61.0",
            package="@google/gemini-cli",
            script="@google/gemini-cli/bundle/gemini.js",
        ),
        RealProgram(
            name="copilot",
            release="1.0.102",
            package="@github/copilot",
            script="@github/copilot-linux-x64/copilot",
        ),
        RealProgram(
            name="qwen",
            release="0.24.4",
            package="@qwen-code/qwen-code",
            script="@qwen-code/qwen-code/cli.js",
            needs_node=True,
        ),
        RealProgram(
            name="opencode",
            release="1.18.33",
            package="opencode-ai",
            script="opencode-ai/bin/opencode.exe",
        ),
        RealProgram(
            name="claude-agent-acp",
            release="0.99.1",
            package="@agentclientprotocol/claude-agent-acp",
            script="@agentclientprotocol/claude-agent-acp/dist/index.js",
            needs_node=True,
        ),
        RealProgram(
            name="codex-acp",
            release="2.6.0",
            package="@agentclientprotocol/codex-acp",
            script="@agentclientprotocol/codex-acp/dist/index.js",
            needs_node=True,
        ),
    )
}


def release_of(program: RealProgram, path: Path) -> str:
    """The release of an installed program: that of the table, or what it says itself."""
    if program.release:
        return program.release
    done = subprocess.run(
        [str(path), "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    found = re.search(r"\d+\.\d+\.\d+", done.stdout)
    return found[0] if found else ""


def cache() -> Path:
    """Where programs are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "dragoman", "harnesses")


def install(program: RealProgram, folder: Path) -> Path:
    """The executable of a program, installed if it is not there yet."""
    if program.package is None:
        found = find_bundled(program.name)
        if found is None:
            raise NotInstalled("its package is not installed: run `make .venv/ready`")
        return Path(found)
    home = folder / f"{program.name}-{program.release}"
    if not home.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{home.name}-", dir=folder) as unfinished:
            _npm_install(program, Path(unfinished))
            os.chmod(unfinished, 0o755)
            shutil.copytree(unfinished, home, symlinks=True)
    return _executable(program, home)


def _npm_install(program: RealProgram, folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("npm is not on the PATH")
    wanted = [f"{program.package}@{program.release}", *([_NODE] if program.needs_node else [])]
    quiet = ("--no-audit", "--no-fund", "--loglevel=error")
    try:
        done = subprocess.run(
            [npm, "install", "--prefix", str(folder), *quiet, *wanted],
            capture_output=True,
            text=True,
            timeout=_INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"npm install took longer than {_INSTALL_SECONDS} seconds") from None
    if done.returncode:
        raise NotInstalled(f"npm install {' '.join(wanted)}: {done.stderr.strip()[-600:]}")


def _executable(program: RealProgram, home: Path) -> Path:
    """A file that starts the program, whatever it is started with."""
    modules = home / "node_modules"
    script = modules / program.script
    if not script.is_file():
        raise NotInstalled(f"there is no {program.script} in {modules}")
    if not program.is_javascript:
        return script
    node = str(modules / ".bin" / "node") if program.needs_node else shutil.which("node")
    if node is None:
        raise NotInstalled("node is not on the PATH")
    path = home / "bin" / program.name
    text = f'#!/bin/sh\nexec {shlex.quote(node)} {shlex.quote(str(script))} "$@"\n'
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return path
