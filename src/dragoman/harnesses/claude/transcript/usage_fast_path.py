"""Reading plain transcripts for tokens, turns and sessions alone, several times as quick as the parser.

Nearly every file is plain: one session of the user's own, in which each response says why it ended and belongs to a
turn that a prompt began. There, most bytes are tool results, which decide nothing and are known by their first bytes.
Anything else (sub-agents, forks, releases that do not say how a response ended, a response outside of a turn, a row
that fits no shape) is left to the parser. Where this reader does not give up, its messages are those of the parser,
but for the turn that a report of the session's cost is in: the turn may have ended, and the cost is the session's.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

import msgspec

from dragoman.harnesses.claude.blocks import is_interruption
from dragoman.harnesses.claude.transcript import shapes
from dragoman.harnesses.claude.transcript.prompts import is_from_program
from dragoman.harnesses.claude.values import command_line, local_output
from dragoman.harnesses.stream_json.blocks import has_results, prompt_of, without_results
from dragoman.model.messages import Message, SessionStarted, TurnStarted, UsageReport
from dragoman.model.usage import Count, Usage
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict, as_int, as_number, as_str
from dragoman.wire.moments import as_time

_SYNTHETIC: Final = "<synthetic>"
_HEAD: Final = 512
_TAIL: Final = 700
_RESULTS: Final = b'"message":{"role":"user","content":[{"'
_RESULT_STARTS: Final = (b'tool_use_id":"', b'type":"tool_result"')
_ANSWER: Final = b'"role":"assistant"'
_LAST_WORDS: Final = frozenset(("end_turn", "stop_sequence", "max_tokens", "refusal"))
_PATIENCE: Final = 64
_QUIET: Final = tuple(f'{{"type":"{kind}"'.encode() for kind in sorted(shapes.BOOKKEEPING))
_TURN_ENDS: Final = frozenset(("turn_duration", "away_summary", "local_command"))


class _NotPlainTranscript(Exception):
    """The parser must read this file."""


class _Lifetimes(msgspec.Struct, gc=False):
    ephemeral_1h_input_tokens: Count = 0


class _Details(msgspec.Struct, gc=False):
    thinking_tokens: Count = 0


class _SpentTokens(msgspec.Struct, gc=False):
    input_tokens: Count
    output_tokens: Count
    cache_read_input_tokens: Count = 0
    cache_creation_input_tokens: Count = 0
    cache_creation: _Lifetimes | None = None
    output_tokens_details: _Details | None = None


class _ResponseFacts(msgspec.Struct, gc=False):
    id: str
    model: str
    stop_reason: str
    usage: _SpentTokens


class _AnswerRow(msgspec.Struct, gc=False):
    """An assistant's row without its content."""

    type: str
    uuid: str
    sessionId: str
    message: _ResponseFacts
    timestamp: str | None = None
    isSidechain: bool = False
    agentId: str | None = None
    requestSessionId: str | None = None
    forkedFrom: Any = None
    isApiErrorMessage: bool = False
    isAbortedMidStream: Any = None
    cwd: str | None = None
    version: str | None = None


_decode_answer: Final = msgspec.json.Decoder(_AnswerRow).decode


class PlainTranscript:
    """One plain transcript."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._line = 0
        self._session: str | None = None
        self._in_tail = b""
        """How rows of the session say so."""
        self._began: datetime | None = None
        """When the first row was written that is no message: what is older was copied."""
        self._started: SessionStarted | None = None
        self._is_held = True
        """Whether the row that names the model may still come."""
        self._rows = 0
        """How many rows were read until the model was known."""
        self._turn: str | None = None
        self._may_be_over = False
        """Whether the parser may take the turn for ended: nothing may follow but a prompt."""
        self._stop_reason: str | None = None
        self._boundary = False
        """Whether the next row of the user is the summary of a compaction."""
        self._prompts: set[str] = set()
        self._counted: set[str] = set()
        self._total: Usage | None = None
        self._cost: float | None = None

    def receive_lines(self, lines: Iterable[bytes]) -> bool:
        try:
            self._read(lines)
        except (_NotPlainTranscript, *UNREADABLE):
            return False
        return True

    def receive_eof(self) -> None:
        self._is_held = False

    def messages(self) -> list[Message]:
        if self._is_held:
            return []
        messages, self._messages = self._messages, []
        return messages

    def _read(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._line += 1
            if self._started is not None and not self._is_held and self._is_result(line):
                continue
            if line.startswith(_QUIET):
                continue
            if line.find(_ANSWER, 0, _HEAD) >= 0 and not line.startswith(b'{"type":"'):
                self._answer(_decode_answer(line))
            else:
                self._other(shapes.decode_row(line))

    def _is_result(self, line: bytes) -> bool:
        """Whether this is the result of a call, and nothing else."""
        place = line.find(_RESULTS, 0, _HEAD)
        if place < 0 or not line.startswith(_RESULT_STARTS, place + len(_RESULTS)):
            return False
        return (
            not self._boundary
            and line.find(b'"isSidechain":false', 0, place) >= 0
            and line.find(self._in_tail, -_TAIL) >= 0
            and b"[Request interrupted by user" not in line
            and line.find(b'"forkedFrom"', -_TAIL) < 0
        )

    # Responses.

    def _answer(self, row: _AnswerRow) -> None:
        message = row.message
        if row.type != "assistant" or row.isSidechain or row.agentId is not None:
            raise _NotPlainTranscript
        if row.requestSessionId not in (None, row.sessionId) or row.forkedFrom is not None:
            raise _NotPlainTranscript
        model = message.model if message.model != _SYNTHETIC else None
        at = self._begin(row.sessionId, row.timestamp, row.version, row.cwd)
        if self._turn is None or self._may_be_over:
            raise _NotPlainTranscript  # the parser begins a turn of its own
        self._boundary = False
        if row.isApiErrorMessage:
            self._may_be_over = True
            return
        if row.isAbortedMidStream is not None:
            raise _NotPlainTranscript
        if model is not None:
            self._know_model(model, at)
        self._stop_reason = message.stop_reason
        if message.id in self._counted:
            return
        self._counted.add(message.id)
        spent = _usage(message.usage)
        if not spent:
            return
        self._total = spent if self._total is None else self._total + spent
        self._messages.append(
            UsageReport(
                session_id=self._session,
                turn_id=self._turn,
                at=at,
                line=self._line,
                total=self._total,
                last=spent,
                response_id=message.id,
                model=message.model,
            )
        )

    # The session.

    def _begin(
        self, session_id: str | None, timestamp: Any, version: str | None, cwd: str | None
    ) -> datetime | None:
        """Take note of whose a message is, and announce the session with the first; return its time."""
        self._count_row()
        self._own(session_id)
        at = as_time(timestamp)
        if self._started is None:
            if self._began is not None and (at is None or at < self._began):
                raise _NotPlainTranscript
            self._started = SessionStarted(
                session_id=self._session,
                at=at,
                line=self._line,
                harness="claude",
                version=version,
                cwd=cwd,
            )
            self._messages.append(self._started)
        return at

    def _own(self, session_id: str | None) -> None:
        if session_id is None or session_id != (self._session or session_id):
            raise _NotPlainTranscript
        if self._session is None:
            self._session = session_id
            self._in_tail = b'"sessionId":"' + session_id.encode() + b'"'

    def _count_row(self) -> None:
        if self._is_held:
            self._rows += 1
            if self._rows > _PATIENCE:
                raise _NotPlainTranscript

    def _know_model(self, model: str, at: datetime | None) -> None:
        known = self._started
        if known is None:
            raise _NotPlainTranscript
        if self._is_held:
            self._is_held = False
            self._started = msgspec.structs.replace(known, model=model)
            self._messages[self._messages.index(known)] = self._started
        elif known.model != model:
            self._started = msgspec.structs.replace(
                known, model=model, at=at, line=self._line, turn_id=self._turn
            )
            self._messages.append(self._started)

    # Other rows.

    def _other(self, row: shapes.AnyRow) -> None:
        match row:
            case shapes.User():
                self._user(row)
                return
            case shapes.System():
                self._boundary = False
                self._system(row)
            case shapes.Attachment():
                self._boundary = False
                self._attachment(row)
            case shapes.Handoff() | shapes.Assistant():
                raise _NotPlainTranscript
            case _:
                self._boundary = False
                self._bookkeeping(row)

    def _user(self, row: shapes.User) -> None:
        at = self._place(row)
        content = row.message.content
        beside_result = has_results(content)
        rest = without_results(content) if beside_result else content
        if beside_result and not rest:
            return
        text = prompt_of(rest).text
        if is_interruption(text) or local_output(text) is not None:
            self._may_be_over = True
        elif row.isCompactSummary is True or self._boundary:
            self._boundary = False
        elif row.isMeta is not True and not beside_result:
            self._prompt(row, text, at)

    def _prompt(self, row: shapes.User, text: str, at: datetime | None) -> None:
        name = as_str(row.uuid)
        if name is None or name in self._prompts:
            raise _NotPlainTranscript
        self._prompts.add(name)
        place = as_int(as_dict(row.turnPosition).get("promptIndex"))
        if place and not is_from_program(row, text):
            if self._may_be_over or self._turn is None:
                raise _NotPlainTranscript
            return  # it joins the turn
        self._turn = name
        self._may_be_over = False
        self._stop_reason = None
        self._messages.append(
            TurnStarted(session_id=self._session, turn_id=name, at=at, line=self._line)
        )

    def _place(self, row: shapes.AnyRow) -> datetime | None:
        if row.isSidechain is True or row.agentId is not None or row.forkedFrom is not None:
            raise _NotPlainTranscript
        return self._begin(
            as_str(row.sessionId), row.timestamp, as_str(row.version), as_str(row.cwd)
        )

    def _system(self, row: shapes.System) -> None:
        self._place(row)
        if row.requestSessionId is not None:
            raise _NotPlainTranscript
        if row.subtype == "compact_boundary":
            self._boundary = True
        elif row.subtype in _TURN_ENDS:
            if row.subtype == "local_command" and command_line(as_str(row.content) or ""):
                raise _NotPlainTranscript  # a turn without a name
            self._may_be_over = True

    def _attachment(self, row: shapes.Attachment) -> None:
        at = self._place(row)
        given = as_dict(row.attachment)
        kind = given.get("type")
        model = as_str(as_dict(given.get("identity")).get("modelId"))
        if model is not None and self._is_held:
            self._know_model(model, at)
        if kind == "queued_command" and (self._turn is None or self._may_be_over):
            raise _NotPlainTranscript
        if kind in ("max_turns_reached", "structured_output"):
            self._may_be_over = True

    def _bookkeeping(self, row: shapes.AnyRow) -> None:
        self._count_row()
        self._own(as_str(row.sessionId))
        if self._started is None and self._began is None:
            self._began = as_time(row.timestamp)
        if isinstance(row, shapes.CustomTitle | shapes.AiTitle | shapes.Summary):
            return
        if self._stop_reason in _LAST_WORDS:
            self._may_be_over = True
        if isinstance(row, shapes.CostState):
            self._report_cost(row)

    def _report_cost(self, row: shapes.CostState) -> None:
        cost = as_number(row.totalCostUSD)
        if not cost or cost == self._cost:
            return
        self._cost = cost
        self._messages.append(
            UsageReport(
                session_id=self._session,
                at=as_time(row.timestamp),
                line=self._line,
                total=self._total,
                cost=cost,
            )
        )


def _usage(spent: _SpentTokens) -> Usage:
    cached = spent.cache_read_input_tokens
    kept = spent.cache_creation.ephemeral_1h_input_tokens if spent.cache_creation else 0
    written = max(spent.cache_creation_input_tokens, kept)
    details = spent.output_tokens_details
    return Usage(
        spent.input_tokens + cached + written,
        cached,
        written,
        spent.output_tokens,
        details.thinking_tokens if details else 0,
        kept,
    )
