"""Start reading a file: create the row of a new one, or resume a known one at its mark."""

from __future__ import annotations

from contextlib import suppress
from io import BufferedReader

import msgspec

from dragoman.archive.finding import FoundFile
from dragoman.harnesses.contract.reading import Mark
from dragoman.reading.file_lines import other_lines, plain_lines
from dragoman.reading.identity import identify
from dragoman.reading.parsers import FileReader
from dragoman.reading.sources import is_plain
from dragoman.store.entries import Entries
from dragoman.store.files import FileRow, Files


def begin(
    files: Files, found: FoundFile, file: BufferedReader
) -> tuple[FileRow, FileReader | None]:
    """Insert a new file. Without a known dialect, there is no reader."""
    plain = is_plain(file)
    lines = plain_lines(file, 0) if plain else other_lines(file)
    opening = next(lines, None)
    first = [line for line in opening.lines if isinstance(line, bytes)] if opening else []
    reader = FileReader.sniffed(first)
    origin = identify(reader.harness, found.path, first)
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
        session_id=origin.session_id if origin else None,
        origin=origin.kind if origin else None,
        base_session_id=base.session_id if base else None,
        base_offset=base.end_offset if base else None,
        base_ordinal=base.end_ordinal if base else None,
        problem=None if reader.dialect else "no known dialect",
    )
    row = row._replace(file_id=files.add(row))
    return row, reader if reader.dialect else None


def go_on(entries: Entries, found: FoundFile, row: FileRow) -> tuple[FileRow, FileReader]:
    """Resume a file that was read before, at its newest mark."""
    entries.take_back_drafts(row.file_id)
    row = row._replace(
        path=found.path,
        archived=found.archived,
        device=found.device,
        inode=found.inode,
        size=found.size,
        mtime_ns=found.mtime_ns,
        complete=False,
        # The fingerprints are only valid once the file is read completely. Until then it is
        # identified by its inode.
        head=b"",
        tail=b"",
    )
    if row.mark_line is not None and row.mark_state is not None and not row.compressed:
        # A mark from another version of this program may be invalid.
        with suppress(msgspec.MsgspecError, TypeError):
            return row, FileReader.resumed(row.dialect, Mark(row.mark_line, row.mark_state))
    row = row._replace(
        mark_line=None, mark_offset=None, mark_state=None, mark_count=None, digest=None
    )
    return row, FileReader.of(row.dialect)
