"""Find out whether a program has a file open for writing, so that it may still grow.

On Linux the open files of every process are listed, which takes a few milliseconds; the result is
cached for a second. Where that is impossible (other systems, network file systems, processes whose
files are hidden), a recently modified file counts as being written.
"""

from __future__ import annotations

import math
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

LATELY_SECONDS: Final = 120.0
"""How long after its last change a file counts as being written if its writers cannot be seen."""
_SUFFIX: Final = ".jsonl"
_KEPT_SECONDS: Final = 1.0
_MOST_FILES: Final = 200_000
"""How many open files are examined, over all processes."""
_DEEPEST: Final = 64
_DELETED: Final = " (deleted)"
_REMOTE: Final = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "afs", "ceph", "glusterfs", "fuse.sshfs")
)
"""File systems whose files may be written by programs on another machine."""


class Snapshot(NamedTuple):
    """The files open for writing at one moment."""

    files: dict[tuple[int, int], str]
    """The ``/proc`` path of the open file, by device and inode."""
    hidden: frozenset[int]
    """The users of processes that could not be examined."""
    is_whole: bool = True
    """Whether all processes were examined."""
    remote: frozenset[int] = frozenset()
    """The devices whose files other machines may write."""

    def has(self, state: os.stat_result) -> bool | None:
        """Whether this file was open for writing; None if unknown."""
        if (state.st_dev, state.st_ino) in self.files:
            return True
        if not self.is_whole or state.st_uid in self.hidden or state.st_dev in self.remote:
            return None
        return False


_kept: tuple[float, Snapshot] = (0.0, Snapshot({}, frozenset(), is_whole=False))


def may_grow(path: str, state: os.stat_result | None = None) -> bool:
    """Whether a program may still be writing this file."""
    try:
        state = os.stat(path) if state is None else state
    except OSError:
        return False
    if not stat.S_ISREG(state.st_mode):
        return False
    written = is_written(path, state)
    return time.time_ns() / 1e9 - state.st_mtime < LATELY_SECONDS if written is None else written


def is_surely_written(path: str) -> bool:
    """Whether a program is known to have the file open for writing."""
    try:
        return is_written(path, os.stat(path)) is True
    except OSError:
        return False


def is_at_rest(path: str) -> bool:
    """Whether no program has the file open for writing and it was not modified recently."""
    try:
        state = os.stat(path)
    except OSError:
        return False
    return time.time_ns() / 1e9 - state.st_mtime >= LATELY_SECONDS and not may_grow(path, state)


def is_ours(path: str) -> bool:
    """Whether this process started the program that has the file open."""
    try:
        state = os.stat(path)
    except OSError:
        return False
    if not is_written(path, state):
        return False
    link = _kept[1].files.get((state.st_dev, state.st_ino), "")
    process, own = link.removeprefix("/proc/").partition("/")[0], str(os.getpid())
    for _ in range(_DEEPEST):
        if process == own:
            return True
        process = _parent(process)
        if not process:
            break
    return False


def _parent(process: str) -> str:
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as facts:
            # The program name in parentheses may contain anything, including parentheses.
            return facts.read().rpartition(")")[2].split()[1]
    except (OSError, IndexError):
        return ""


def is_written(path: str, state: os.stat_result) -> bool | None:
    """Whether a program has this file open for writing; None if unknown."""
    if sys.platform != "linux":
        return None
    name = os.path.basename(os.path.realpath(path) if os.path.islink(path) else path)
    if name.endswith(_SUFFIX):
        link = _kept[1].files.get((state.st_dev, state.st_ino))
        if link is None:
            return _snapshot(newer_than=state.st_mtime).has(state)
        if _written(link, lambda _: True) == (state.st_dev, state.st_ino):
            return True  # still the same program
        return _snapshot(newer_than=math.inf).has(state)
    if name.endswith((f"{_SUFFIX}.zst", f"{_SUFFIX}.gz")):
        return False  # compressed files are written in one go, after the session
    return _look(lambda link: link.endswith(name)).has(state)


def _snapshot(*, newer_than: float) -> Snapshot:
    """Return the open session files, from a snapshot at most a second old and newer than the last write."""
    global _kept
    now = time.time_ns() / 1e9
    if not max(newer_than, now - _KEPT_SECONDS) < _kept[0] <= now:
        _kept = now, _look(lambda link: link.endswith(_SUFFIX))
    return _kept[1]


def _look(is_wanted: Callable[[str], bool]) -> Snapshot:
    files: dict[tuple[int, int], str] = {}
    hidden: set[int] = set()
    left = _MOST_FILES
    processes = list(_processes())
    for process in processes:
        try:
            with os.scandir(f"{process}/fd") as opened:
                for each in opened:
                    left -= 1
                    if left < 0:
                        return Snapshot(files, frozenset(hidden), is_whole=False)
                    found = _written(each.path, is_wanted)
                    if found is not None:
                        files[found] = each.path
        except PermissionError:
            owner = _owner(process)
            if owner is not None:
                hidden.add(owner)
        except OSError:
            continue  # the process has ended
    return Snapshot(files, frozenset(hidden), bool(processes), _remote_devices())


def _processes() -> Iterator[str]:
    try:
        with os.scandir("/proc") as inside:
            yield from (each.path for each in inside if each.name.isdigit())
    except OSError:
        return


def _written(link: str, is_wanted: Callable[[str], bool]) -> tuple[int, int] | None:
    """Return the file behind an open descriptor if it is wanted and open for writing."""
    try:
        # Compare names first: ``stat`` can be slow on a network file system.
        if not is_wanted(os.readlink(link).removesuffix(_DELETED)):
            return None
        if not os.lstat(link).st_mode & stat.S_IWUSR:
            return None
        state = os.stat(link)
    except OSError:
        return None  # closed in the meantime
    return (state.st_dev, state.st_ino) if stat.S_ISREG(state.st_mode) else None


def _owner(process: str) -> int | None:
    """Return the user a process runs as. Its folder cannot tell: for a process that hides its
    memory, root owns it.
    """
    try:
        with open(f"{process}/status", encoding="utf-8", errors="replace") as facts:
            for line in facts:
                if line.startswith("Uid:"):
                    return int(line.split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return None


def _remote_devices() -> frozenset[int]:
    """Return the devices whose files other machines may write."""
    found: set[int] = set()
    if sys.platform == "win32":
        return frozenset(found)
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            for line in mounts:
                before, _, after = line.partition(" - ")
                if after.split(" ", 1)[0] in _REMOTE:
                    major, _, minor = before.split()[2].partition(":")
                    found.add(os.makedev(int(major), int(minor)))
    except (OSError, ValueError, IndexError):
        return frozenset(found)
    return frozenset(found)
