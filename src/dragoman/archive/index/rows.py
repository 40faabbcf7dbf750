"""Where the reading of a file begins: what is written down of a new one, and where an old one is taken up."""

from __future__ import annotations

from contextlib import suppress
from io import BufferedReader

import msgspec

from dragoman.archive.finding import FoundFile
from dragoman.harnesses.contract.reading import Mark
from dragoman.reading.file_lines import is_plain, other_lines, plain_lines
from dragoman.reading.parsers import FileReader, history_of, origin_of
from dragoman.store.entries import Entries
from dragoman.store.files import FileRow, Files


def begin(
    files: Files, found: FoundFile, file: BufferedReader
) -> tuple[FileRow, FileReader | None]:
    """Put a file in that is new; no reader if it is of no known dialect."""
    plain = is_plain(file)
    lines = plain_lines(file, 0) if plain else other_lines(file)
    opening = next(lines, None)
    first = [line for line in opening.lines if isinstance(line, bytes)] if opening else []
    reader = FileReader.sniffed(first)
    origin = origin_of(reader.harness, first)
    base = origin.base if origin else None
    row = FileRow(
        file_id=0,
        path=found.path,
        harness=reader.harness,
        dialect=reader.dialect,
        archived=found.archived,
        compressed=not plain,
        device=found.device,
        inode=found.inode,
        size=found.size,
        mtime_ns=found.mtime_ns,
        complete=reader.dialect is None,
        offset=0,
        lines=0,
        head=b"",
        tail=b"",
        mark_line=None,
        mark_offset=None,
        mark_state=None,
        mark_count=None,
        digest=None,
        session_id=origin.session_id if origin else _id_of(reader, found),
        origin=origin.kind if origin else None,
        base_session_id=base.session_id if base else None,
        base_offset=base.end_offset if base else None,
        base_ordinal=base.end_ordinal if base else None,
        problem=None if reader.dialect else "no known dialect",
    )
    row = row._replace(file_id=files.add(row))
    return row, reader if reader.dialect else None


def _id_of(reader: FileReader, found: FoundFile) -> str | None:
    history = history_of(reader.harness)
    return history.session_id_in(found.path.rpartition("/")[2]) if history else None


def go_on(entries: Entries, found: FoundFile, row: FileRow) -> tuple[FileRow, FileReader]:
    """Take up a file that has been read before, at its newest mark."""
    entries.take_back_drafts(row.file_id)
    row = row._replace(
        path=found.path,
        archived=found.archived,
        device=found.device,
        inode=found.inode,
        size=found.size,
        mtime_ns=found.mtime_ns,
        complete=False,
        # Until all of it is read, and it can be told again by these, we go by its inode.
        head=b"",
        tail=b"",
    )
    if row.mark_line is not None and row.mark_state is not None and not row.compressed:
        # A mark that another version of this program made may mean nothing to us.
        with suppress(msgspec.MsgspecError, TypeError):
            return row, FileReader.resumed(row.dialect, Mark(row.mark_line, row.mark_state))
    row = row._replace(
        mark_line=None, mark_offset=None, mark_state=None, mark_count=None, digest=None
    )
    return row, FileReader.of(row.dialect)
