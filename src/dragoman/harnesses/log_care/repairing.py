"""Repair a log: keep every whole line, find those that are left on damaged ones, and add a missing header."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from dragoman.harnesses.contract.care import Dropped, RepairAction
from dragoman.harnesses.log_care.form import LogForm, read_object
from dragoman.wire import jsonl

_NULS: Final = re.compile(rb"\0+")
_objects: Final = json.JSONDecoder()


class LogRepairer:
    """One file being repaired."""

    def __init__(self, form: LogForm, session_id: str | None) -> None:
        self._form = form
        self.actions: list[RepairAction] = []
        self.dropped: list[Dropped] = []
        self._session_id = session_id
        self._number = 0
        self._has_begun = False

    def receive_line(self, line: bytes) -> list[bytes]:
        self._number += 1
        if jsonl.is_blank(line):
            return []
        if read_object(line) is not None:
            return self._keep(line.rstrip(b"\r\n"))
        readable = line.decode("utf-8", "replace").encode()
        if readable != line and read_object(readable) is not None:
            self._drop(line)
            self._did("replaced bytes that are not text; the original line was dropped")
            return self._keep(readable.rstrip(b"\r\n"))
        return self._salvage(line)

    def finish(self) -> list[bytes]:
        return []

    def _salvage(self, line: bytes) -> list[bytes]:
        out: list[bytes] = []
        for part in _NULS.split(line.rstrip(b"\r\n")):
            for row, raw in _rows_in(part.strip(), self._form.begins):
                if row is None:
                    self.dropped.append(Dropped(self._number, jsonl.diagnose(raw), raw))
                    self._did(f"{len(raw)} unreadable bytes were dropped")
                else:
                    self._did("found a whole line on a damaged one")
                    out += self._keep(row)
        return out

    def _keep(self, line: bytes) -> list[bytes]:
        row = read_object(line)
        is_first, self._has_begun = not self._has_begun, True
        if (
            not is_first
            or row is None
            or self._form.session_in(row) is not None
            or self._session_id is None
        ):
            return [line]
        self._did("added the missing header")
        header = self._form.header(self._session_id)
        return [json.dumps(header, separators=(",", ":")).encode(), line]

    def _drop(self, line: bytes) -> None:
        raw = line.rstrip(b"\r\n")
        self.dropped.append(Dropped(self._number, jsonl.diagnose(raw), raw))

    def _did(self, what: str) -> None:
        self.actions.append(RepairAction(self._number, what))


def _rows_in(part: bytes, begins: re.Pattern[str]) -> Iterator[tuple[bytes | None, bytes]]:
    """Yield whole lines and what is between them, in order."""
    text, at = part.decode("utf-8", "replace"), 0
    for found in begins.finditer(text):
        if found.start() < at:
            continue  # within a line that was found, whose text quotes another one
        try:
            _, end = _objects.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        row = text[found.start() : end].encode()
        if read_object(row) is None:
            continue
        if text[at : found.start()].strip():
            yield None, text[at : found.start()].encode()
        yield row, row
        at = end
    if text[at:].strip():
        yield None, text[at:].encode()
