"""Where relays are: one folder for each, below a folder that only its owner can look into."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, cast

assert sys.platform != "win32"

METADATA: Final = "relay.json"
SOCKET: Final = "socket"
_CONNECT_SECONDS: Final = 5.0


def relays_folder(environment: Mapping[str, str]) -> str:
    """Return the folder of this user's relays. It may not exist."""
    state = environment.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(state, "dragoman", "relays")


def make_folder(parent: str, name: str) -> str:
    """Make the folder of a new relay. Raises ``OSError``, also if there is one of this name."""
    os.makedirs(parent, mode=0o700, exist_ok=True)
    folder = os.path.join(parent, name)
    os.mkdir(folder, 0o700)
    return folder


def connect(folder: str) -> socket.socket:
    """Connect to the relay in this folder. Raises ``OSError`` if none serves there."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    directory = -1
    try:
        connection.settimeout(_CONNECT_SECONDS)
        path = os.path.join(folder, SOCKET)
        if len(os.fsencode(path)) > 100 and os.path.isdir("/proc/self/fd"):
            # The kernel takes no longer paths, so this one goes through the open folder.
            directory = os.open(folder, os.O_RDONLY)
            path = f"/proc/self/fd/{directory}/{SOCKET}"
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    finally:
        if directory >= 0:
            os.close(directory)
    return connection


def facts_of(folder: str) -> dict[str, Any] | None:
    """Return what the relay in this folder wrote about itself last, if it can be read."""
    with suppress(OSError, ValueError):
        with open(os.path.join(folder, METADATA), "rb") as file:
            facts: Any = json.loads(file.read())
        return cast("dict[str, Any]", facts) if isinstance(facts, dict) else None
    return None


def folders(parent: str) -> Iterator[str]:
    """Yield the folders of all relays, running or not, by name."""
    with suppress(OSError):
        for name in sorted(os.listdir(parent)):
            if os.path.exists(os.path.join(parent, name, METADATA)):
                yield os.path.join(parent, name)
