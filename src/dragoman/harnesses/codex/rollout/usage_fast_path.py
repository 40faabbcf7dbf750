"""Reading plain rollouts for tokens, turns and sessions alone, several times as quick as the parser.

Nearly every file is plain: one session, in turns that have a beginning, with its directory in the first
row. There a few rows decide, and none of them must wait for another. Anything else (rows that
were copied from another session, reviews, releases that do not mark where turns begin, a row that fits no
shape) is left to the parser. Where this reader does not give up, its messages are those of the parser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.harnesses.codex.events import conversation_shapes as said
from dragoman.harnesses.codex.events.notice_shapes import ThreadSettingsApplied
from dragoman.harnesses.codex.responses.messages import is_injected, text_of
from dragoman.harnesses.codex.responses.shapes import MessageItem
from dragoman.harnesses.codex.rollout import shapes as rows
from dragoman.harnesses.codex.rollout.decoding import PREAMBLE_ROWS, decode_row
from dragoman.harnesses.codex.rollout.prefilter import HEAD, Skipper
from dragoman.model.messages import Message, SessionStarted, TurnStarted, UsageReport
from dragoman.model.usage import NOTHING, Usage
from dragoman.wire.jsonl import UNREADABLE

_ONLY: Final = frozenset(("usage", "turn_started", "session_started"))
_COUNTS: Final = frozenset(
    head[:HEAD]
    for head in (
        b'event_msg","payload":{"type":"token_count"',
        b'token_usage_record","payload":{"thread_id"',
    )
)
"""How most rows begin that need not be looked at: they are decoded."""
_EVENT_ROW: Final = rows.EventRow


class _NotPlain(Exception):
    """The parser must read this file."""


class PlainRollout:
    """One plain rollout."""

    def __init__(self) -> None:
        self._skipper = Skipper(_ONLY)
        self._messages: list[Message] = []
        self._line = 0
        self._session: str | None = None
        self._facts: tuple[str | None, str | None, str | None] = (None, None, None)
        """Model, directory, parent."""
        self._version: str | None = None
        self._is_preamble = False
        """Whether the row that names the model may still come."""
        self._turn: str | None = None
        self._turns = 0
        self._total: Usage | None = None
        self._window: int | None = None
        self._others_count = False
        """Whether tokens are reported by rows of their own, which token counts only repeat."""
        self._has_events = False

    def receive_lines(self, lines: Iterable[bytes]) -> bool:
        try:
            self._read(lines)
        except (_NotPlain, *UNREADABLE):
            return False
        return True

    def receive_eof(self) -> None:
        self._is_preamble = False

    def messages(self) -> list[Message]:
        if self._is_preamble and self._line <= PREAMBLE_ROWS:
            return []
        messages, self._messages = self._messages, []
        return messages

    def _read(self, lines: Iterable[bytes]) -> None:
        # Nearly all the time goes by here: what is needed for a row is looked up outside of the loop.
        skipper, number = self._skipper, self._line
        place, heads, in_turn = skipper.place, skipper.heads, self._turn is not None
        for line in lines:
            number += 1
            if in_turn:
                head = line[place]
                if head in heads:
                    continue
                if head not in _COUNTS and skipper.can_skip_this(line):
                    place = skipper.place
                    continue
            self._line = number
            row = decode_row(line)
            if row.__class__ is _EVENT_ROW:
                self._has_events = True
                tell = _EVENTS.get(row.payload.__class__)
            else:
                tell = _ROWS.get(row.__class__)
            if tell is None:
                raise _NotPlain
            tell(self, row)
            place, heads, in_turn = skipper.place, skipper.heads, self._turn is not None
        self._line = number

    # Tokens.

    def _token_count(self, row: Any) -> None:
        event: said.TokenCount = row.payload
        info = event.info
        if self._others_count:
            return
        if info is None:
            if event.input_tokens is not None:
                raise _NotPlain
            self._total = self._total or NOTHING
            return
        total = info.total_token_usage
        if total is None or info.totalTokenUsage is not None:
            raise _NotPlain
        if info.model_context_window is not None:
            self._window = info.model_context_window
        before, self._total = self._total, total
        if total != before and (before is not None or total):
            self._report(row, info.last_token_usage)

    def _token_usage(self, row: rows.TokenUsageRow) -> None:
        if not self._others_count:
            self._others_count = True
            self._skipper.skip_token_counts()
        own, total = row.payload.usage, row.payload.thread_token_usage
        if own is not None:
            self._total = total if total is not None else (self._total or NOTHING) + own
            self._report(row, own, row.payload.response_id)

    def _report(self, row: rows.Row, last: Usage | None, response_id: str | None = None) -> None:
        self._messages.append(
            UsageReport(
                session_id=self._session,
                turn_id=self._turn,
                at=row.timestamp,
                line=self._line,
                total=self._total,
                last=last,
                context_window=self._window,
                response_id=response_id,
            )
        )

    # Turns.

    def _task_started(self, row: Any) -> None:
        event: said.TaskStarted = row.payload
        if event.model_context_window is not None:
            self._window = event.model_context_window
        if self._turn is not None and event.turn_id == self._turn:
            return
        self._turns += 1
        self._turn = event.turn_id if event.turn_id else f"turn-{self._turns}"
        self._messages.append(
            TurnStarted(
                session_id=self._session, turn_id=self._turn, at=row.timestamp, line=self._line
            )
        )

    def _turn_ended(self, row: rows.EventRow) -> None:
        self._turn = None

    # The session.

    def _session_meta(self, row: rows.SessionMetaRow) -> None:
        meta = row.payload
        if self._line > 1 or not meta.cwd:
            raise _NotPlain
        self._session, self._version = meta.id, meta.cli_version
        self._is_preamble = True
        self._skipper.skip_messages()
        self._skipper.skip_prompts()
        self._know(row, None, meta.cwd, meta.parent)

    def _turn_context(self, row: rows.TurnContextRow) -> None:
        model, cwd = row.payload.model, row.payload.cwd
        if self._is_preamble and self._line <= PREAMBLE_ROWS:
            self._messages[0] = msgspec.structs.replace(self._messages[0], model=model)
            self._facts = (model or self._facts[0], *self._facts[1:])
        else:
            self._know(row, model, cwd, None)
        self._is_preamble = False

    def _settings(self, row: Any) -> None:
        settings = row.payload.thread_settings
        self._know(row, settings.model, settings.cwd, None)

    def _know(self, row: rows.Row, model: str | None, cwd: str | None, parent: str | None) -> None:
        """Report what the session is, if that is new."""
        old = self._facts
        new = (model or old[0], cwd or old[1], parent or old[2])
        if new == old:
            return
        self._facts = new
        self._messages.append(
            SessionStarted(
                session_id=self._session,
                turn_id=self._turn,
                at=row.timestamp,
                line=self._line,
                harness="codex",
                version=self._version,
                model=new[0],
                cwd=new[1],
                parent_session_id=new[2],
            )
        )

    # The rest.

    def _response_item(self, row: rows.ResponseItemRow) -> None:
        """Before a turn: context from the harness. Anything else would begin one."""
        item = row.payload
        if not isinstance(item, MessageItem) or item.role == "assistant":
            raise _NotPlain
        text = text_of(item.content)
        if item.role == "user" and (
            "<user_shell_command>" in text or not (self._has_events or is_injected(text))
        ):
            raise _NotPlain

    def _nothing(self, row: rows.Row) -> None:
        pass


_Tell: TypeAlias = Callable[[PlainRollout, Any], None]
_EVENTS: Final[dict[type[Any], _Tell]] = {
    said.TokenCount: PlainRollout._token_count,
    said.TaskStarted: PlainRollout._task_started,
    said.TurnStartedAlias: PlainRollout._task_started,
    said.TaskComplete: PlainRollout._turn_ended,
    said.TurnCompleteAlias: PlainRollout._turn_ended,
    said.TurnAborted: PlainRollout._turn_ended,
    ThreadSettingsApplied: PlainRollout._settings,
}
_ROWS: Final[dict[type[Any], _Tell]] = {
    rows.SessionMetaRow: PlainRollout._session_meta,
    rows.TurnContextRow: PlainRollout._turn_context,
    rows.TokenUsageRow: PlainRollout._token_usage,
    rows.ResponseItemRow: PlainRollout._response_item,
    **dict.fromkeys(
        (
            rows.CompactedRow,
            rows.WorldStateRow,
            rows.RetainedContextRow,
            rows.InterAgentRow,
            rows.InterAgentMetadataRow,
            rows.SecurityRiskRow,
        ),
        PlainRollout._nothing,
    ),
}
