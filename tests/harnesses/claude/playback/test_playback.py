"""A recording served as Claude: what a host reads from it, and that it can be driven."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

import dragoman
from dragoman.harnesses.claude.driving.conversation import ClaudeConversation
from dragoman.harnesses.claude.playback.printing import write_print
from dragoman.harnesses.claude.playback.server import ClaudeServer
from dragoman.harnesses.claude.stream.parser import StreamJsonParser
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model import intents
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Outcome,
    Prompt,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
)

_DATA = Path(__file__).parents[3] / "data" / "claude" / "claude-stream-json"
_STORIES = sorted(each.parent for each in _DATA.glob("*/wire.jsonl"))


def _cues(story: Path) -> list[TimedMessage]:
    return [TimedMessage(0.0, message) for message in dragoman.read(story / "wire.jsonl")]


class _Host:
    """A conversation with the served recording, without pipes or time."""

    def __init__(self, cues: list[TimedMessage]) -> None:
        self.server = ClaudeServer(cues)
        self.conversation = ClaudeConversation()
        self.messages: list[Message] = []
        self.answers: dict[int, object] = {}

    def ask(self, intent: intents.Intent) -> object:
        """The value of an intent, or its refusal."""
        ticket = self.conversation.submit(intent)
        self.pump()
        return self.answers.get(ticket)

    def pump(self) -> None:
        while True:
            lines = self.conversation.lines_to_send()
            for line in lines:
                self.server.receive_line(line, 0.0)
            served = self.server.lines_to_send(0.0)
            for line in served:
                self.conversation.receive_line(line)
            self.messages += self.conversation.messages()
            for answer in self.conversation.answers():
                self.answers[answer.ticket] = answer.refusal or answer.value
            if not lines and not served:
                return

    def open(self) -> intents.SessionFacts:
        self.ask(intents.Greet(client="test", client_version="1"))
        facts = self.ask(intents.OpenSession(cwd="/workspace", access="default"))
        assert isinstance(facts, intents.SessionFacts)
        return facts


@pytest.mark.parametrize("story", _STORIES, ids=lambda story: story.name)
def test_what_is_printed_reads_like_the_recording(story: Path) -> None:
    cues = _cues(story)
    own = next((c.message.session_id for c in cues if c.message.session_id), None)
    parser = StreamJsonParser()
    for _, line in write_print(cues):
        parser.receive_line(line)
    parser.receive_eof()
    made = [m for m in parser.messages() if m.session_id == own]

    texts = [
        c.message.text for c in cues if isinstance(c.message, Text) if c.message.session_id == own
    ]
    ends = [
        c.message for c in cues if isinstance(c.message, TurnEnded) if c.message.session_id == own
    ]
    results = [
        c.message for c in cues if isinstance(c.message, ToolResult) if c.message.session_id == own
    ]
    assert [m.text for m in made if isinstance(m, Text)] == texts
    assert [m.outcome for m in made if isinstance(m, TurnEnded)] == [m.outcome for m in ends]
    assert [(m.call_id, m.output, m.exit_code) for m in made if isinstance(m, ToolResult)] == [
        (m.call_id, m.output, m.exit_code) for m in results
    ]


def _recording(*messages: Message) -> list[TimedMessage]:
    started = SessionStarted(session_id="s", harness="claude", cwd="/workspace", model="m")
    return [TimedMessage(0.0, started), *(TimedMessage(0.0, message) for message in messages)]


def _turn(turn_id: str, *messages: Message, outcome: Outcome = "completed") -> list[Message]:
    place: dict[str, Any] = {"session_id": "s", "turn_id": turn_id}
    return [
        TurnStarted(**place),
        *(msgspec.structs.replace(message, **place) for message in messages),
        TurnEnded(**place, outcome=outcome),
    ]


_CALL = ToolCall(call_id="c", tool="Bash", native_tool="Bash", input={"command": "touch x"})
_ASKED = ApprovalRequested(approval_id="a", kind="command", tool="Bash", detail={"call_id": "c"})
_DONE = ToolResult(call_id="c", output="ok")


def test_a_host_drives_the_recording_turn_by_turn() -> None:
    host = _Host(_recording(*_turn("1", Text(text="One.")), *_turn("2", Text(text="Two."))))
    facts = host.open()
    first = host.ask(intents.StartTurn(session_id=facts.session_id, text="hi"))
    second = host.ask(intents.StartTurn(session_id=facts.session_id, text="again"))
    third = host.ask(intents.StartTurn(session_id=facts.session_id, text="and again"))

    assert (facts.session_id, facts.access) == ("s", "default")
    assert len({first, second, third}) == 3
    assert [m.text for m in host.messages if isinstance(m, Text)] == ["One.", "Two."]
    assert [m.outcome for m in host.messages if isinstance(m, TurnEnded)] == [
        "completed",
        "completed",
        "failed",
    ]


@pytest.mark.parametrize(
    ("decision", "outcome"),
    [("allow", "completed"), ("deny", "completed"), ("cancel", "interrupted")],
)
def test_what_the_recording_asked_is_asked_and_waits(decision: str, outcome: str) -> None:
    host = _Host(_recording(*_turn("1", _CALL, _ASKED, _DONE, Text(text="Done."))))
    facts = host.open()
    host.ask(intents.StartTurn(session_id=facts.session_id, text="do it"))
    asked = [m for m in host.messages if isinstance(m, ApprovalRequested)]
    assert [(m.command, m.kind) for m in asked] == [("touch x", "command")]
    assert not [m for m in host.messages if isinstance(m, TurnEnded)]
    host.ask(intents.Decide(session_id="s", approval_id=asked[0].approval_id, decision=decision))

    assert [m.outcome for m in host.messages if isinstance(m, TurnEnded)] == [outcome]
    settled = [m.decision for m in host.messages if isinstance(m, ApprovalSettled)]
    assert settled == [decision]


def test_an_interrupt_ends_the_turn_and_the_next_prompt_gets_the_next() -> None:
    host = _Host(_recording(*_turn("1", _CALL, _ASKED, _DONE), *_turn("2", Text(text="Two."))))
    facts = host.open()
    turn_id = host.ask(intents.StartTurn(session_id=facts.session_id, text="do it"))
    assert isinstance(turn_id, str)
    host.ask(intents.Interrupt(session_id="s", turn_id=turn_id))
    host.ask(intents.StartTurn(session_id=facts.session_id, text="next"))

    ends = [m.outcome for m in host.messages if isinstance(m, TurnEnded)]
    assert ends == ["interrupted", "completed"]
    assert [m.text for m in host.messages if isinstance(m, Text)] == ["Two."]


def test_steering_joins_the_turn_after_a_result() -> None:
    messages = _turn("1", _CALL, _ASKED, _DONE, Text(text="Done."))
    host = _Host(_recording(*messages))
    facts = host.open()
    turn_id = host.ask(intents.StartTurn(session_id=facts.session_id, text="do it"))
    assert isinstance(turn_id, str)
    steer = intents.Steer(session_id="s", turn_id=turn_id, text="only a.py")
    assert host.ask(steer) == turn_id
    prompts = [m.text for m in host.messages if isinstance(m, Prompt)]
    assert prompts == ["do it"]
    asked = [m for m in host.messages if isinstance(m, ApprovalRequested)]
    host.ask(intents.Decide(session_id="s", approval_id=asked[0].approval_id, decision="allow"))

    joined = [(m.text, m.turn_id) for m in host.messages if isinstance(m, Prompt)]
    assert joined == [("do it", turn_id), ("only a.py", turn_id)]


def test_what_is_not_known_is_refused_and_garbage_is_passed_over() -> None:
    server = ClaudeServer(_recording())
    for line in (b"garbage", b"[]", b"{}", b'{"type":"user"}', b'{"type":"control_response"}'):
        server.receive_line(line, 0.0)
    server.lines_to_send(0.0)
    request = {"type": "control_request", "request_id": "1", "request": {"subtype": "nonsense"}}
    server.receive_line(msgspec.json.encode(request), 0.0)
    (answer,) = server.lines_to_send(0.0)
    assert msgspec.json.decode(answer)["response"]["error_code"] == "unsupported_request"
