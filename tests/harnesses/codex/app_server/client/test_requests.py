"""Requests of the server, and our answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman import (
    ApprovalRequested,
    ApprovalSettled,
    ToolResult,
    Unknown,
)
from dragoman.harnesses.contract.conversation import Answer
from dragoman.model import intents
from dragoman.model.answers import Model
from support.codex.app_server_talk import command_request, decide, in_turn, note, turn_completed

# What the server asks.


@pytest.mark.parametrize("decision", ["allow", "allow_for_session", "deny", "cancel"])
def test_a_decision_is_one_answer_and_one_message(decision: str) -> None:
    talk = in_turn()
    talk.hear(command_request())
    ticket = talk.ask(decide(decision))
    assert talk.answer(ticket) == Answer(ticket)
    talk.hear(note("serverRequest/resolved", threadId="t1", requestId=0), turn_completed())
    assert [message.decision for message in talk.said(ApprovalSettled)] == [decision]
    assert len([line for line in talk.sent if "result" in line]) == 1
    assert "nothing is open under 'c1'" in talk.refusal(talk.ask(decide(decision))).message


def test_a_word_that_is_no_decision_leaves_the_question_open() -> None:
    talk = in_turn()
    talk.hear(command_request())
    assert "'perhaps' is no answer" in talk.refusal(talk.ask(decide("perhaps"))).message
    assert talk.answer(talk.ask(decide("allow"))).refusal is None


@pytest.mark.parametrize("end", ["serverRequest/resolved", "turn/completed"])
def test_what_needs_no_answer_any_more_takes_none(end: str) -> None:
    talk = in_turn()
    talk.hear(command_request())
    resolved = note("serverRequest/resolved", threadId="t1", requestId=0)
    talk.hear(resolved if end == "serverRequest/resolved" else turn_completed())
    assert talk.refusal(talk.ask(decide("allow"))).kind == "response_error"
    assert [message.decision for message in talk.said(ApprovalSettled)] == ["resolved"]


def test_what_others_were_asked_stays_open() -> None:
    talk = in_turn()
    talk.hear(
        command_request(0, threadId="t2", turnId="v1"),
        command_request(1, itemId="c3", turnId="u0"),
        command_request(2),
        note("serverRequest/resolved", threadId="t1", requestId=None),
        turn_completed(),
    )
    assert talk.refusal(talk.ask(decide("allow"))).kind == "response_error"
    assert talk.answer(talk.ask(decide("allow", "c3"))).refusal is None
    other = intents.Decide(session_id="t2", approval_id="c1", decision="allow")
    assert talk.answer(talk.ask(other)).refusal is None


def test_an_item_may_be_asked_about_twice() -> None:
    talk = in_turn()
    talk.hear(command_request())
    talk.ask(decide("allow"))
    talk.hear(command_request(1))
    assert [message.approval_id for message in talk.said(ApprovalRequested)] == ["c1", "c1-2"]
    talk.ask(decide("deny", "c1-2"))
    assert [message.decision for message in talk.said(ApprovalSettled)] == ["allow", "deny"]


def _event(name: str, **msg: Any) -> dict[str, Any]:
    return note(f"codex/event/{name}", conversationId="t1", id="u1", msg={"type": name} | msg)


def test_who_decides_before_the_request_has_come_is_kept_waiting() -> None:
    talk = in_turn((0, 104, 0))
    talk.hear(_event("exec_approval_request", call_id="c1", command=["ls"], cwd="/w"))
    assert len(talk.said(ApprovalRequested)) == 1
    assert "no answer" in talk.refusal(talk.ask(decide("perhaps"))).message
    ticket = talk.ask(decide("allow"))
    assert talk.answer(ticket) == Answer(ticket)
    assert talk.refusal(talk.ask(decide("deny"))).kind == "response_error"
    sent = len(talk.sent)
    talk.hear(command_request())
    assert talk.sent[sent:] == [{"id": 0, "result": {"decision": "accept"}}]
    assert [message.decision for message in talk.said(ApprovalSettled)] == ["allow"]


def test_a_decision_that_waits_for_its_request_is_dropped_with_the_turn() -> None:
    talk = in_turn((0, 104, 0))
    talk.hear(_event("exec_approval_request", call_id="c1", command=["ls"], cwd="/w"))
    talk.ask(decide("allow"))
    talk.hear(turn_completed(), command_request(turnId="u2"))
    assert not [line for line in talk.sent if "result" in line]


def test_a_tool_of_ours_is_called_and_answered_once() -> None:
    talk = in_turn()
    params: dict[str, Any] = {"threadId": "t1", "turnId": "u1", "callId": "k1", "tool": "look"}
    talk.hear({"method": "item/tool/call", "id": 0, "params": params | {"arguments": {}}})
    (request,) = talk.conversation.tool_requests()
    assert (request.session_id, request.call_id, request.tool) == ("t1", "k1", "look")
    assert talk.refusal(talk.ask(decide("allow", "k1"))).kind == "response_error"
    answer = intents.AnswerTool(session_id="t1", call_id="k1", output="open", success=False)
    assert talk.answer(talk.ask(answer)).refusal is None
    assert talk.refusal(talk.ask(answer)).kind == "response_error"
    assert [(m.call_id, m.is_error) for m in talk.said(ToolResult)] == [("k1", True)]


def test_what_nobody_can_answer_is_refused_at_once_and_kept() -> None:
    talk = in_turn()
    talk.hear(
        {"method": "attestation/generate", "id": 0, "params": {}},
        {"method": "account/chatgptAuthTokens/refresh", "id": 1, "params": {}},
        {"method": "currentTime/read", "id": 2, "params": {"threadId": "t1"}},
        {"method": "new/thing", "id": 3, "params": {}},
        {"method": "item/fileChange/requestApproval", "id": 4, "params": {"itemId": 7}},
    )
    refused = {line["id"]: line["error"]["code"] for line in talk.sent if "error" in line}
    assert refused == {0: -32000, 1: -32000, 2: -32000, 3: -32601, 4: -32602}
    assert talk.said(Unknown)[0].native_type == "new/thing"
    # Their id 3 was also one of ours: refusing it settled nothing of ours.
    ticket = talk.ask(intents.ListModels())
    talk.reply(data=[{"id": "m"}])
    assert talk.answer(ticket).value == [Model(id="m", label="m", native={"id": "m"})]


def test_the_time_is_told_if_somebody_knows_it() -> None:
    talk = in_turn(now=lambda: int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()))
    talk.hear({"method": "currentTime/read", "id": 2, "params": {"threadId": "t1"}})
    assert talk.sent[-1] == {"id": 2, "result": {"currentTimeAt": 1767225600}}
