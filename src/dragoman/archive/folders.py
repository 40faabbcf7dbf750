"""The user's configuration folder, and atomic file writes. ``pathlib`` is slow to import, and not needed here."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress


def config_folder(environment: Mapping[str, str]) -> str:
    """Return the folder of the user's settings. It may not exist."""
    if sys.platform == "win32":
        named, usual = environment.get("APPDATA"), ("AppData", "Roaming")
    else:
        named, usual = environment.get("XDG_CONFIG_HOME"), (".config",)
    return os.path.join(named or os.path.join(os.path.expanduser("~"), *usual), "dragoman")


def own_prices(folder: str) -> str | None:
    """Return the user's price file, if there is one."""
    path = os.path.join(folder, "prices.toml")
    return path if os.path.exists(path) else None


def write_whole(path: str | os.PathLike[str], data: bytes) -> bool:
    """Write a file atomically. Return whether that succeeded; otherwise the old file is unchanged."""
    import tempfile  # importing it takes as long as listing sessions

    temporary = None
    folder, name = os.path.split(path)
    try:
        os.makedirs(folder or ".", exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder or ".")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        if temporary is not None:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        return False
    return True
