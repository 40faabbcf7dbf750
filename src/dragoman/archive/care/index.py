"""Check whether the index matches a file.

The index is a cache and lags behind whatever was written since the last command; that is merely
odd. A changed file that it considers unchanged would never be read again; that is broken.
"""

from __future__ import annotations

import os

from dragoman.archive.care.checking import FileReport, IndexMismatch
from dragoman.archive.finding import absolute
from dragoman.archive.index import fingerprints
from dragoman.reading.regular import open_regular
from dragoman.store.files import FileRow, Files

_LATER = "nothing; the next command reads it"


class IndexCheck:
    """Compares files that were read on their own with the index."""

    def __init__(self, files: Files, index_folder: str, folders: list[str]) -> None:
        """``folders`` are those that the index covers."""
        self._files = files
        self._rebuild = f"delete {index_folder}; it will be rebuilt"
        self._is_made = bool(files.states())
        self._below = tuple(os.path.join(folder, "") for folder in folders)

    def __call__(self, report: FileReport) -> IndexMismatch | None:
        """Return how the index differs from this file, or None."""
        path = absolute(report.path)
        row = self._files.at(path) if self._is_made else None
        if row is None:
            is_missing = self._is_made and path.startswith(self._below)
            return IndexMismatch("it is not in the index yet", _LATER) if is_missing else None
        try:
            stat = os.stat(path)
            if (row.size, row.mtime_ns) != (stat.st_size, stat.st_mtime_ns):
                return IndexMismatch("it was modified since it was indexed", _LATER)
            if not row.complete:
                return IndexMismatch("it was not indexed to its end", _LATER)
            is_same = _is_same(row)
        except OSError:
            return None  # an unreadable file is reported elsewhere
        if is_same:
            return None
        what = "the index has different rows for it, although size and time are the same"
        return IndexMismatch(what, self._rebuild, is_broken=True)


def _is_same(row: FileRow) -> bool:
    if row.compressed or row.dialect is None or not row.head:
        return True
    with open_regular(row.path) as file:
        return fingerprints.is_same(file.raw, row.offset, head_was=row.head, tail_was=row.tail)
