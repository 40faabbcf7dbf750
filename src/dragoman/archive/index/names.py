"""Read the names of sessions from the lists that harnesses keep."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

from dragoman.archive.places import ArchivePlace
from dragoman.store.database import Database
from dragoman.store.sessions import SessionTable

_FACT: Final = "names"


def take_names(place: ArchivePlace, database: Database) -> bool:
    """Update the names in the index if the lists have changed. False if it cannot be written now."""
    paths = {
        home.harness: os.path.join(folder, home.name_list)
        for home, folder in place.homes
        if home.name_list
    }
    states = " ".join(filter(None, map(_state, paths.values())))
    if (database.fact(_FACT) or "") == states:
        return True
    if not database.can_write or not database.lock.acquire(0.0):
        return False
    try:
        names = _read(paths)
        database.begin()
        SessionTable(database).name(names)
        database.set_fact(_FACT, states)
        database.commit()
    finally:
        database.rollback()
        database.lock.release()
    return True


def _state(path: str) -> str:
    """Return a value that changes with the list; empty if there is none."""
    try:
        stat = os.stat(path)
    except OSError:
        return ""
    return f"{stat.st_ino}:{stat.st_mtime_ns}:{stat.st_size}"


def _read(paths: dict[str, str]) -> dict[str, str]:
    from dragoman.archive.index.digest import title_in  # only needed when a list has changed
    from dragoman.reading.parsers import history_of
    from dragoman.reading.regular import open_regular

    names: dict[str, str] = {}
    for harness, path in paths.items():
        history = history_of(harness)
        if history is None or history.name_list is None:
            continue
        # An unreadable list counts as missing: the first prompt is then the title.
        with suppress(OSError), open_regular(path) as lines:
            for line in lines:
                session_id, name = history.name_list.name_in(line) or ("", "")
                if title := title_in(name):
                    names[session_id] = title
    return names
