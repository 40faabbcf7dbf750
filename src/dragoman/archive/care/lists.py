"""Compare the lists that harnesses keep of their sessions with the files.

The files are authoritative: a missing or unreadable list is ignored.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from dragoman.archive.session_files import homes, named_id, session_files
from dragoman.harnesses.contract.history import OwnList
from dragoman.store.foreign import listed_sessions


def out_of_step(
    known: Mapping[str, Collection[Path]], env: Mapping[str, str] | None = None
) -> Iterator[tuple[Path, str, str]]:
    """Yield each difference: the file, the problem, and what to do. ``known`` maps sessions to files."""
    env = os.environ if env is None else env
    for home, history in homes(env):
        path = _list_of(history.own_list, home, env) if history.own_list is not None else None
        if history.own_list is None or path is None:
            continue
        own = history.own_list
        listed = listed_sessions(path, own.table, own.id_column, own.path_column)
        if listed is None:
            continue
        ids = {each: session_id for session_id, paths in known.items() for each in paths}
        for session_id, place in listed.items():
            if session_id not in known and not (home / place).exists():
                what = f"{path.name} lists session {session_id}, whose file is missing"
                yield home / place, what, "restore the file, or ignore this"
        places = {home / place for place in listed.values()}
        folders = [home / place.folder for place in history.places]
        for each in session_files(folder for folder in folders if folder.is_dir()):
            session_id = ids.get(each) or named_id(each)
            if session_id is not None and session_id not in listed and each not in places:
                what = f"{path.name} does not list it, so the program's own menus may not show it"
                yield each, what, "nothing; it can still be read"


def _list_of(own: OwnList, home: Path, env: Mapping[str, str]) -> Path | None:
    named = env.get(own.variable) if own.variable else None
    folder = Path(named).expanduser() if named else home
    try:
        name = own.newest_of(os.listdir(folder))
    except OSError:
        return None
    return folder / name if name is not None else None
