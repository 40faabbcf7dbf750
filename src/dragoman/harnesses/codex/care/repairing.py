"""Repair a rollout: the lines of the old file in, those of a new one out.

Readable rows are kept byte for byte, except for wrong ordinals. Every change is recorded with its
line; what cannot be kept is handed over unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from dragoman.harnesses.codex.care.salvage import salvage
from dragoman.harnesses.codex.home.history import origin_in
from dragoman.harnesses.codex.rollout.rows import (
    RowHead,
    moment,
    payload_of,
    read_row,
    renumbered,
    turn_event,
)
from dragoman.harnesses.codex.values.loose import as_dict, as_int, as_list, as_str
from dragoman.harnesses.codex.versions import PAGINATED, spelled
from dragoman.harnesses.contract.care import Dropped, RepairAction
from dragoman.wire import jsonl

if TYPE_CHECKING:
    from dragoman.harnesses.codex.care.checking import OpenTurn, RolloutChecker


class RolloutRepairer:
    """One rollout that a checker has read to its end."""

    def __init__(self, checked: RolloutChecker, named_id: str | None) -> None:
        self._checked = checked
        self._named_id = named_id
        self._number = 0
        self._rows = 0
        self._before = b""
        self._row: RowHead | None = None
        self._ordinal = 0
        self._renumbered: tuple[int, int, int] | None = None
        self._moved: bytes | None = None
        """The header, which comes again at its old place."""
        self._answers: dict[str, str] = {}
        """The final answers of turns that have no end."""
        self._open: set[str] = set()
        self.actions: list[RepairAction] = []
        self.dropped: list[Dropped] = []

    def receive_line(self, line: bytes) -> list[bytes]:
        self._number += 1
        if jsonl.is_blank(line):
            return []
        out: list[bytes] = []
        for turn in self._checked.open_turns.values():
            if turn.ends_before == self._number:
                out += self._end(turn)
        if read_row(line) is not None:
            return out + self._keep(line.rstrip(b"\r\n"))
        if (readable := line.decode("utf-8", "replace").encode()) != line and read_row(readable):
            self.dropped.append(Dropped(self._number, jsonl.diagnose(line), line.rstrip(b"\r\n")))
            self._did("replaced bytes that are not text; the original row was dropped")
            return out + self._keep(readable.rstrip(b"\r\n"))
        for piece in salvage(line):
            if piece.row is None or piece.is_completed:
                self.dropped.append(Dropped(self._number, jsonl.diagnose(line), piece.raw))
            if piece.row is None:
                self._did(f"{len(piece.raw)} unreadable bytes were dropped")
                continue
            if piece.is_completed:
                self._did("closed the torn row where it was cut off; the rest of it is missing")
            else:
                self._did("found a whole row on a damaged line")
            out += self._keep(piece.row)
        return out

    def finish(self) -> list[bytes]:
        out: list[bytes] = []
        self._number += 1
        for turn in self._checked.open_turns.values():
            if turn.ends_before is None:
                out += self._end(turn)
        if self._renumbered is not None:
            first, last, count = self._renumbered
            rows = f"{count} row{'s' if count > 1 else ''}"
            self.actions.append(
                RepairAction(first, f"corrected the ordinals of {rows}, up to line {last}")
            )
        return out

    def _did(self, what: str) -> None:
        self.actions.append(RepairAction(self._number, what))

    def _keep(self, line: bytes) -> list[bytes]:
        row = read_row(line)
        assert row is not None
        if line == self._before and self._checked.is_paginated:
            self.dropped.append(Dropped(self._number, "the same row as the line before", line))
            self._did("dropped a repeated row")
            return []
        self._before, self._row = line, row
        self._rows += 1
        out: list[bytes] = []
        if self._rows == 1:
            begins_at = self._checked.begins_at
            self._ordinal = begins_at if begins_at is not None else as_int(row.ordinal) or 0
            if self._checked.is_rollout and not row.is_header:
                out += self._header(row)
        elif line == self._moved:
            self._moved = None
            return []
        self._watch(line, row)
        return [*out, self._numbered(line, row)]

    def _numbered(self, line: bytes, row: RowHead) -> bytes:
        if not self._checked.is_paginated:
            return line
        ordinal, self._ordinal = self._ordinal, self._ordinal + 1
        if row.ordinal == ordinal:
            return line
        first, _, count = self._renumbered or (self._number, 0, 0)
        self._renumbered = (first, self._number, count + 1)
        return renumbered(line, ordinal)

    def _watch(self, line: bytes, row: RowHead) -> None:
        """Remember the last answer of turns that will need an end."""
        event = turn_event(line, row)
        if event is not None and as_str(event.get("turn_id")) in self._checked.open_turns:
            self._open = {str(event["turn_id"])}
        if not self._open or b'"final_answer"' not in line:
            return
        payload = payload_of(row)
        said = as_dict(payload.get("item")) or payload
        texts = [as_str(as_dict(part).get("text")) or "" for part in as_list(said.get("content"))]
        if said.get("phase") == "final_answer" and any(texts):
            self._answers |= dict.fromkeys(self._open, "".join(texts))

    def _end(self, turn: OpenTurn) -> list[bytes]:
        """Return the row that ends a turn, as the release that started it would write it."""
        started, answer = turn.started, self._answers.get(turn.turn_id)
        payload: dict[str, Any] = {"type": "task_complete" if answer else "turn_aborted"}
        if "turn_attribution" in started:
            payload["root_turn_id"] = started.get("root_turn_id", turn.turn_id)
        payload["turn_id"] = turn.turn_id
        payload |= {"last_agent_message": answer} if answer else {"reason": "interrupted"}
        now = moment(self._row) if self._row else None
        began = as_int(started.get("started_at"))
        if began is not None and now is not None:
            if self._checked.is_paginated:
                payload["started_at"] = began
            payload["completed_at"] = int(now.timestamp())
            payload["duration_ms"] = max(0, int((now.timestamp() - began) * 1000))
        row: dict[str, Any] = {"timestamp": self._row.timestamp if self._row else None}
        if self._checked.is_paginated:
            row["ordinal"], self._ordinal = self._ordinal, self._ordinal + 1
        row |= {"type": "event_msg", "payload": payload}
        word = "as completed, with its final answer" if answer else "as interrupted"
        self._did(f"ended turn {turn.turn_id} {word}")
        return [msgspec.json.encode(row)]

    def _late_header(self) -> tuple[bytes, int] | None:
        """Return the session's own header and its ordinal; a fork's file also has its parent's."""
        late = self._checked.late_header
        own = origin_in(late) if late is not None else None
        if late is None or own is None or self._named_id not in (None, own.session_id):
            return None
        return late, own.base.end_ordinal or 0 if own.base else 0

    def _header(self, row: RowHead) -> list[bytes]:
        """Return the header found elsewhere in the file, or a new one made from the rows."""
        if (found := self._late_header()) is not None:
            late, begins_at = found
            self._moved, self._ordinal = late, begins_at + 1
            self._did("moved the session's header before the first row")
            return [renumbered(late, begins_at) if self._checked.is_paginated else late]
        if self._named_id is None:
            self._did(
                "the header is missing, and the file's name does not contain the session's id"
            )
            return []
        payload = {
            "id": self._named_id,
            "timestamp": row.timestamp,
            "cwd": "/",
            "originator": "dragoman",
            "cli_version": spelled(PAGINATED if self._checked.is_paginated else (0, 100, 0)),
            "source": "cli",
            **self._checked.known,
        }
        header: dict[str, Any] = {"timestamp": row.timestamp}
        if self._checked.is_paginated:
            payload["history_mode"] = "paginated"
            header["ordinal"], self._ordinal = 0, 1
        self._did("wrote a new header; the release in it is a guess")
        return [msgspec.json.encode({**header, "type": "session_meta", "payload": payload})]
