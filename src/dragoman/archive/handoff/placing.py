"""Put a new session file in place: complete or not at all, readable by its user only, never over another file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress


def place_file(path: str, lines: Iterable[bytes]) -> None:
    """Write the lines to a new file. Raises ``FileExistsError`` if there is one, and other ``OSError``."""
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    # Not a name that a program takes for a session.
    temporary = os.path.join(folder, f".handoff-{os.getpid()}-{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            for line in lines:
                file.write(line)
                file.write(b"\n")
            file.flush()
            os.fsync(file.fileno())
        _name(temporary, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _name(temporary: str, path: str) -> None:
    """Give the file its name, unless it is taken."""
    try:
        os.link(temporary, path)  # a rename would replace what is there
    except FileExistsError:
        raise
    except OSError:
        # A file system without links. The id is new, so nothing but a mistake can be there.
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.rename(temporary, path)
