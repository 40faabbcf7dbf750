"""Every question that the server may ask gets exactly one fitting answer.

A model of it: all kinds of requests, all decisions, all releases that spell them differently, and whatever
may come between the question and the answer.
"""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.app_server.client.conversation import AppServerConversation
from dragoman.harnesses.codex.app_server.client.decisions import DECIDED, STOPS_NOTHING
from dragoman.model import intents
from dragoman.model.fitting import DECISIONS, unfit
from dragoman.model.messages import ApprovalRequested, ApprovalSettled, Message

_IN: Final = {"threadId": "t1", "turnId": "u1"}
_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}},
    "required": ["name"],
}
_NOTHING_TO_FILL_IN: Final[dict[str, Any]] = {"type": "object", "properties": {}}
_TOOL: Final = {"codex_approval_kind": "mcp_tool_call", "persist": ["session", "always"]}
REQUESTS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "command": (
        "item/commandExecution/requestApproval",
        {**_IN, "itemId": "c", "command": "ls", "cwd": "/w"},
    ),
    "command with a rule": (
        "item/commandExecution/requestApproval",
        {**_IN, "itemId": "c", "command": "ls", "proposedExecpolicyAmendment": ["ls"]},
    ),
    "input": (
        "item/commandExecution/requestApproval",
        {**_IN, "itemId": "c", "approvalId": "a", "kind": "writeStdin", "command": "y"},
    ),
    "network": (
        "item/commandExecution/requestApproval",
        {**_IN, "itemId": "c", "networkApprovalContext": {"host": "a.b", "protocol": "https"}},
    ),
    "edit": ("item/fileChange/requestApproval", {**_IN, "itemId": "c", "grantRoot": "/w"}),
    "permissions": (
        "item/permissions/requestApproval",
        {**_IN, "itemId": "c", "permissions": {"network": {"enabled": True}}},
    ),
    "question": (
        "item/tool/requestUserInput",
        {**_IN, "itemId": "c", "questions": [{"id": "q", "question": "Which?"}]},
    ),
    "form": (
        "mcpServer/elicitation/request",
        {**_IN, "serverName": "s", "mode": "form", "message": "?", "requestedSchema": _FORM},
    ),
    "address": (
        "mcpServer/elicitation/request",
        {**_IN, "serverName": "s", "mode": "url", "message": "?", "url": "https://a.b"},
    ),
    "tool": (
        "mcpServer/elicitation/request",
        {
            **_IN,
            "serverName": "s",
            "mode": "form",
            "message": "?",
            "requestedSchema": _NOTHING_TO_FILL_IN,
            "_meta": _TOOL,
        },
    ),
    "old command": (
        "execCommandApproval",
        {"conversationId": "t1", "callId": "c", "command": ["ls"], "cwd": "/w"},
    ),
    "old edit": (
        "applyPatchApproval",
        {"conversationId": "t1", "callId": "c", "fileChanges": {"a": {"delete": {}}}},
    ),
}
RELEASES: Final = [(0, 60, 1), (0, 77, 0), (0, 104, 0), (0, 133, 0), (0, 153, 0), (0, 166, 0), None]
GIVEN: Final[list[tuple[Any, Any]]] = [
    ({}, None),
    ({"q": ["x"]}, None),
    ({"q": []}, None),
    ({"other": ["x"]}, None),
    ({}, {}),
    ({}, {"name": "Ada"}),
    ({}, {"name": ""}),
]


class Server:
    """Plays the server's side of one turn."""

    def __init__(self, release: tuple[int, int, int] | None) -> None:
        self.talk = AppServerConversation(release)
        self.messages: list[Message] = []
        self.sent: list[dict[str, Any]] = []
        self.say({"method": "thread/started", "params": {"thread": {"id": "t1", "cwd": "/w"}}})
        self.say({"method": "turn/started", "params": {"threadId": "t1", "turn": {"id": "u1"}}})

    def say(self, *lines: dict[str, Any]) -> None:
        for line in lines:
            self.talk.receive_line(json.dumps(line).encode())
        self._drain()

    def _drain(self) -> None:
        self.sent += [json.loads(line) for line in self.talk.lines_to_send()]
        self.messages += self.talk.messages()

    def ask(self, what: str, request_id: int = 7) -> ApprovalRequested:
        method, params = REQUESTS[what]
        self.say({"id": request_id, "method": method, "params": params})
        return next(m for m in reversed(self.messages) if isinstance(m, ApprovalRequested))

    def decide(self, request: ApprovalRequested, word: str, answers: Any, content: Any) -> bool:
        """Whether it was taken."""
        ticket = self.talk.submit(
            intents.Decide(
                session_id="t1",
                approval_id=request.approval_id,
                decision=word,
                answers=answers,
                content=content,
            )
        )
        self._drain()
        [answer] = [each for each in self.talk.answers() if each.ticket == ticket]
        return answer.refusal is None

    def answers_to(self, request_id: int = 7) -> list[dict[str, Any]]:
        return [line for line in self.sent if line.get("id") == request_id and "method" not in line]

    @property
    def stops(self) -> list[dict[str, Any]]:
        return [line["params"] for line in self.sent if line.get("method") == "turn/interrupt"]

    @property
    def settled(self) -> list[str]:
        return [each.decision for each in self.messages if isinstance(each, ApprovalSettled)]


@pytest.mark.parametrize("release", RELEASES, ids=str)
@pytest.mark.parametrize("what", REQUESTS)
def test_a_fitting_decision_is_sent_and_another_leaves_the_question_open(
    what: str, release: tuple[int, int, int] | None
) -> None:
    for word in DECISIONS:
        for answers, content in GIVEN:
            server = Server(release)
            request = server.ask(what)
            fits = unfit(request, word, answers, content) is None
            taken = server.decide(request, word, answers, content)
            if fits:
                assert taken, (word, answers, content)
            if not taken:
                assert server.answers_to() == []
                assert server.settled == []
                assert server.decide(request, "deny", {}, None)
                assert server.settled == ["deny"]
            assert len(server.answers_to()) == 1
            assert "error" not in server.answers_to()[0]
            assert len(server.settled) == 1
            assert not server.decide(request, "allow", {"q": ["x"]}, {"name": "Ada"})
            assert len(server.answers_to()) == 1


@pytest.mark.parametrize("release", RELEASES, ids=str)
@pytest.mark.parametrize("what", REQUESTS)
def test_cancel_stops_the_turn(what: str, release: tuple[int, int, int] | None) -> None:
    server = Server(release)
    request = server.ask(what)
    assert server.decide(request, "cancel", {}, None)
    assert server.settled == ["cancel"] or REQUESTS[what][0] in STOPS_NOTHING
    if REQUESTS[what][0] in STOPS_NOTHING:
        assert server.stops == [{"threadId": "t1", "turnId": "u1"}]
    else:
        [answer] = server.answers_to()
        assert answer["result"]["decision"] in ("cancel", "abort")
    server = Server(release)
    server.decide(server.ask(what), "deny", {}, None)
    assert server.stops == []


_BETWEEN: Final = {
    "the turn ends": {
        "method": "turn/completed",
        "params": {"threadId": "t1", "turn": {"id": "u1", "status": "completed"}},
    },
    "the server settles it": {
        "method": "serverRequest/resolved",
        "params": {"threadId": "t1", "requestId": 7},
    },
}


@pytest.mark.parametrize("between", [*_BETWEEN, "the server leaves", "we give the turn up"])
@pytest.mark.parametrize("what", REQUESTS)
def test_what_is_over_is_answered_no_more(what: str, between: str) -> None:
    server = Server(None)
    request = server.ask(what)
    if between in _BETWEEN:
        server.say(_BETWEEN[between])
    elif between == "the server leaves":
        server.talk.receive_eof()
    else:
        server.talk.end_turn("t1", "interrupted")
    for word in DECISIONS:
        assert not server.decide(request, word, {"q": ["x"]}, {"name": "Ada"})
    assert server.stops == []
    answers = server.answers_to()
    if between == "we give the turn up":  # the server may still wait
        assert [answer["error"]["code"] for answer in answers] == [-32000]
    else:
        assert answers == []


def test_every_request_that_waits_for_a_decision_is_in_the_model() -> None:
    assert {method for method, _ in REQUESTS.values()} == DECIDED


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_an_early_answer_to_a_question_is_sent_when_the_request_comes(
    release: tuple[int, int, int] | None,
) -> None:
    """Up to 0.114 an event asks a moment before the request does."""
    server = Server(release)
    msg = {
        "type": "request_user_input",
        "call_id": "c",
        "questions": [{"id": "q", "question": "Which?"}],
    }
    server.say(
        {
            "method": "codex/event/request_user_input",
            "params": {"conversationId": "t1", "id": "u1", "msg": msg},
        }
    )
    request = next(m for m in server.messages if isinstance(m, ApprovalRequested))
    assert server.decide(request, "answered", {"q": ["x"]}, None)
    server.ask("question")
    assert server.answers_to() == [{"id": 7, "result": {"answers": {"q": {"answers": ["x"]}}}}]


def test_an_early_answer_that_does_not_fit_becomes_a_refusal() -> None:
    server = Server((0, 104, 0))
    msg = {"type": "exec_approval_request", "call_id": "c", "command": ["ls"], "cwd": "/w"}
    server.say(
        {
            "method": "codex/event/exec_approval_request",
            "params": {"conversationId": "t1", "id": "u1", "msg": msg},
        }
    )
    request = next(m for m in server.messages if isinstance(m, ApprovalRequested))
    assert server.decide(request, "answered", {"q": ["x"]}, None)
    server.ask("command")
    assert server.answers_to() == [{"id": 7, "result": {"decision": "decline"}}]


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(sorted(REQUESTS)), st.sampled_from(DECISIONS), st.sampled_from(GIVEN)
    ),
    max_size=6,
)


@given(steps=_STEPS, release=st.sampled_from(RELEASES))
def test_ids_are_unique_and_each_request_is_answered_once(
    steps: list[tuple[str, str, tuple[Any, Any]]], release: tuple[int, int, int] | None
) -> None:
    server = Server(release)
    ids: list[str] = []
    for number, (what, word, (answers, content)) in enumerate(steps):
        request = server.ask(what, number)
        ids.append(request.approval_id)
        if not server.decide(request, word, answers, content):
            assert server.decide(request, "deny", {}, None)
        assert len(server.answers_to(number)) == 1
    assert len(set(ids)) == len(ids)


def test_ids_of_another_process_are_other_ids() -> None:
    """A new process counts its requests from 0 again; the next turn has another name."""
    first, second = Server(None), Server(None)
    second.say({"method": "turn/started", "params": {"threadId": "t1", "turn": {"id": "u2"}}})
    one = first.ask("form", 0)
    method, params = REQUESTS["form"]
    second.say({"id": 0, "method": method, "params": {**params, "turnId": "u2"}})
    two = next(m for m in reversed(second.messages) if isinstance(m, ApprovalRequested))
    assert one.approval_id != two.approval_id
