"""Match paths against globs as text. No file is accessed.

``*`` and ``?`` stay within one directory, ``**`` crosses any number of them, ``src/`` means ``src/**``.
A glob without a leading ``/`` is relative to the session's directory. :func:`meets_anywhere`, for deny rules,
also matches it below any other directory.

A path may contain :data:`ANY` where its text is unknown; then the question is whether it could match.
Matching reads the path once, so its time is linear in the path's length, whatever the glob.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import Final

ANY: Final = "\ue000"
"""Stands for any text, or none."""
HERE: Final = "\ue002"
"""After :data:`ANY` at the beginning: a name that the shell fills in for ``*``, so the path is relative."""
_GLOB: Final = re.compile(r"\*|\?|\[[^\]/]*\]?")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_LONGEST: Final = 4_096
"""No operating system opens a longer path."""
_ONE, _SOME, _ALL, _FOLDERS, _IN_FOLDER = range(5)


def unknown_names(word: str) -> str:
    """The word with unknown text where the shell fills in names of files."""
    found = _GLOB.sub(ANY, word)
    return (
        f"{ANY}{HERE}{found[1:]}" if found.startswith(ANY) and not word.startswith(ANY) else found
    )


def absolute(path: str, cwd: str | None) -> str | None:
    """The absolute path without ``.`` and ``..``; None if it cannot be determined."""
    if not path or "\0" in path or path.startswith("~"):
        return None
    windows = _DRIVE.match(path) or (cwd and _DRIVE.match(cwd))
    if windows:
        path, cwd = path.replace("\\", "/"), cwd.replace("\\", "/") if cwd else None
    elif "\\" in path:
        return None  # a file name on one system, a path on another
    if not path.startswith("/") and not _DRIVE.match(path):
        if not cwd:
            return None
        path = posixpath.join(cwd, path)
    # POSIX leaves the meaning of two leading slashes open, and normpath keeps them.
    return re.sub(r"^//", "/", posixpath.normpath(path))


def relative(path: str, cwd: str | None) -> str | None:
    """An absolute path relative to ``cwd``; None if it lies outside."""
    root = absolute(cwd, None) if cwd else None
    if root is None:
        return None
    inside = path.removeprefix(root.rstrip("/") + "/")
    return None if inside == path else inside


def matches(path: str, glob: str, cwd: str | None, *, any_case: bool = False) -> bool:
    """Whether an absolute path, as returned by :func:`absolute`, matches the glob."""
    rooted = glob.startswith("/") or _DRIVE.match(glob)
    seen = path if rooted else relative(path, cwd)
    if ANY in path:
        return False
    return seen is not None and fits(seen, glob, any_case=any_case)


def in_repository(path: str) -> bool:
    """Whether it lies in ``.git``, whose files say what git runs."""
    return ".git" in path.casefold().replace("\\", "/").split("/")


def covers_directory(path: str, glob: str, cwd: str | None) -> bool:
    """Whether a directory matches: ``.`` is the session's directory, ``sub/**`` is ``sub`` and all below it."""
    root = absolute(cwd, None) if cwd else None
    top = "." if glob == "**" else re.sub(r"/(?:\*\*)?$", "", glob) or "/"
    if root is not None and absolute(top, root) == path:
        return True
    return matches(path, glob, cwd)


def meets_anywhere(path: str, glob: str, cwd: str | None) -> bool:
    """Whether a path could match the glob, in any directory and ignoring case.

    ``secrets/**`` also matches ``/other/secrets/x``, and the directory ``secrets`` itself.
    """
    if len(path) > _LONGEST:
        return _meets_anywhere(path, glob, cwd)
    return _remembered(path, glob, cwd)


def _meets_anywhere(path: str, glob: str, cwd: str | None) -> bool:
    # What a variable stands for may begin with a slash.
    is_unknown = path.startswith(ANY) and not path.startswith(f"{ANY}{HERE}")
    seen = None if is_unknown else absolute(path, cwd)
    seen = seen or path.replace("\\", "/")
    globs = [glob, glob.removesuffix("/**")] if glob.endswith("/**") and glob != "/**" else [glob]
    for each in globs:
        rooted = absolute(each, cwd)
        if rooted is not None and fits(seen, rooted, any_case=True):
            return True
        if not each.startswith("/") and not _DRIVE.match(each):
            below = each.removeprefix("./").removeprefix("**/")
            if fits(seen.lstrip("/"), f"**/{below}", any_case=True):
                return True
    return False


_remembered: Final = lru_cache(maxsize=4096)(_meets_anywhere)
"""The possible readings of one command line name the same paths again and again."""


def fits(path: str, glob: str, *, any_case: bool = False) -> bool:
    """Whether the whole path matches, or could match, the glob."""
    if len(path) > _LONGEST:
        return False
    machine = _machine(glob.casefold() if any_case else glob)
    places = machine.closed(1)
    for char in path.casefold() if any_case else path:
        if char == HERE:
            continue
        if char == ANY:
            # Unknown text leads from any state to every later one.
            lowest = places & -places
            places = (machine.end << 1) - (lowest >> 1 if lowest & machine.in_folder else lowest)
        else:
            places = machine.after(char, places)
        if not places:
            return False
    return bool(places & machine.end)


class _Machine:
    """A glob as a state machine. The states are the bits of a number, so one step moves all of them."""

    def __init__(self, tokens: list[str | int]) -> None:
        self.end = 1 << len(tokens)
        self._letters: dict[str, int] = {}
        masks = [0] * 5
        for place, token in enumerate(tokens):
            if isinstance(token, int):
                masks[token] |= 1 << place
            else:
                self._letters[token] = self._letters.get(token, 0) | 1 << place
        self._all, self.in_folder, self._folders = masks[_ALL], masks[_IN_FOLDER], masks[_FOLDERS]
        self._stars = masks[_SOME] | masks[_ALL]
        self._stay = masks[_SOME] | masks[_ALL] | masks[_IN_FOLDER]
        self._step = masks[_ONE] | masks[_FOLDERS]

    def after(self, char: str, places: int) -> int:
        step = self._letters.get(char, 0)
        if char == "/":
            stay = places & self._all | (places & self.in_folder) >> 1
        else:
            stay = places & self._stay
            step |= self._step
        return self.closed(stay | (places & step) << 1)

    def closed(self, places: int) -> int:
        """Add the states that are reached without reading text."""
        while True:
            more = places | (places & self._stars) << 1 | (places & self._folders) << 2
            if more == places:
                return places
            places = more


@lru_cache(maxsize=1024)
def _machine(glob: str) -> _Machine:
    glob = glob.replace("\\", "/") if _DRIVE.match(glob) else glob
    glob = glob.removeprefix("./")
    glob = f"{glob}**" if glob.endswith("/") else glob
    tokens: list[str | int] = []
    at = 0
    while at < len(glob):
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            tokens += (_FOLDERS, _IN_FOLDER)  # before a folder's name, and within it
            at += 3
        elif glob.startswith("**", at):
            tokens.append(_ALL)
            at += 2
        elif glob[at] in "*?":
            tokens.append(_SOME if glob[at] == "*" else _ONE)
            at += 1
        else:
            tokens.append(glob[at])
            at += 1
    return _Machine(tokens)
