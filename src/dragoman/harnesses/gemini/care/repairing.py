"""Repair a chat file: keep every whole line, find those that are left on damaged ones, and add a missing header."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from dragoman.harnesses.contract.care import Dropped, RepairAction
from dragoman.harnesses.gemini.care.checking import read_line
from dragoman.wire import jsonl

_NULS: Final = re.compile(rb"\0+")
_BEGINS: Final = re.compile(r'\{"(?:sessionId|\$set|\$rewindTo|id)"\s*:')
_UNKNOWN_PROJECT: Final = "unknown"
_objects: Final = json.JSONDecoder()


class ChatRepairer:
    """One chat file being repaired."""

    def __init__(self, session_id: str | None) -> None:
        self.actions: list[RepairAction] = []
        self.dropped: list[Dropped] = []
        self._session_id = session_id
        self._number = 0
        self._has_begun = False

    def receive_line(self, line: bytes) -> list[bytes]:
        self._number += 1
        if jsonl.is_blank(line):
            return []
        if read_line(line) is not None:
            return self._keep(line.rstrip(b"\r\n"))
        readable = line.decode("utf-8", "replace").encode()
        if readable != line and read_line(readable) is not None:
            self._drop(line)
            self._did("replaced bytes that are not text; the original line was dropped")
            return self._keep(readable.rstrip(b"\r\n"))
        return self._salvage(line)

    def finish(self) -> list[bytes]:
        return []

    def _salvage(self, line: bytes) -> list[bytes]:
        out: list[bytes] = []
        for part in _NULS.split(line.rstrip(b"\r\n")):
            for row, raw in _rows_in(part.strip()):
                if row is None:
                    self.dropped.append(Dropped(self._number, jsonl.diagnose(raw), raw))
                    self._did(f"{len(raw)} unreadable bytes were dropped")
                else:
                    self._did("found a whole line on a damaged one")
                    out += self._keep(row)
        return out

    def _keep(self, line: bytes) -> list[bytes]:
        row = read_line(line)
        is_first, self._has_begun = not self._has_begun, True
        if not is_first or row is None or row.session is not None or self._session_id is None:
            return [line]
        self._did("added the missing header")
        header = {
            "sessionId": self._session_id,
            "projectHash": _UNKNOWN_PROJECT,
            "startTime": "1970-01-01T00:00:00.000Z",
            "lastUpdated": "1970-01-01T00:00:00.000Z",
            "kind": "main",
        }
        return [json.dumps(header, separators=(",", ":")).encode(), line]

    def _drop(self, line: bytes) -> None:
        raw = line.rstrip(b"\r\n")
        self.dropped.append(Dropped(self._number, jsonl.diagnose(raw), raw))

    def _did(self, what: str) -> None:
        self.actions.append(RepairAction(self._number, what))


def _rows_in(part: bytes) -> Iterator[tuple[bytes | None, bytes]]:
    """Yield whole lines and what is between them, in order."""
    text, at = part.decode("utf-8", "replace"), 0
    for found in _BEGINS.finditer(text):
        if found.start() < at:
            continue  # within a line that was found, whose text quotes another one
        try:
            _, end = _objects.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        row = text[found.start() : end].encode()
        if read_line(row) is None:
            continue
        if text[at : found.start()].strip():
            yield None, text[at : found.start()].encode()
        yield row, row
        at = end
    if text[at:].strip():
        yield None, text[at:].encode()
