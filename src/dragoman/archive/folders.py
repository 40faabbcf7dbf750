"""Where the user's own settings lie, and how to put a file in place whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def config_folder(environment: Mapping[str, str]) -> Path:
    """Where the user's own settings lie. It may not exist."""
    if sys.platform == "win32":
        return Path(environment.get("APPDATA") or Path.home() / "AppData/Roaming") / "dragoman"
    return Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "dragoman"


def own_prices(folder: Path) -> Path | None:
    """The file of the user's own prices in the folder of settings, if there is one."""
    path = folder / "prices.toml"
    return path if path.exists() else None


def write_whole(path: Path, data: bytes) -> bool:
    """Put a file in place at once, or leave the old one; whether it could be written."""
    import tempfile  # it takes as long as a list of sessions may

    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        return False
    return True
