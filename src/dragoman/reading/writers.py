"""Whether a file may still grow: whether some program has it open for writing.

On Linux the kernel says so: the open files of every process are looked through, which takes some milliseconds,
and what was found is used for a second. Where that cannot be seen (another system, a file on a network, a process
whose files are hidden from us), a file that was written to lately is taken for one that is being written.
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
"""How long after its last change a file counts as being written, where nothing better is known."""
_SUFFIX: Final = ".jsonl"
_KEPT_SECONDS: Final = 1.0
_MOST_FILES: Final = 200_000
"""How many open files are looked at, of all processes together."""
_DEEPEST: Final = 64
_DELETED: Final = " (deleted)"
_REMOTE: Final = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "afs", "ceph", "glusterfs", "fuse.sshfs")
)
"""File systems whose files may be written by programs on another machine."""


class Snapshot(NamedTuple):
    """Which files were open for writing at one moment."""

    files: dict[tuple[int, int], str]
    """By device and inode, and where the kernel says so."""
    hidden: frozenset[int]
    """The users whose processes could not all be looked at."""
    is_whole: bool = True
    """Whether all processes were looked at."""

    def has(self, state: os.stat_result) -> bool | None:
        """Whether this file was among them; None if that cannot be told."""
        if (state.st_dev, state.st_ino) in self.files:
            return True
        if not self.is_whole or state.st_uid in self.hidden or state.st_dev in _remote_devices():
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
    """Whether a program is seen to have the file open for writing."""
    try:
        return is_written(path, os.stat(path)) is True
    except OSError:
        return False


def is_at_rest(path: str) -> bool:
    """Whether no program has the file open for writing, and nothing was written to it for a while."""
    try:
        state = os.stat(path)
    except OSError:
        return False
    return time.time_ns() / 1e9 - state.st_mtime >= LATELY_SECONDS and not may_grow(path, state)


def is_ours(path: str) -> bool:
    """Whether the program that has the file open was started by this process."""
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
            # The name of the program, in parentheses, may hold anything.
            return facts.read().rpartition(")")[2].split()[1]
    except (OSError, IndexError):
        return ""


def is_written(path: str, state: os.stat_result) -> bool | None:
    """Whether a program has this file open for writing; None if that cannot be told."""
    if sys.platform != "linux":
        return None
    name = os.path.basename(os.path.realpath(path))
    if name.endswith(_SUFFIX):
        link = _kept[1].files.get((state.st_dev, state.st_ino))
        if link is None:
            return _snapshot(newer_than=state.st_mtime).has(state)
        if _written(link, lambda _: True) == (state.st_dev, state.st_ino):
            return True  # by the same program as before
        return _snapshot(newer_than=math.inf).has(state)
    if name.endswith((f"{_SUFFIX}.zst", f"{_SUFFIX}.gz")):
        return False  # written at one go, when nothing more is to come
    return _look(lambda link: link.endswith(name)).has(state)


def _snapshot(*, newer_than: float) -> Snapshot:
    """What is known of session files: not older than a second, nor than what was last written."""
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
            continue  # it has ended since
    return Snapshot(files, frozenset(hidden), is_whole=bool(processes))


def _processes() -> Iterator[str]:
    try:
        with os.scandir("/proc") as inside:
            yield from (each.path for each in inside if each.name.isdigit())
    except OSError:
        return


def _written(link: str, is_wanted: Callable[[str], bool]) -> tuple[int, int] | None:
    """The file behind an entry of a process, if it is a wanted one that is open for writing."""
    try:
        # Names are compared first: to look at a file itself may take long where it lies on a network.
        if not is_wanted(os.readlink(link).removesuffix(_DELETED)):
            return None
        if not os.lstat(link).st_mode & stat.S_IWUSR:
            return None
        state = os.stat(link)
    except OSError:
        return None  # closed since
    return (state.st_dev, state.st_ino) if stat.S_ISREG(state.st_mode) else None


def _owner(process: str) -> int | None:
    """The user whom a process works for. The owner of its folder is root for one that hides its memory."""
    try:
        with open(f"{process}/status", encoding="utf-8", errors="replace") as facts:
            for line in facts:
                if line.startswith("Uid:"):
                    return int(line.split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return None


def _remote_devices() -> frozenset[int]:
    """The devices whose files other machines may write."""
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
