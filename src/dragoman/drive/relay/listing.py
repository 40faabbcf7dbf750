"""The relays of this user: which run, which have ended, and how to end one."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from dragoman.drive.relay import places, records
from dragoman.drive.relay.facts import RelayFacts
from dragoman.drive.relay.records import BrokenRecord, RecordSplitter
from dragoman.errors import UsageError

assert sys.platform != "win32"

KEPT_SECONDS: Final = 7 * 86_400.0
"""How long the journal of a relay that has ended is kept."""
_STOP_SECONDS: Final = 20.0
_POLL_SECONDS: Final = 0.05
_CHUNK: Final = 1 << 16


def list_relays(environment: Mapping[str, str]) -> list[RelayFacts]:
    """Return all relays, the running ones first, then the newest."""
    parent = places.relays_folder(environment)
    found = [_facts(folder) for folder in places.folders(parent)]
    return sorted(found, key=lambda each: (not each.is_running, -each.started))


def find_relay(name: str, environment: Mapping[str, str]) -> RelayFacts:
    """Return the relay with this name, or the only one whose name begins so. Raises :class:`UsageError`."""
    known = list_relays(environment)
    exact = [each for each in known if each.name == name]
    found = exact or [each for each in known if name and each.name.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(each.name for each in found[:4])
        raise UsageError(f"{name!r} matches {len(found)} relays: {names}")
    raise UsageError(f"there is no relay {name!r}; run `dragoman relay list --all`")


def stop_relay(relay: RelayFacts, *, seconds: float = _STOP_SECONDS) -> bool:
    """End a relay and its agent. Returns whether it is gone."""
    with suppress(OSError), places.connect(relay.folder) as connection:
        connection.sendall(b"stop\n")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if not _is_serving(relay.folder):
                return True
            time.sleep(_POLL_SECONDS)
    return not _is_serving(relay.folder)


def remove_old(environment: Mapping[str, str], *, seconds: float = KEPT_SECONDS) -> list[str]:
    """Delete the journals of relays that ended long ago. Returns their names."""
    removed: list[str] = []
    now = time.time_ns() / 1e9
    for folder in places.folders(places.relays_folder(environment)):
        with suppress(OSError):
            ended = os.stat(os.path.join(folder, places.METADATA)).st_mtime
            if now - ended > seconds and not _is_serving(folder):
                shutil.rmtree(folder)
                removed.append(os.path.basename(folder))
    return removed


def _facts(folder: str) -> RelayFacts:
    running = _ask(folder)
    facts = running or places.facts_of(folder) or {}
    known = {name: facts[name] for name in RelayFacts.__struct_fields__ if name in facts}
    own = {"name": os.path.basename(folder), "folder": folder, "is_running": running is not None}
    try:
        return msgspec.convert({**known, **own}, RelayFacts)
    except msgspec.ValidationError:
        return msgspec.convert(own, RelayFacts)


def _is_serving(folder: str) -> bool:
    try:
        places.connect(folder).close()
    except OSError:
        return False
    return True


def _ask(folder: str) -> dict[str, Any] | None:
    """The state of the relay in this folder, if one serves there."""
    splitter = RecordSplitter()
    with suppress(OSError, ValueError, BrokenRecord), places.connect(folder) as connection:
        connection.sendall(b"status\n")
        while data := connection.recv(_CHUNK):
            for record in splitter.receive(data):
                if record.kind == records.STATUS:
                    return json.loads(record.content)
    return None
