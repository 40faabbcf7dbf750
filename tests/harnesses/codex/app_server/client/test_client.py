"""Live exchanges with the app-server: recordings of real ones, and each rule by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Prompt,
    ToolCall,
    ToolResult,
    TurnEnded,
    Unknown,
)
from dragoman.harnesses.codex.app_server.client.conversation import AppServerConversation
from dragoman.harnesses.codex.app_server.parser import AppServerParser
from dragoman.harnesses.contract.conversation import Answer
from dragoman.model import intents
from dragoman.wire.lines import LongLine
from support.codex.app_server_talk import (
    STALLED,
    TICKET,
    Talk,
    command_request,
    decide,
    in_turn,
    item_completed,
    open_session,
    opened,
)

RECORDINGS = Path(__file__).parents[4] / "data" / "codex"


# Recordings of the real program, driven by this conversation.


class Player:
    """The same few wishes for every release, each as soon as it can be had."""

    def __init__(self, conversation: AppServerConversation, opening: intents.OpenSession) -> None:
        self.conversation = conversation
        self.messages: list[Message] = []
        self.answers: list[Answer] = []
        self._opening: list[intents.Intent] = [opening]
        self._decisions = ["allow", "deny", "allow_for_session"]
        conversation.submit(intents.Greet(client="dragoman", client_version="0.1.0"))

    def lines(self) -> list[bytes]:
        sent: list[bytes] = []
        while True:
            lines = self.conversation.lines_to_send()
            messages = self.conversation.messages()
            tools = self.conversation.tool_requests()
            answers = self.conversation.answers()
            if not (lines or messages or tools or answers):
                return sent
            sent += lines
            self.messages += messages
            self.answers += answers
            for wish in [*map(self._react, messages), *map(self._go_on, answers)]:
                if wish is not None:
                    self.conversation.submit(wish)
            for tool in tools:
                assert (tool.tool, tool.arguments) == ("lookup_ticket", {"id": "ABC-123"})
                self.conversation.submit(
                    intents.AnswerTool(
                        session_id=tool.session_id,
                        call_id=tool.call_id,
                        output="Ticket ABC-123 is open",
                    )
                )

    def _react(self, message: Message) -> intents.Intent | None:
        if not isinstance(message, ApprovalRequested):
            return None
        return intents.Decide(
            session_id=message.session_id or "",
            approval_id=message.approval_id,
            decision=self._decisions.pop(0),
        )

    def _go_on(self, answer: Answer) -> intents.Intent | None:
        if isinstance(answer.value, intents.SessionFacts):
            return intents.StartTurn(session_id=answer.value.session_id, text="do it")
        return self._opening.pop(0) if self._opening else None


@pytest.mark.parametrize("release", ["0.66.0", "0.104.0", "0.142.0", "0.166.0"])
def test_a_real_exchange_is_had_again_line_by_line(release: str) -> None:
    recording = RECORDINGS / "conversations" / f"{release}.jsonl"
    wrapped = recording.read_bytes().splitlines()
    if b"task_complete" in wrapped[-1]:  # the recording stops at the event, before the notification
        params = json.loads(wrapped[-1])["msg"]["params"]
        over: dict[str, Any] = {
            "id": params["id"],
            "items": [],
            "status": "completed",
            "error": None,
        }
        told = {"threadId": params["conversationId"], "turn": over}
        last = {"dir": "recv", "msg": {"method": "turn/completed", "params": told}}
        wrapped.append(json.dumps(last).encode())
    exchange = [json.loads(line) for line in wrapped]
    has_tools = release != "0.66.0"
    opening = intents.OpenSession(
        cwd="/workspace",
        sandbox="read-only",
        approvals="on-request" if release == "0.166.0" else "untrusted",
        tools=[TICKET] if has_tools else [],
    )
    player = Player(AppServerConversation(), opening)
    to_send = player.lines()
    for line in exchange:
        if line["dir"] == "send":
            assert json.loads(to_send.pop(0)) == line["msg"]
        else:
            assert to_send == []
            player.conversation.receive_line(json.dumps(line["msg"]).encode())
            to_send = player.lines()
    assert to_send == []
    facts, session, turn = player.answers[:3]
    assert facts.value.version == release
    assert session.value.approvals in ("on-request", "untrusted", "unlessTrusted")
    ended = player.messages[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.outcome, ended.turn_id) == ("completed", turn.value)
    assert all(answer.refusal is None for answer in player.answers)
    settled = [m.decision for m in player.messages if isinstance(m, ApprovalSettled)]
    assert settled == ["allow", "deny", "allow_for_session"]
    told = [m for m in player.messages if isinstance(m, ToolResult)]
    assert len(told) == (4 if has_tools else 3)
    # Whoever reads the journal later is told the same, under the same line numbers.
    reader = AppServerParser()
    reader.receive_lines(wrapped)
    again = [message for message in reader.messages() if not isinstance(message, Unknown)]
    assert again == player.messages


@pytest.mark.parametrize(
    ("case", "decision"),
    [
        ("codex-app-server/approval-0.160", intents.Decide),
        ("codex-app-server/approval-mcp-0.166", intents.Decide),
        ("codex-app-server/question-0.166", intents.Decide),
        ("codex-app-server/dynamic-tool-0.166", intents.AnswerTool),
    ],
)
def test_our_answers_are_those_that_another_client_gave(case: str, decision: type) -> None:
    lines = (RECORDINGS / case / "wire.jsonl").read_text().splitlines()
    talk = Talk((0, 166, 0))
    answered: list[Any] = []
    for line in map(json.loads, lines):
        if line["dir"] == "recv":
            talk.conversation.receive_line(json.dumps(line["msg"]).encode())
            talk.pump()
        elif "method" not in line["msg"]:
            answered.append(line["msg"])
            talk.ask(_as_recorded(talk, line["msg"]["result"], decision))
    ours = [line for line in talk.sent if "method" not in line]
    assert ours == answered != []


def _as_recorded(talk: Talk, result: dict[str, Any], kind: type) -> intents.Intent:
    if kind is intents.AnswerTool:
        call = talk.said(ToolCall)[-1]
        return intents.AnswerTool(
            session_id=call.session_id or "",
            call_id=call.call_id,
            output=result["contentItems"][0]["text"],
            success=result["success"],
        )
    asked = talk.said(ApprovalRequested)[-1]
    answers = {name: given["answers"] for name, given in result.get("answers", {}).items()}
    words = {"accept": "allow", "decline": "deny", "acceptForSession": "allow_for_session"}
    word = result.get("decision") or result.get("action") or "accept"
    return intents.Decide(
        session_id=asked.session_id or "",
        approval_id=asked.approval_id,
        decision="answered" if answers else words.get(word, word),
        answers=answers,
    )


# The end, and odd lines.


def test_the_end_refuses_what_is_open_and_fails_the_turn() -> None:
    talk = in_turn()
    talk.hear(command_request())
    ticket = talk.ask(intents.ListModels())
    talk.conversation.receive_eof()
    talk.pump()
    assert talk.refusal(ticket).kind == "port_exit"
    (ended,) = talk.said(TurnEnded)
    assert ended.outcome == "failed"
    assert ended.error is not None
    assert (ended.error.kind, ended.error.retryable) == ("port_exit", True)
    assert [message.decision for message in talk.said(ApprovalSettled)] == ["resolved"]
    for late in (intents.ListModels(), decide("allow")):
        assert talk.refusal(talk.ask(late)).kind == "port_exit"


def test_a_turn_that_was_ended_before_the_end_is_not_ended_again() -> None:
    talk = in_turn()
    talk.conversation.end_turn("t1", "interrupted")
    talk.conversation.receive_eof()
    talk.pump()
    assert [message.outcome for message in talk.said(TurnEnded)] == ["interrupted"]


def test_an_answer_that_is_too_long_to_keep_is_a_refusal() -> None:
    talk = Talk()
    ticket = talk.ask(intents.ReadSession(session_id="t1"))
    head = b'{"id":1,"result":{"thread":'
    talk.conversation.receive_long_line(LongLine(head=head, tail=b"}}", length=10**9))
    talk.conversation.receive_long_line(LongLine(head=b'{"method":', tail=b"}}", length=10**9))
    talk.pump()
    assert talk.refusal(ticket).message == "thread/read: too long to read"


def test_answers_are_given_to_who_asked_and_not_told() -> None:
    talk = Talk()
    talk.ask(intents.ListModels())
    talk.reply(data=[])
    assert talk.messages == []


def test_a_prompt_comes_with_its_turn() -> None:
    talk = in_turn()
    item = {"type": "userMessage", "id": "i1", "content": [{"type": "text", "text": "go"}]}
    talk.hear(item_completed("u1", **item))
    assert [(m.text, m.turn_id) for m in talk.said(Prompt)] == [("go", "u1")]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


_METHODS = st.sampled_from(
    [
        "turn/completed",
        "turn/started",
        "serverRequest/resolved",
        "account/login/completed",
        "item/tool/call",
        "item/commandExecution/requestApproval",
        "mcpServer/elicitation/request",
        "currentTime/read",
        "codex/event/task_started",
        "x",
    ]
)


_PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "threadId": _JSON | st.just("t1"),
        "turnId": _JSON | st.just("u1"),
        "turn": _JSON | st.just({"id": "u1"}),
        "itemId": _JSON,
        "requestId": _JSON,
    },
)


_LINES = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(0, 4) | _JSON,
        "method": _METHODS | _JSON,
        "params": _PARAMS | _JSON,
        "result": _JSON | st.just(opened()),
        "error": _JSON,
    },
)


@given(st.lists(_LINES.map(lambda line: json.dumps(line).encode()) | st.binary(max_size=20)))
def test_nothing_they_say_raises(lines: list[bytes]) -> None:
    talk = Talk()
    talk.ask(intents.Greet(client="d", client_version="1", api_key="k"))
    talk.ask(open_session(resume="t0", or_new=True))
    talk.ask(intents.StartTurn(session_id="t1", text="go"))
    tickets = 3
    for line in lines:
        talk.conversation.receive_line(line)
        talk.pump()
        for asked in talk.said(ApprovalRequested):
            talk.ask(decide("allow", asked.approval_id))
            tickets += 1
    talk.conversation.end_turn("t1", "failed", STALLED)
    talk.conversation.receive_eof()
    talk.pump()
    assert sorted(answer.ticket for answer in talk.answers) == list(range(1, tickets + 1))
