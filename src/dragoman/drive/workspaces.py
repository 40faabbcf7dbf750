"""Checking the directory that an agent is to work in, before anything is started."""

from __future__ import annotations

import os

from dragoman.errors import InvalidWorkspace


def check_workspace(cwd: str | os.PathLike[str]) -> str:
    """The directory as text. Raises :class:`InvalidWorkspace` unless it is absolute and there."""
    path = os.fspath(cwd)
    if not path:
        raise InvalidWorkspace("no directory was given to work in")
    if not os.path.isabs(path):
        raise InvalidWorkspace(f"the directory to work in must be absolute, not {path!r}")
    if not os.path.isdir(path):
        what = "is not a directory" if os.path.exists(path) else "does not exist"
        raise InvalidWorkspace(f"cannot work in {path}: it {what}")
    return path


def take_workspace(cwd: str | os.PathLike[str]) -> str:
    """The directory as text, unseen: it is on another machine."""
    return os.fspath(cwd)
