"""List session files by name only: nothing is opened and the index is not used.

The result is therefore always current. Use the index for anything beyond names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from dragoman.errors import UnreadableSource
from dragoman.harnesses import all_harnesses
from dragoman.harnesses.contract.history import History
from dragoman.reading.identity import named_session


def homes(env: Mapping[str, str] | None = None) -> list[tuple[Path, History]]:
    """Return the home of each harness."""
    env = os.environ if env is None else env
    histories = (each.history for each in all_harnesses() if each.history is not None)
    return [(Path(history.home(env)).expanduser(), history) for history in histories]


def session_files(paths: Iterable[str | os.PathLike[str]] = ()) -> Iterator[Path]:
    """Yield the session files at the given paths, including those in folders; by default all in the
    homes.

    Raises ``UnreadableSource`` for a path that does not exist.
    """
    given = [Path(path) for path in paths]
    if not given:
        for home, history in homes():
            for place in history.places:
                yield from _below(home / place.folder)
    for path in given:
        if path.is_dir():
            yield from _below(path)
        elif path.is_file():
            yield path
        elif path.exists():
            raise UnreadableSource(str(path), "it is not a regular file")
        else:
            raise UnreadableSource(str(path), "no such file")


def _below(folder: Path) -> Iterator[Path]:
    suffixes = tuple(suffix for _, history in homes() for suffix in history.suffixes)
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(suffixes) and os.path.isfile(path := os.path.join(base, name)):
                yield Path(path)


def named_id(path: Path) -> str | None:
    """Return the session id in the file's name."""
    return named_session(str(path))
