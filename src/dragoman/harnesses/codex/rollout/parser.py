"""Reading rollouts: the files in ``$CODEX_HOME/sessions``, of every release.

Three generations, which one file may mix: *flat* (to 0.29: a header, bare response items, state
records), *legacy* (``{"timestamp", "type", "payload"}``, with events beside response items) and
*paginated* (the same with ``ordinal``, and items instead of most events). What is written twice is emitted
once; see ``NOTES.md`` for the rules and where they were measured.

The messages of a session's first rows are held until the row that names the model, so that
``session_started`` can include it; but not longer than until the agent's first output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.events.dispatch import TELL as _TELL_EVENT
from dragoman.harnesses.codex.events.dispatch import Events
from dragoman.harnesses.codex.responses import shapes
from dragoman.harnesses.codex.responses.items import TELL as _TELL_ITEM
from dragoman.harnesses.codex.responses.items import ResponseItems
from dragoman.harnesses.codex.rollout import shapes as rows
from dragoman.harnesses.codex.rollout.copies import CopiedRows
from dragoman.harnesses.codex.rollout.decoding import PREAMBLE_ROWS, decode_row
from dragoman.harnesses.codex.rollout.depth import may_be_deep
from dragoman.harnesses.codex.rollout.peek import Glance, without_secret
from dragoman.harnesses.codex.rollout.prefilter import Skipper
from dragoman.harnesses.codex.stream import StreamParser, native_type
from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.harnesses.codex.values.moments import as_time, in_utc
from dragoman.harnesses.codex.versions import PAGINATED, PATCH_EVENTS, parse_version
from dragoman.harnesses.contract.reading import Ending
from dragoman.model.messages import Message, SessionStarted
from dragoman.wire.jsonl import DEEPEST, UNREADABLE, is_too_deep

_LONG: Final = 1200
"""How long a row must be before checking what could be left out is worth it."""

_NO_HEADS: Final[frozenset[bytes]] = frozenset()


class RolloutParser(StreamParser):
    """One rollout, row by row."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self._session = SessionAssembler(self._out, "codex")
        self._session.says_ends = False
        self._responses = ResponseItems(self._out, self._session, alone=False)
        self._events = Events(self._out, self._session, self._responses)
        self._events.announces = True
        self._events.wants_limits = only is None or "rate_limits" in only
        self._skipper = Skipper.for_types(only)
        self._decode: Callable[[bytes], Any] = decode_row
        self._glance: Glance | None = None
        self._own_id: str | None = None
        self._header_line: int = 0
        self._copies: CopiedRows | None = None
        self._decode_own = self._decode
        self._preamble_ends = 0
        """The last line that may still belong to the preamble; 0 when there is none."""

    def know(self, *, own_id: str | None, line: int, paginated: bool, others_count: bool) -> None:
        """Begin in the middle of a file, after this line."""
        self._out.line = line
        self._own_id = own_id
        self._set_age(paginated=paginated)
        if others_count:
            self._others_count()

    def receive_line(self, line: bytes) -> None:
        self.receive_lines((line,))

    def receive_lines(self, lines: Iterable[bytes]) -> None:
        # Nearly all the time of reading a long session goes by here: what a row needs is done
        # without a further call, and looked up outside of the loop, where it can be.
        out, turns, responses, events = (
            self._out,
            self._session.turns,
            self._responses,
            self._events,
        )
        decode, is_spent = self._decode, self._is_spent()
        # With ``only``, most rows have a known head where the previous one had it.
        heads, place, skipper = self._heads()
        kept = skipper.kept if skipper is not None else _NO_HEADS
        for out.line, line in enumerate(lines, out.line + 1):  # noqa: B020  its attribute, not itself
            if (
                is_spent is not None
                and turns.open_turn is not None  # or this row begins one
                and responses.held_text is None  # or this row decides how that one is emitted
                and not responses.announced
            ):
                if heads and line[place] in heads:
                    continue
                if not (kept and line[place] in kept) and is_spent(line):
                    if skipper is not None:
                        place = skipper.place
                    continue
            try:
                row = decode(line if len(line) < _LONG else without_secret(line))
                if len(line) > 2 * DEEPEST and may_be_deep(row) and is_too_deep(line):
                    raise RecursionError
                kind = row.__class__
                if kind is _ITEM_ROW or kind is _RAW_ITEM_ROW:
                    out.at = row.timestamp
                    if responses.held_text is not None:
                        responses.settle()
                    item = row.payload
                    _TELL_ITEM[item.__class__](responses, item)
                elif kind is _EVENT_ROW:
                    out.at = row.timestamp
                    event = row.payload
                    if responses.held_text is not None:
                        events.settle_before(event)
                    responses.others_speak = True
                    if _TELL_EVENT[event.__class__](events, event) is False:
                        self._unknown(line, "event_msg")
                elif kind is _USAGE_ROW and is_spent is not None and events.others_count:
                    self._token_usage(row)  # only the first of them changes what is skipped
                else:
                    _TELL[kind](self, row)
                    decode, is_spent = self._decode, self._is_spent()
                    heads, place, skipper = self._heads()
            except UNREADABLE:
                self._keep(line)
                decode, is_spent = self._decode, self._is_spent()
                heads, place, skipper = self._heads()

    def _is_spent(self) -> Callable[[bytes], bool] | None:
        """Recognizes, by their beginning, the rows that need not be decoded; none among rows that were copied or migrated."""
        if self._session.is_copying or self._events.is_migrated:
            return None
        if self._skipper is not None:
            return self._skipper.can_skip_this
        return self._glance.is_duplicate if self._glance is not None else None

    def _heads(self) -> tuple[frozenset[bytes], slice, Skipper | None]:
        skipper = self._skipper
        if skipper is None:
            return _NO_HEADS, slice(0, 0), None
        return skipper.heads, skipper.place, skipper

    def _say_held(self) -> None:
        self._preamble_ends = 0
        self._responses.release_all()

    def _finish(self, ending: Ending) -> None:
        self._say_held()
        self._session.leave(may_go_on=ending == "left")

    def _speaker(self) -> SessionAssembler:
        return self._session

    def messages(self) -> list[Message]:
        return [] if self._is_preamble() else self._out.take_messages()

    def _is_preamble(self) -> bool:
        """Whether the row that names the model may still come."""
        if self._out.line >= self._preamble_ends or self._session.agent_spoke:
            self._preamble_ends = 0
        return self._preamble_ends > 0

    # Rows that are neither response items nor events.

    def _session_meta(self, row: rows.SessionMetaRow) -> None:
        self._out.at = row.timestamp
        meta, session = row.payload, self._session
        if self._own_id is not None and meta.id != self._own_id:
            if session.is_copying or self._out.line == self._header_line + 1:
                self._header_line = self._out.line
                session.duplicate("session: the header of the one that this was copied from")
                self._is_copy_of(meta.id)
                return
            # Two files were concatenated.
            self._responses.end_turn()
            session.leave()
            session.forget_facts()
            self._copies = None
        session.session_id = self._own_id = meta.id
        self._header_line = self._out.line
        version = parse_version(meta.cli_version) or (0, 0, 0)
        paginated = meta.history_mode == "paginated"
        self._responses.patches_follow = paginated or version >= PATCH_EVENTS
        self._responses.commands_follow = paginated and version >= PAGINATED
        self._set_age(paginated=paginated)
        if not session.has_facts:
            self._preamble_ends = self._out.line + PREAMBLE_ROWS
        session.begin_session(version=meta.cli_version, cwd=meta.cwd, parent_session_id=meta.parent)

    def _set_age(self, *, paginated: bool) -> None:
        self._decode = _decode_paginated if paginated else decode_row
        self._glance = Glance(self._session) if paginated else None

    def _is_copy_of(self, session_id: str) -> None:
        """Rows copied from another session follow: watch for the first that is our own."""
        if self._copies is None:
            self._copies = CopiedRows(self._own_id or "")
            if self._session.know_facts(parent_session_id=session_id):
                self._complete_start(parent_session_id=session_id)
            self._decode_own = self._decode
            self._decode = self._decode_watching
        self._copies.add(session_id)
        self._session.session_id = session_id
        self._session.is_copying = True

    def _decode_watching(self, line: bytes) -> Any:
        row = self._decode_own(line)
        owner = self._copies.owner(row) if self._copies is not None else None
        if owner is not None and owner != self._session.session_id:
            if self._session.in_turn:
                self._responses.end_turn()
                self._session.leave()
            self._session.session_id = owner
            if owner == self._own_id:
                self._session.is_copying = False
                self._decode = self._decode_own
        return row

    def _turn_context(self, row: rows.TurnContextRow) -> None:
        self._out.at = row.timestamp
        model, cwd = row.payload.model, row.payload.cwd
        if self._is_preamble():
            self._preamble_ends = 0
            self._complete_start(model=model)
            self._session.know_facts(model=model)
            self._session.duplicate("session: its first row carries it")
        else:
            self._session.begin_session(model=model, cwd=cwd)

    def _complete_start(self, **facts: str | None) -> None:
        """Complete the ``session_started`` that is still held."""
        messages = self._out.messages
        for index, message in enumerate(messages):
            if isinstance(message, SessionStarted):
                messages[index] = msgspec.structs.replace(message, **facts)
                return

    def _compacted(self, row: rows.CompactedRow) -> None:
        self._out.at = row.timestamp
        self._responses.settle(summary=row.payload.message or "")
        self._session.compacted("row", row.payload.message)

    def _token_usage(self, row: rows.TokenUsageRow) -> None:
        self._out.at = row.timestamp
        if not self._events.others_count:
            self._others_count()
        record = row.payload
        if record.usage is None:
            self._session.duplicate("usage: nothing counted")
        else:
            self._session.usage_record(
                record.thread_token_usage, record.usage, response_id=record.response_id
            )

    def _others_count(self) -> None:
        """Tokens are reported by rows of their own: token counts only repeat them."""
        self._events.others_count = True
        if self._glance is not None:
            self._glance.counts_are_duplicates = True
        if self._skipper is not None and self._skipper.only_usage:
            self._skipper.skip_token_counts()

    def _handed_off(self, row: rows.HandoffRow) -> None:
        self._out.at = row.timestamp
        self._responses.end_turn()
        self._session.leave()
        self._session.notice(
            "row", "info", f"handed off from {row.payload.harness} session {row.payload.session_id}"
        )

    def _retained_context(self, row: rows.RetainedContextRow) -> None:
        self._out.at = row.timestamp
        self._session.context("harness", bytes(row.payload).decode(errors="replace"))

    def _duplicate_row(self, row: rows.Row) -> None:
        self._out.at = row.timestamp
        self._session.duplicate(_DUPLICATES[type(row)])

    def _flat_item(self, row: Any) -> None:
        self._responses.alone = True
        self._responses.tell(row)
        self._responses.alone = False

    # Rows that fit no shape.

    def _odd(self, line: bytes, value: Any) -> None:
        row = as_dict(value)
        if (
            "payload" in row
            and row.get("timestamp") is not None
            and in_utc(row["timestamp"]) != row["timestamp"]
        ):
            # The row may be good and only its time is not.
            self._out.line -= 1
            self.receive_line(msgspec.json.encode({**row, "timestamp": in_utc(row["timestamp"])}))
        elif "record_type" in row:
            self._out.duplicate("state: repeats the response that other rows tell")
        elif "type" not in row and "id" in row and ("timestamp" in row or "instructions" in row):
            self._flat_header(row)
        else:
            # A text that is held back still waits for its event: a new kind of row may stand between them.
            inner = as_str(as_dict(row.get("payload")).get("type"))
            name = native_type(value)
            self._unknown(line, f"{name}/{inner}" if inner else name)

    def _flat_header(self, row: dict[str, Any]) -> None:
        self._out.at = as_time(row.get("timestamp"))
        self._session.session_id = as_str(row.get("id"))
        self._session.begin_session()
        if instructions := as_str(row.get("instructions")):
            self._session.context("user", instructions)
        self._out.at = None


_ITEM_ROW, _RAW_ITEM_ROW, _EVENT_ROW = rows.ResponseItemRow, rows.RawResponseItemRow, rows.EventRow
_USAGE_ROW: Final = rows.TokenUsageRow
_decode_paginated = msgspec.json.Decoder(rows.AnyPaginatedRow).decode
_DUPLICATES: Final[dict[type[msgspec.Struct], str]] = {
    rows.WorldStateRow: "context: a snapshot of what other rows say",
    rows.InterAgentMetadataRow: "agents: about the letter in the next row",
    rows.SecurityRiskRow: "context: a score about what other rows say",
}

_Tell: TypeAlias = Callable[[RolloutParser, Any], None]
_TELL: Final[dict[type[msgspec.Struct], _Tell]] = {
    rows.SessionMetaRow: RolloutParser._session_meta,
    rows.TurnContextRow: RolloutParser._turn_context,
    rows.CompactedRow: RolloutParser._compacted,
    rows.TokenUsageRow: RolloutParser._token_usage,
    **dict.fromkeys(_DUPLICATES, RolloutParser._duplicate_row),
    rows.HandoffRow: RolloutParser._handed_off,
    rows.RetainedContextRow: RolloutParser._retained_context,
    rows.InterAgentRow: RolloutParser._retained_context,
    **dict.fromkeys(shapes.ResponseItem.__subclasses__(), RolloutParser._flat_item),
    shapes.CustomOutputItem: RolloutParser._flat_item,
    shapes.CompactionSummaryItem: RolloutParser._flat_item,
    shapes.ContextCompactionItem: RolloutParser._flat_item,
    shapes.CompactionTriggerItem: RolloutParser._flat_item,
}
