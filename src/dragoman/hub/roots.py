"""The directories that agents may work in: a path is inside of them once all its links are followed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from dragoman.hub.shapes import Forbidden


def real_paths(roots: Iterable[str | os.PathLike[str]]) -> list[Path]:
    return [Path(os.path.realpath(root)) for root in roots]


def inside(path: str | os.PathLike[str], roots: Iterable[Path]) -> str:
    """The path with all links followed. Raises :class:`Forbidden` outside of the roots."""
    try:
        real = Path(os.path.realpath(path))
    except ValueError as problem:  # a path that no system could have, with a NUL in it
        raise Forbidden(os.fspath(path)) from problem
    if not any(real.is_relative_to(root) for root in roots):
        raise Forbidden(os.fspath(path))
    return str(real)
