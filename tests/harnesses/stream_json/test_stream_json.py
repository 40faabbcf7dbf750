"""What agents on this wire share, read for one that adds next to nothing."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import msgspec

from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.stream_json import control, shapes
from dragoman.harnesses.stream_json.blocks import (
    has_results,
    prompt_of,
    results_in,
    without_results,
)
from dragoman.harnesses.stream_json.partials import Partials
from dragoman.harnesses.stream_json.reader import StreamJsonReader
from dragoman.harnesses.stream_json.session import StreamSession
from dragoman.model.messages import (
    ApprovalKind,
    ApprovalRequested,
    ApprovalSettled,
    Delta,
    Malformed,
    Prompt,
    SessionStarted,
    TurnEnded,
    TurnStarted,
    Unknown,
)


class _Hello(shapes.StreamLine, kw_only=True, tag="hello"):
    agent: Any = None


_Line: TypeAlias = (
    _Hello
    | shapes.StreamEvent
    | shapes.ControlRequest
    | shapes.ControlResponse
    | shapes.ControlCancelRequest
    | shapes.KeepAlive
)


class _Session(StreamSession):
    @property
    def has_finished(self) -> bool:
        return self.assembler.turn_has_text


class _Questions:
    def kind_of(self, native: str) -> ApprovalKind:
        return "tool"

    def ask_tool(self, session: StreamSession, request_id: str, request: dict[str, Any]) -> None:
        session.assembler.ask(
            request_id, "tool", tool="Toy", summary="", detail={}, choices=["allow", "deny"]
        )

    def ask_elicitation(
        self, session: StreamSession, request_id: str, request: dict[str, Any]
    ) -> None:
        raise AssertionError("nothing was elicited")

    def decision_of(self, answer: dict[str, Any], kind: ApprovalKind | None) -> str:
        return str(answer.get("behavior"))


class _Reader(StreamJsonReader[_Session]):
    decode = staticmethod(msgspec.json.Decoder(_Line).decode)
    attributed = (_Hello,)

    def __init__(self) -> None:
        super().__init__(
            lambda out, name: _Session(out, "toy", name), _Questions(), only=None, audit=True
        )
        self.partials: Partials[_Session] = Partials()

    def begin_turn(self) -> None:
        self.prompts.begin_turn(self.sessions.main)

    def hello(self, row: _Hello) -> bool:
        self.session.assembler.begin_session(model="m")
        if self.session is self.sessions.main:
            self.begin_turn()
        return row.agent is None

    def event(self, row: shapes.StreamEvent) -> bool:
        return self.partials.report(self.session, row.event)


_Reader.reports = {
    _Hello: _Reader.hello,
    shapes.StreamEvent: _Reader.event,
    shapes.ControlRequest: _Reader.control_request,
    shapes.ControlResponse: _Reader.control_response,
    shapes.ControlCancelRequest: _Reader.control_cancel,
    shapes.KeepAlive: _Reader.state,
}


def _read(*lines: Any) -> list[Any]:
    reader = _Reader()
    for line in lines:
        reader.receive_line(json.dumps(line).encode() + b"\n")
    reader.receive_eof()
    return reader.messages()


def _of(kind: type[Any], messages: list[Any]) -> list[Any]:
    return [each for each in messages if isinstance(each, kind)]


def _row(way: str, message: Any) -> dict[str, Any]:
    return {"dir": way, "t": 0.0, "msg": message}


_PERMISSION = {
    "type": "control_request",
    "request_id": "r",
    "request": {"subtype": "can_use_tool", "tool_name": "toy", "tool_use_id": "c"},
}


def test_a_prompt_that_was_sent_begins_the_turn_when_the_agent_does() -> None:
    reader = _Reader()
    reader.prompts.send(reader.sessions.main, prompt_of("hi"), "u")
    reader.receive_line(b'{"type":"hello","session_id":"s"}\n')
    reader.receive_eof()
    messages = reader.messages()

    assert [(each.text, each.turn_id, each.session_id) for each in _of(Prompt, messages)] == [
        ("hi", "u", "s")
    ]
    assert [each.turn_id for each in _of(TurnStarted, messages)] == ["u"]
    assert [each.outcome for each in _of(TurnEnded, messages)] == ["interrupted"]


def test_a_question_is_settled_by_the_hosts_answer_or_withdrawn() -> None:
    answer = {"subtype": "success", "request_id": "r", "response": {"behavior": "deny"}}
    asked = [_row("recv", {"type": "hello", "session_id": "s"}), _row("recv", _PERMISSION)]
    answered = _read(*asked, _row("sent", {"type": "control_response", "response": answer}))
    withdrawn = _read(*asked, _row("recv", {"type": "control_cancel_request", "request_id": "r"}))

    assert [each.approval_id for each in _of(ApprovalRequested, answered)] == ["r"]
    assert [each.decision for each in _of(ApprovalSettled, answered)] == ["deny"]
    assert [each.decision for each in _of(ApprovalSettled, withdrawn)] == [control.WITHDRAWN]


def test_a_line_that_names_a_sub_agent_is_emitted_under_its_session() -> None:
    messages = _read(
        {"type": "hello", "session_id": "s"},
        {"type": "hello", "session_id": "s", "parent_tool_use_id": "c", "agent_id": "a"},
    )

    started = _of(SessionStarted, messages)
    facts = [(each.session_id, each.parent_session_id, each.parent_call_id) for each in started]
    assert facts == [("s", None, None), ("a", "s", "c"), ("a", "s", "c")]


def test_what_is_not_known_is_kept_whole_and_without_its_wrapper() -> None:
    messages = _read(
        {"type": "hello", "session_id": "s", "agent": 1},
        _row("recv", {"type": "news", "x": 1}),
        {"dir": "recv", "t": 0, "raw": "no json"},
        {"type": "stream_event", "event": {"type": "surprise"}},
    )

    assert [each.native_type for each in _of(Unknown, messages)] == [
        "hello",
        "news",
        "stream_event/surprise",
    ]
    assert [each.raw for each in _of(Malformed, messages)] == ["no json"]


def test_pieces_of_a_text_name_the_response_they_belong_to() -> None:
    def event(**fields: Any) -> dict[str, Any]:
        return {"type": "stream_event", "session_id": "s", "event": fields}

    messages = _read(
        {"type": "hello", "session_id": "s"},
        event(type="message_start", message={"id": "m1"}),
        event(type="content_block_delta", delta={"type": "text_delta", "text": "Hel"}),
        event(type="content_block_delta", delta={"type": "text_delta", "text": "lo"}),
        event(type="message_stop"),
    )

    assert [(each.text, each.message_id) for each in _of(Delta, messages)] == [
        ("Hel", "m1"),
        ("lo", "m1"),
    ]


def test_a_turn_is_closed_the_way_its_own_lines_say() -> None:
    def outcome(*, said: bool, interrupted: bool, may_go_on: bool) -> list[str]:
        out = Output(audit=False)
        session = _Session(out, "toy", "s")
        session.begin_turn("t")
        if said:
            session.assembler.text("message", "Done.")
        session.was_interrupted = interrupted
        session.close_turn(may_go_on=may_go_on)
        return [each.outcome for each in _of(TurnEnded, out.take_messages())]

    assert outcome(said=True, interrupted=False, may_go_on=True) == ["completed"]
    assert outcome(said=True, interrupted=True, may_go_on=True) == ["interrupted"]
    assert outcome(said=False, interrupted=False, may_go_on=True) == []
    assert outcome(said=False, interrupted=False, may_go_on=False) == ["interrupted"]


def test_the_parts_of_a_users_message() -> None:
    image = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    content = [
        {"type": "text", "text": "Look:"},
        {"type": "image", "source": image},
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
        {"type": "tool_result", "tool_use_id": "c"},
    ]

    assert prompt_of("hi") == ("hi", [])
    assert prompt_of(content) == (
        "Look:",
        ["data:image/png;base64,AA==", "https://example.com/a.png"],
    )
    assert has_results(content)
    assert [each["tool_use_id"] for each in results_in(content)] == ["c"]
    assert len(without_results(content)) == 3
