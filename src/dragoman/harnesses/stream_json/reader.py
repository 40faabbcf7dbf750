"""Reading a stream of lines in both directions: whose each line is, and what was asked and answered.

| line | becomes |
|---|---|
| stream_event | see :mod:`dragoman.harnesses.stream_json.partials` |
| control_request, control_response, control_cancel_request | approval_requested, approval_settled |
| what the host sent, in a recording of both directions or a journal | prompt, approval_settled |
| any other | what the harness's own reader makes of it |

Lines that name a sub-agent are emitted under its own session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, ClassVar, Final, Generic

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.assembly.parsing import StreamParser
from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.stream_json import shapes
from dragoman.harnesses.stream_json.control import Control, Questions
from dragoman.harnesses.stream_json.prompts import PromptQueue
from dragoman.harnesses.stream_json.sessions import S, Sessions
from dragoman.wire import jsonl
from dragoman.wire.directions import ASIDE, ERRORS, unwrap
from dragoman.wire.envelope import time_on
from dragoman.wire.loose import as_dict, as_list, as_str
from dragoman.wire.moments import as_time

_END_OF_INPUT: Final = b"<EOF>"


class StreamJsonReader(StreamParser, Generic[S]):
    """One process of an agent, with its session and the sub-agents in it."""

    decode: ClassVar[Callable[[bytes], Any]]
    """Makes a shape of a line."""
    reports: ClassVar[Mapping[type[shapes.StreamLine], Callable[[Any, Any], bool | None]]]
    """A method for each shape. It returns False for a line that is of no kind it knows."""
    attributed: ClassVar[tuple[type[shapes.StreamLine], ...]]
    """The shapes whose lines may be the first that name a sub-agent."""

    def __init__(
        self,
        make_session: Callable[[Output, str | None], S],
        questions: Questions,
        *,
        only: frozenset[str] | None = None,
        audit: bool = False,
    ) -> None:
        super().__init__(only=only, audit=audit)
        out = self._out
        self._decode = type(self).decode
        self.sessions: Sessions[S] = Sessions(lambda name: make_session(out, name))
        self.session: S = self.sessions.main
        """The session that the line being read belongs to."""
        self.prompts = PromptQueue(out)
        self.control = Control(self.sessions, questions)
        self.sent: bool | None = None
        """Whether the host sends the lines to come; None if only the lines themselves can say."""
        self.is_sent = False
        """Whether the host sent the line being read."""
        self.is_holding = False
        """Whether a line is held back until the next one says what it means."""

    def begin_turn(self) -> None:
        """The agent begins a turn of its session, for the oldest prompt that waits."""
        raise NotImplementedError

    def resolve(self, row: Any) -> None:
        """The line after one that was held back is there: say what became of that one."""

    def receive_time(self, at: datetime) -> None:
        """The lines to come arrive at this time."""
        self._out.at = at

    def _read(self, line: bytes) -> None:
        sent, way = self.sent, ""
        if sent is None:
            if (at := time_on(line)) is not None:
                self._out.at = at
            line, sent, way = unwrap(line)
        self.session = self.sessions.main
        if way in ASIDE:
            self.session.assembler.duplicate("journal: how it was recorded")
        elif way in ERRORS:
            text = line.decode(errors="replace").strip()
            self.session.assembler.notice("stderr", "warning", text)
        elif sent and line.strip() == _END_OF_INPUT:
            self.session.assembler.duplicate("journal: the end of the input")
        elif way:
            self._unwrapped(line, sent)
        else:
            self._report(self._decode(line), line, sent)

    def _unwrapped(self, line: bytes, sent: bool | None) -> None:
        """A line out of a journal: what cannot be read is kept without its wrapper."""
        try:
            row = self._decode(line)
        except jsonl.UNREADABLE:
            self._keep_inner(line)
        else:
            self._report(row, line, sent)

    def _keep_inner(self, line: bytes) -> None:
        try:
            value = jsonl.loads(line)
        except jsonl.NotJson:
            self._malformed(line)
        else:
            self._odd(line, value)

    def _report(self, row: Any, line: bytes, sent: bool | None) -> None:
        if (at := as_time(row.timestamp)) is not None:
            self._out.at = at
        self.is_sent = sent is True
        if not self.is_sent:
            self.name_session(as_str(row.session_id))
            self.session = self._session_of(row)
        if self.is_holding:
            self.resolve(row)
        if self.reports[type(row)](self, row) is False:
            self._unknown(line, _native_type(row))

    def _session_of(self, row: Any) -> S:
        agent_id, call_id = as_str(row.agent_id), as_str(row.parent_tool_use_id)
        if agent_id is None and call_id is None:
            return self.sessions.main
        if type(row) in self.attributed:
            return self.sessions.agent(agent_id, call_id)
        named = self.sessions.known_agent(agent_id) or self.sessions.agent_of_call(call_id or "")
        return named or self.sessions.main

    def name_session(self, session_id: str | None, *, is_init: bool = False) -> None:
        """Take note of the stream's own session."""
        main = self.sessions.main
        if session_id is None or session_id == main.session_id:
            return
        if main.session_id is None:
            main.assembler.session_id = session_id
        elif is_init:
            self.sessions.switch(session_id)
            self.session = self.sessions.main

    def _say_held(self) -> None:
        pass  # what waits may be resolved by the next line

    def _finish(self, ending: Ending) -> None:
        for session in self.sessions.all():
            session.close_turn()

    def _speaker(self) -> SessionAssembler:
        return self.session.assembler

    # One method for each kind of line that all agents have.

    def control_request(self, row: shapes.ControlRequest) -> bool:
        request = as_dict(row.request)
        request_id = as_str(row.request_id) or ""
        if self.is_sent:
            self.control.host_asks(request)
            return True
        return self.control.agent_asks(request_id, request)

    def control_response(self, row: shapes.ControlResponse) -> None:
        response = as_dict(row.response)
        if self.is_sent:
            self.control.host_answers(response)
        else:
            self.control.agent_answers(response)

    def control_cancel(self, row: shapes.ControlCancelRequest) -> None:
        self.control.cancelled(as_str(row.request_id) or "")

    def state(self, row: shapes.StreamLine) -> None:
        self.session.assembler.duplicate("state: of the connection")


def _native_type(row: shapes.StreamLine) -> str:
    """The best name for a line that is new to us: its type, and what says more about it."""
    more = as_str(getattr(row, "subtype", None))
    if isinstance(row, shapes.StreamEvent):
        more = as_str(as_dict(row.event).get("type"))
    elif isinstance(row, shapes.ControlRequest):
        more = as_str(as_dict(row.request).get("subtype"))
    elif isinstance(message := getattr(row, "message", None), shapes.ApiMessage):
        more = ",".join(str(as_dict(each).get("type")) for each in as_list(message.content))
    kind = str(type(row).__struct_config__.tag)
    return f"{kind}/{more}" if more else kind
