"""Paths that an agent wants to change, held against globs. By their letters: no file is looked at.

``*`` and ``?`` stay within one directory, ``**`` crosses any number of them, ``src/`` means ``src/**``.
A glob without a leading ``/`` counts from the directory that the session works in.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import Final

_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")


def absolute(path: str, cwd: str | None) -> str | None:
    """The path from the root, without ``.`` and ``..``; None where that cannot be told."""
    if not path or "\0" in path or path.startswith("~"):
        return None
    windows = _DRIVE.match(path) or (cwd and _DRIVE.match(cwd))
    if windows:
        path, cwd = path.replace("\\", "/"), cwd.replace("\\", "/") if cwd else None
    elif "\\" in path:
        return None  # a name on one system, a path on another
    if not path.startswith("/") and not _DRIVE.match(path):
        if not cwd:
            return None
        path = posixpath.join(cwd, path)
    # POSIX leaves the meaning of two leading slashes open, and normpath keeps them.
    return re.sub(r"^//", "/", posixpath.normpath(path))


def relative(path: str, cwd: str | None) -> str | None:
    """An absolute path as seen from ``cwd``; None if it lies outside."""
    root = absolute(cwd, None) if cwd else None
    if root is None:
        return None
    inside = path.removeprefix(root.rstrip("/") + "/")
    return None if inside == path else inside


def matches(path: str, glob: str, cwd: str | None, *, any_case: bool = False) -> bool:
    """Whether an absolute path, as :func:`absolute` gives it, is one of those that the glob means."""
    rooted = glob.startswith("/") or _DRIVE.match(glob)
    seen = path if rooted else relative(path, cwd)
    return seen is not None and bool(_pattern(glob, any_case).fullmatch(seen))


@lru_cache(maxsize=1024)
def _pattern(glob: str, any_case: bool) -> re.Pattern[str]:
    glob = glob.replace("\\", "/") if _DRIVE.match(glob) else glob
    glob = glob.removeprefix("./")
    pieces: list[str] = []
    at = 0
    glob = f"{glob}**" if glob.endswith("/") else glob
    while at < len(glob):
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            pieces.append("(?:[^/]+/)*")
            at += 3
        elif glob.startswith("**", at):
            pieces.append(".*")
            at += 2
        elif glob[at] == "*":
            pieces.append("[^/]*")
            at += 1
        elif glob[at] == "?":
            pieces.append("[^/]")
            at += 1
        else:
            pieces.append(re.escape(glob[at]))
            at += 1
    return re.compile("".join(pieces), re.DOTALL | (re.IGNORECASE if any_case else 0))
