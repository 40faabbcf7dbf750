"""Find session files: in the folders where harnesses keep them, or at given paths.

No file is opened and no harness is imported here, because every command runs this first. What must
be known about a harness is in a :class:`Home`, which is cached next to the index.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from dragoman.folders import cache_path
from dragoman.model.homes import HomeFolder

if TYPE_CHECKING:
    from pathlib import Path


_TICK_NS = 2_000_000_000


class Home(NamedTuple):
    """Where one harness keeps its sessions."""

    harness: str
    at: HomeFolder
    places: tuple[tuple[str, bool], ...]
    """Folders below the home, and whether the sessions in them are archived."""
    suffixes: tuple[str, ...]
    name_list: str = ""
    """The file below the home that lists the names of sessions, if there is one."""
    database: str = ""
    """The file below the home of which sessions are rows, if there is one."""

    def folder(self, environment: Mapping[str, str]) -> str:
        """Return the absolute path of the home."""
        return absolute(self.at.path(environment))

    @property
    def usual_folder(self) -> str:
        """Where the home is if no variable moves it."""
        return absolute(os.path.join("~", self.at.default))


class FoundFile(NamedTuple):
    """A file that may contain sessions, with its current state."""

    path: str
    device: int
    inode: int
    size: int
    mtime_ns: int
    harness: str | None = None
    archived: bool = False


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder for data that can be rebuilt."""
    from pathlib import Path  # slow to import, and a list does not need it

    return Path(cache_path(environment))


def walk(home: Home, folder: str, cache: str | None = None) -> Iterator[FoundFile]:
    """Yield the session files of a harness whose home is this folder.

    Sessions in a database are copied to files below ``cache`` first, if they have changed.
    """
    for place, archived in home.places:
        yield from _below(os.path.join(folder, place), home, archived)
    if home.database and cache is not None:
        yield from _in_database(os.path.join(folder, home.database), cache, home.harness)


def walk_all(homes: Iterable[tuple[Home, str]], cache: str) -> list[FoundFile]:
    """Return the session files of these homes, each once.

    Two harnesses may look into the same folder, because their homes were set to the same one. A file
    then belongs to the first.
    """
    found: dict[str, FoundFile] = {}
    for home, folder in homes:
        for each in walk(home, folder, cache):
            found.setdefault(each.path, each)
    return list(found.values())


def database_problems(databases: Iterable[str], cache: str) -> Iterator[str]:
    """Yield why these databases could not be read when they were last searched, as sentences."""
    for database in databases:
        if os.path.isfile(database):
            from dragoman.archive.mirrors import DatabaseMirror

            problem = DatabaseMirror.of(database, cache).problem()
            if problem is not None:
                yield problem


def _in_database(database: str, cache: str, harness: str | None) -> Iterator[FoundFile]:
    if not os.path.isfile(database):
        return
    from dragoman.archive.mirrors import DatabaseMirror  # loads SQLite, which few homes need

    mirror = DatabaseMirror.of(database, cache)
    mirror.refresh()
    for path in mirror.paths():
        try:
            stat = os.stat(path)
        except OSError:
            continue  # deleted in the meantime
        yield FoundFile(
            path, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, harness, False
        )


def _below(folder: str, home: Home, archived: bool) -> Iterator[FoundFile]:
    folders: list[str] = []
    try:
        with os.scandir(folder) as inside:
            for each in inside:
                if each.name.endswith(home.suffixes):
                    found = _seen(each, home.harness, archived)
                    if found is not None:
                        yield found
                elif each.is_dir(follow_symlinks=False):
                    folders.append(each.path)
    except OSError:
        return  # missing, not readable, or deleted in the meantime
    for each in folders:
        yield from _below(each, home, archived)


def _seen(entry: os.DirEntry[str], harness: str, archived: bool) -> FoundFile | None:
    try:
        stat = entry.stat()
    except OSError:
        return None
    return FoundFile(
        entry.path, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, harness, archived
    )


def folders_of(home: Home, folder: str, now_ns: int) -> dict[str, int]:
    """Return the modification time of every folder that :func:`walk` visits, and of the list of
    names.

    The time is 0 for a missing folder. It is -1 for one modified just now, because another change
    within the same clock tick would not be visible.
    """
    changed: dict[str, int] = {}
    left = [os.path.join(folder, place) for place, _ in home.places]
    while left:
        path = left.pop()
        changed[path] = 0
        try:
            mtime_ns = os.stat(path).st_mtime_ns
            with os.scandir(path) as inside:
                left += [
                    each.path
                    for each in inside
                    if not each.name.endswith(home.suffixes) and each.is_dir(follow_symlinks=False)
                ]
        except OSError:
            continue  # missing folders contain no sessions
        changed[path] = _settled(mtime_ns, now_ns)
    for path in _files_of(home, folder):
        try:
            changed[path] = _settled(os.stat(path).st_mtime_ns, now_ns)
        except OSError:
            changed[path] = 0
    return changed


def _files_of(home: Home, folder: str) -> Iterator[str]:
    """Yield the files of a home whose changes matter like those of a folder."""
    if home.name_list:
        yield os.path.join(folder, home.name_list)
    if home.database:
        path = os.path.join(folder, home.database)
        yield from (path, f"{path}-wal")


def _settled(mtime_ns: int, now_ns: int) -> int:
    return mtime_ns if now_ns - mtime_ns > _TICK_NS else -1


def is_still_so(folders: Iterable[tuple[str, int]]) -> bool:
    """Whether none of these folders has changed; a time of 0 means that the folder did not exist."""
    for path, mtime_ns in folders:
        try:
            if os.stat(path).st_mtime_ns != mtime_ns:
                return False
        except OSError:
            if mtime_ns:
                return False
    return True


def are_still_so(files: Iterable[tuple[bytes, int, int, int, int]]) -> bool:
    """Whether all files still have the same inode, size and mtime, and were read completely."""
    stat = os.stat  # local name, because this runs for thousands of files before anything is shown
    try:
        for path, inode, size, mtime_ns, complete in files:
            now = stat(path)
            if now.st_mtime_ns != mtime_ns or now.st_size != size or now.st_ino != inode:
                return False
            if not complete:
                return False
    except OSError:
        return False
    return True


def absolute(path: str | os.PathLike[str]) -> str:
    return os.path.abspath(os.path.expanduser(str(os.fspath(path))))


def by_hand(paths: Iterable[str | os.PathLike[str]]) -> Iterator[FoundFile]:
    """Yield the given files, and everything in given folders that looks like a recording."""
    for given in paths:
        path = absolute(given)
        if os.path.isdir(path):
            anywhere = HomeFolder("", "")
            every = Home("", anywhere, (("", False),), (".jsonl", ".jsonl.zst", ".jsonl.gz"))
            for found in walk(every, path):
                yield found._replace(harness=None)
            continue
        if path.endswith(".db"):
            yield from _in_database(path, cache_path(os.environ), None)
            continue
        try:
            stat = os.stat(path)
        except OSError:
            continue
        yield FoundFile(path, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
