"""The user's configuration folder, and atomic file writes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the user's settings. It may not exist."""
    if sys.platform == "win32":
        return Path(environment.get("APPDATA") or Path.home() / "AppData/Roaming") / "dragoman"
    return Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "dragoman"


def own_prices(folder: Path) -> Path | None:
    """Return the user's price file, if there is one."""
    path = folder / "prices.toml"
    return path if path.exists() else None


def write_whole(path: Path, data: bytes) -> bool:
    """Write a file atomically. Return whether that succeeded; otherwise the old file is unchanged."""
    import tempfile  # importing it takes as long as listing sessions

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
