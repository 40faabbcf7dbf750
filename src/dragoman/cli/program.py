"""The name by which the user can run this program, for the commands that we print as next steps."""

from __future__ import annotations

import os
import shlex
import shutil
import sys


def invoked_as() -> str:
    """``dragoman`` if that runs this program, otherwise the path that started it."""
    started = os.path.abspath(sys.argv[0])
    found = shutil.which("dragoman")
    if found is not None and os.path.realpath(found) == os.path.realpath(started):
        return "dragoman"
    if os.path.basename(started) not in ("dragoman", "dragoman.exe") or not os.path.exists(started):
        return f"{shlex.quote(sys.executable)} -m dragoman.cli.main"
    near = os.path.relpath(started)
    return shlex.quote(started if near.startswith(os.pardir) else near)
