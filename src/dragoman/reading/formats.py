"""Formats by their names, for callers that check a name long before they write."""

from __future__ import annotations

from dragoman import export
from dragoman.errors import UnknownFormat
from dragoman.export.base import Format


def check_format(name: str) -> Format:
    """The format of this name. Raises :class:`UnknownFormat` with the known ones."""
    found = export.find(name)
    if found is None:
        raise UnknownFormat(name, [known.name for known in export.FORMATS])
    return found
