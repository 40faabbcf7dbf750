"""Reading the chats of Qwen Code: a session's own, or a sub-agent's.

| row | becomes |
|---|---|
| user | the beginning of a turn, and its prompt; notice and context, if the program itself put it there |
| assistant, one for each response | thinking, text, tool_call; the tokens of the response |
| tool_result | tool_result, plan |
| system | see :mod:`dragoman.harnesses.qwen.chat.system` and :mod:`dragoman.harnesses.qwen.chat.telemetry` |

A file has no row for the end of a turn. A turn is known to have ended when the agent had the last word, or when the
last request to its model had failed.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.parsing import StreamParser
from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.gemini_tools.parts import parts_of
from dragoman.harnesses.qwen.chat import shapes
from dragoman.harnesses.qwen.chat.sessions import ChatSessions
from dragoman.harnesses.qwen.chat.system import report_system
from dragoman.harnesses.qwen.chat.telemetry import Telemetry
from dragoman.harnesses.qwen.session import QwenSession
from dragoman.harnesses.qwen.tools import result_of
from dragoman.harnesses.qwen.usage import response_usage
from dragoman.wire.loose import as_dict, as_int, as_number, as_str
from dragoman.wire.moments import as_time

CHANNEL: Final = "chat"
_NOT_A_PROMPT: Final = frozenset(("goal_runtime", "agent_bootstrap"))
_TOLD: Final = frozenset(("notification", "cron"))
_PATIENCE: Final = 64
"""How many rows are held until one names the model."""
_JOINS: Final = frozenset(("mid_turn_user_message", "agent_retry"))


class QwenChatParser(StreamParser):
    """One chat file."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self._sessions = ChatSessions(self._out)
        self._session: QwenSession | None = None
        self.telemetry = Telemetry()
        self._last_at: datetime | None = None
        """When the newest row of the open turn was written."""
        self.title: str | None = None
        self.tasks: set[str] = set()
        """The background tasks whose end was reported."""
        self._first: list[tuple[int, shapes.ChatRow, bytes]] | None = []
        """The rows before the first one that names the model: the session's beginning says it, too."""
        self._rows: set[str] = set()
        """The ids of the rows that were read."""
        self._turns: dict[str, int] = {}
        """How many turns had begun when each row was written, of those that count."""
        self._count = 0

    @property
    def session(self) -> QwenSession:
        """The session that the row being read belongs to."""
        assert self._session is not None
        return self._session

    def _read(self, line: bytes) -> None:
        row = shapes.decode_row(line)
        if self._first is None:
            self._take(row, line)
            return
        self._first.append((self._out.line, row, line))
        self._sessions.model = _model_of(row)
        if self._sessions.model is not None or len(self._first) > _PATIENCE:
            self._take_first()

    def _take_first(self) -> None:
        first, self._first = self._first or [], None
        now = self._out.line
        for self._out.line, row, line in first:
            self._take(row, line)
        self._out.line = now

    def _take(self, row: shapes.ChatRow, line: bytes) -> None:
        self._out.at = as_time(row.timestamp)
        session = self._session = self._sessions.of(row)
        name = as_str(row.uuid)
        if name is not None and name in self._rows:
            session.assembler.duplicate("row: it was written before")
            return
        known = True
        if row.type != "user" and row.subtype not in ("rewind", "custom_title"):
            self._last_at = self._out.at
        match row.type:
            case "user":
                self._user(row)
                self._last_at = self._out.at
            case "assistant":
                self._assistant(row)
            case "tool_result":
                self._tool_result(row)
            case "system":
                known = report_system(self, row)
            case _:
                known = False
        if name is not None:
            self._rows.add(name)
            self._turns[name] = self._count
        if not known:
            self._unknown(line, f"{row.type}/{row.subtype}" if row.subtype else row.type)

    def undone_by(self, row: shapes.ChatRow) -> int:
        """How many turns a row takes back that goes on from an earlier row."""
        before = self._turns.get(as_str(row.parentUuid) or "", 0)
        self._close()
        undone, self._count = max(0, self._count - before), min(before, self._count)
        return undone

    def _say_held(self) -> None:
        self._take_first()

    def _finish(self, ending: Ending) -> None:
        self._take_first()
        for session in self._sessions.all():
            self.telemetry.settle(session)
            session.close_turn(may_go_on=ending == "left")

    def _speaker(self) -> SessionAssembler | None:
        return self._session.assembler if self._session is not None else None

    def _close(self) -> None:
        """The turn is over: another follows, or it is taken back. It ended with its newest row, not with this one."""
        now, self._out.at = self._out.at, self._last_at or self._out.at
        self.telemetry.settle(self.session)
        self.session.close_turn()
        self._out.at = now

    def _begin_turn(self, name: str | None) -> None:
        self._close()
        self.session.begin_turn(name)
        self._count += 1

    # One method for each kind of row.

    def _user(self, row: shapes.ChatRow) -> None:
        assembler = self.session.assembler
        said = parts_of(as_dict(row.message).get("parts"))
        subtype, shown = as_str(row.subtype), as_str(as_dict(row.systemPayload).get("displayText"))
        if subtype in _TOLD:
            if row.backgroundTurn is not None:
                self._begin_turn(as_str(row.uuid))
            task = as_str(as_dict(as_dict(row.systemPayload).get("backgroundTask")).get("taskId"))
            if task is None or task not in self.tasks:
                assembler.notice("notification", "info", shown or said.text)
            assembler.context("user", said.text)
        elif subtype in _NOT_A_PROMPT:
            assembler.context("user", said.text)
        else:
            if subtype not in _JOINS or not assembler.in_turn:
                self._begin_turn(as_str(row.uuid))
            assembler.prompt(CHANNEL, shown or said.text, said.images, as_str(row.uuid))
            if shown and shown != said.text:
                assembler.context("user", said.text)
        for each in said.others:
            assembler.context("user", f"[{each}]")

    def _assistant(self, row: shapes.ChatRow) -> None:
        session, assembler = self.session, self.session.assembler
        said = parts_of(as_dict(row.message).get("parts"))
        name, model = as_str(row.uuid) or f"row-{self._out.line}", as_str(row.model)
        session.ensure_turn()
        is_whole = self.telemetry.answered(session) or row.isSidechain is True
        # Someone has stopped the agent in the middle of its answer: that row has no counts, and none were reported.
        session.was_interrupted = not is_whole and row.usageMetadata is None
        if (
            model is not None and assembler.has_facts
        ):  # what was copied is announced in its own file
            assembler.begin_session(model=model)
        window = as_int(row.contextWindowSize)
        if window is not None and window > 0:
            assembler.context_window = window
        for place, thought in enumerate(said.thoughts):
            assembler.thinking(CHANNEL, [thought], f"{name}/thought-{place}")
        if said.text:
            assembler.text(CHANNEL, said.text, message_id=name)
        for place, call in enumerate(said.calls):
            call_id = as_str(call.get("id")) or f"{name}/{place}"
            session.call(call_id, as_str(call.get("name")) or "", as_dict(call.get("args")))
        session.spend(name, response_usage(row.usageMetadata), model)
        assembler.duplicate("message: it says nothing")

    def _tool_result(self, row: shapes.ChatRow) -> None:
        facts = as_dict(row.toolCallResult)
        results = parts_of(as_dict(row.message).get("parts")).results
        for each in results:
            self._result(each, facts)
        if not results:
            self.session.assembler.duplicate("tool result: it says nothing")

    def _result(self, response: dict[str, Any], facts: dict[str, Any]) -> None:
        call_id = as_str(response.get("id")) or as_str(facts.get("callId")) or ""
        given = as_dict(response.get("response"))
        error = as_str(given.get("error"))
        text = error if error is not None else _text(given)
        session = self.session
        result = result_of(
            session.tool_of(call_id),
            text,
            is_error=error is not None,
            display=facts.get("resultDisplay"),
        )
        took = as_number(facts.get("durationMs"))
        duration = self.telemetry.durations.pop(call_id, None)
        session.result(call_id, result, duration if took is None else round(took))


def _model_of(row: shapes.ChatRow) -> str | None:
    event = as_dict(as_dict(row.systemPayload).get("uiEvent"))
    return as_str(row.model) or as_str(event.get("model"))


def _text(given: dict[str, Any]) -> str:
    output = given.get("output", given.get("content"))
    return output if isinstance(output, str) else parts_of(output).text
