"""Saved sessions: find, index, search, open, follow and export them, and count their tokens.

``dragoman.archive()`` opens the saved sessions of this user; see :mod:`dragoman.archive.api`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.archive.api import SessionArchive


class _CallablePackage(ModuleType):
    """Makes this package callable, because ``dragoman.archive`` is both a package and a public function."""

    def __call__(self, **options: Any) -> SessionArchive:
        from dragoman.archive.api import archive

        return archive(**options)


sys.modules[__name__].__class__ = _CallablePackage
