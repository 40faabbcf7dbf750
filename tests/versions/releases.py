"""Releases of Codex from npm, each in a folder of its own, and the native program inside it."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TypeAlias

Version: TypeAlias = tuple[int, int, int]

PACKAGE = "@openai/codex"
LATEST = "latest"
REQUIRED = ("0.66.0", "0.77.0", "0.104.0", "0.125.0", "0.142.0", "0.153.0", "0.160.0")
"""Every page and every run has these, and today's."""
OLDER = ("0.44.0", "0.60.1")
"""Driven by ``exec``; their ``app-server`` is refused."""
NEWEST = 3
"""How many of the newest releases are tried besides."""

_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}
_SYSTEMS = {"linux": "unknown-linux-musl", "darwin": "apple-darwin", "windows": "pc-windows-msvc"}
_INSTALL_SECONDS = 900
_FINISHED = re.compile(r"\d+\.\d+\.\d+")
"""Others are alphas, or builds for one platform."""


class NotInstalled(Exception):
    """A release that npm does not bring, or that has no program for this machine."""


def number(release: str) -> Version:
    """``0.66.0`` or ``0.66`` as numbers."""
    parts = [int(part) for part in release.split(".")]
    major, minor, patch = (*parts, 0, 0)[:3]
    return major, minor, patch


def cache() -> Path:
    """Where releases are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "dragoman", "codex")


def resolve(name: str, folder: Path) -> str:
    """The release that a name means; for ``latest`` npm is asked, and offline the newest kept is taken."""
    if name != LATEST:
        return ".".join(map(str, number(name)))
    try:
        said = _npm("view", PACKAGE, "version", seconds=60)
    except NotInstalled:
        kept = [path.name for path in folder.glob("[0-9]*.[0-9]*.[0-9]*") if path.is_dir()]
        if not kept:
            raise
        return max(kept, key=number)
    return said.split()[-1]


def newest(folder: Path, count: int = NEWEST) -> list[str]:
    """The newest finished releases on npm, the oldest of them first; offline, the newest kept ones."""
    try:
        said = json.loads(_npm("view", PACKAGE, "versions", "--json", seconds=60))
        known = [said] if isinstance(said, str) else list(said)
    except (NotInstalled, ValueError):
        known = [path.name for path in folder.glob("[0-9]*.[0-9]*.[0-9]*") if path.is_dir()]
    finished = [name for name in known if _FINISHED.fullmatch(name)]
    if not finished:
        raise NotInstalled("npm names no release, and none is kept")
    return sorted(finished, key=number)[-count:]


def default(folder: Path) -> list[str]:
    """What is tried when nothing is asked for: chosen releases, and the newest there are."""
    return list(dict.fromkeys([*OLDER, *REQUIRED, *newest(folder)]))


def install(release: str, folder: Path) -> Path:
    """The native program of a release, installed if it is not there yet."""
    home = folder / release
    if not home.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{release}-", dir=folder) as unfinished:
            wanted = f"{PACKAGE}@{release}"
            quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
            _npm("install", "--prefix", unfinished, *quiet, wanted, seconds=_INSTALL_SECONDS)
            find_program(Path(unfinished))
            shutil.copytree(unfinished, home, symlinks=True)
    return find_program(home)


def find_program(home: Path) -> Path:
    """The native program in a folder that npm filled: its place has changed twice."""
    triple, modules = _triple(), home / "node_modules" / "@openai"
    name = "codex.exe" if os.name == "nt" else "codex"
    patterns = (
        f"codex-*/vendor/{triple}/**/{name}",  # a package for each platform, inside or beside
        f"codex/node_modules/@openai/codex-*/vendor/{triple}/**/{name}",
        f"codex/vendor/{triple}/**/{name}",  # to 0.98: all platforms in one
        f"codex/bin/codex-{triple}*",  # to 0.34
    )
    for pattern in patterns:
        for path in sorted(modules.glob(pattern)):
            if path.is_file() and os.access(path, os.X_OK):
                return path
    raise NotInstalled(f"no program for {triple} in {home}")


def _triple() -> str:
    machine, system = platform.machine().lower(), platform.system().lower()
    return f"{_MACHINES.get(machine, machine)}-{_SYSTEMS.get(system, system)}"


def _npm(*words: str, seconds: float) -> str:
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("npm is not on the PATH")
    try:
        done = subprocess.run(
            [npm, *words], capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"npm {words[0]} took longer than {seconds:g} seconds") from None
    if done.returncode:
        raise NotInstalled(f"npm {' '.join(words)}: {done.stderr.strip()[-600:]}")
    return done.stdout
