"""The programs that figures are measured against, installed once into ``~/.cache/dragoman/peers``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

_FOLDER = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "dragoman", "peers")
_CCUSAGE = "20.0.24"
_TRANSCRIPTS = "0.1.1"
_RIPGREP = "1.18.0"


def ccusage() -> Path | None:
    """The native program of ccusage, from npm."""
    folder = _FOLDER / f"ccusage-{_CCUSAGE}"
    program = folder / "node_modules/@ccusage/ccusage-linux-x64/bin/ccusage"
    if not program.exists():
        _npm(folder, f"ccusage@{_CCUSAGE}", f"@ccusage/ccusage-linux-x64@{_CCUSAGE}")
    return _runnable(program)


def ripgrep() -> Path | None:
    """``rg``, of this machine or from npm."""
    found = shutil.which("rg")
    if found is not None:
        return Path(found)
    folder = _FOLDER / f"ripgrep-{_RIPGREP}"
    if not folder.exists():
        _npm(folder, f"@vscode/ripgrep@{_RIPGREP}")
    return next(filter(None, map(_runnable, folder.rglob("bin/rg"))), None)


def codex_transcripts() -> Path | None:
    """``codex-transcripts``, from PyPI, in an environment of its own."""
    folder = _FOLDER / f"codex-transcripts-{_TRANSCRIPTS}"
    program = folder / "bin" / "codex-transcripts"
    if not program.exists():
        venv.create(folder, with_pip=True, clear=True)
        install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
        install += ["--disable-pip-version-check", f"codex-transcripts=={_TRANSCRIPTS}"]
        subprocess.run(install, capture_output=True)
    return _runnable(program)


def _npm(folder: Path, *packages: str) -> None:
    if shutil.which("npm") is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["npm", "i", "--prefix", str(folder), *packages], capture_output=True)


def _runnable(program: Path) -> Path | None:
    if not program.is_file():
        print(f"not measured against {program.name}: it cannot be installed", file=sys.stderr)
        return None
    program.chmod(0o755)
    return program
