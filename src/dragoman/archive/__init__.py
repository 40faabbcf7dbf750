"""The office for what has been said: reading, converting, accounting for, keeping and finding it.

``dragoman.archive()`` opens the saved sessions of this user; see :mod:`dragoman.archive.api`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.archive.api import SessionArchive


class _CallablePackage(ModuleType):
    """This room itself, which can be called: a package and a function cannot share a name otherwise."""

    def __call__(self, **options: Any) -> SessionArchive:
        from dragoman.archive.api import archive

        return archive(**options)


sys.modules[__name__].__class__ = _CallablePackage
