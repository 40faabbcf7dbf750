"""Where this user's data that can be rebuilt is kept, for every layer that caches something."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping


def cache_path(environment: Mapping[str, str]) -> str:
    """Return the folder for data that can be rebuilt. It may not exist."""
    if named := environment.get("DRAGOMAN_CACHE"):
        return named
    user = os.path.expanduser("~")
    if sys.platform == "win32":
        folder = environment.get("LOCALAPPDATA") or os.path.join(user, "AppData", "Local")
    elif sys.platform == "darwin":
        folder = os.path.join(user, "Library", "Caches")
    else:
        folder = environment.get("XDG_CACHE_HOME") or os.path.join(user, ".cache")
    return os.path.join(folder, "dragoman")
