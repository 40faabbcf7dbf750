"""The parts of a conversation that all agents on this wire share."""

from __future__ import annotations

import json
from typing import Any

from dragoman.harnesses.contract.conversation import Refusal
from dragoman.harnesses.stream_json.driving.approvals import OpenApprovals
from dragoman.harnesses.stream_json.driving.channel import ControlChannel
from dragoman.harnesses.stream_json.driving.heard import is_plain, long_request, long_response
from dragoman.harnesses.stream_json.driving.tools import ToolServers
from dragoman.harnesses.stream_json.driving.turns import PromptedTurns
from dragoman.model.intents import AnswerTool, Decide, ToolSpec


def _sent(channel: ControlChannel) -> list[dict[str, Any]]:
    return [json.loads(line) for line in channel.lines_to_send()]


def test_every_request_of_ours_gets_one_answer() -> None:
    channel = ControlChannel()
    answers: list[tuple[dict[str, Any], Refusal | None]] = []
    for subtype in ("one", "two", "three"):
        channel.request(subtype, lambda result, refusal: answers.append((result, refusal)))
    one, two, _ = [each["request_id"] for each in _sent(channel)]
    channel.receive_response({"subtype": "success", "request_id": one, "response": {"x": 1}})
    channel.receive_response({"subtype": "error", "request_id": two, "error": "no"})
    channel.receive_response({"subtype": "success", "request_id": one, "response": {"x": 2}})
    channel.receive_eof()

    assert [result for result, _ in answers] == [{"x": 1}, {}, {}]
    kinds = [refusal.kind for _, refusal in answers if refusal is not None]
    assert kinds == ["response_error", "port_exit"]


def test_a_request_that_is_open_is_answered_once() -> None:
    channel = ControlChannel()

    def answer_to(request: dict[str, Any], intent: Decide) -> dict[str, Any] | None:
        return {"behavior": intent.decision} if intent.decision == "allow" else None

    approvals = OpenApprovals(channel, answer_to)
    approvals.add("a", "r", {"tool_name": "toy"})
    wrong = approvals.decide(Decide(session_id="s", approval_id="a", decision="answered"))
    right = approvals.decide(Decide(session_id="s", approval_id="a", decision="allow"))
    late = approvals.decide(Decide(session_id="s", approval_id="a", decision="allow"))

    assert wrong is not None
    assert "'answered' does not answer a request about toy" in wrong.message
    assert right is None
    assert late is not None
    assert "it was settled" in late.message
    assert [each["response"]["response"] for each in _sent(channel)] == [{"behavior": "allow"}]


def test_a_turn_that_is_given_up_leaves_no_request_without_an_answer() -> None:
    channel = ControlChannel()
    approvals = OpenApprovals(channel, lambda request, intent: {})
    approvals.add("a", "r1", {})
    approvals.add("b", "r2", {})
    approvals.cancel("r2")
    approvals.refuse_all("given up")

    assert [(each["response"]["request_id"]) for each in _sent(channel)] == ["r1"]


def test_a_prompt_for_an_agent_at_work_joins_its_turn_or_waits() -> None:
    def sent(*, joins: bool) -> tuple[str | None, list[str]]:
        turns = PromptedTurns(joins=joins)
        turns.sent("one", 1)
        turns.begin("one")
        second = turns.sent("two", 2)
        joined = second.joins
        return joined, [each.uuid for each in turns.result(())]

    assert sent(joins=True)[0] == "one"
    assert sent(joins=False) == (None, ["one"])


def test_our_tools_are_called_through_the_control_protocol() -> None:
    channel = ControlChannel()
    servers = ToolServers(channel)
    call = {"method": "tools/call", "id": 4, "params": {"name": "lookup", "arguments": {"n": 1}}}
    servers.receive("r", "dragoman", call)
    assert servers.requests() == []  # the session is not open yet

    servers.open("s", [ToolSpec(name="lookup", description="", input_schema={})])
    (request,) = servers.requests()
    assert (request.call_id, request.tool, request.arguments) == ("r", "lookup", {"n": 1})
    assert servers.answer(AnswerTool(session_id="s", call_id="r", output="door")) is None
    (answer,) = _sent(channel)
    rpc = answer["response"]["response"]["mcp_response"]
    assert (rpc["id"], rpc["result"]["content"]) == (4, [{"type": "text", "text": "door"}])


def test_a_line_that_is_too_long_is_answered_by_its_beginning() -> None:
    head = b'{"type":"control_request","request_id":"r-1","request":{"subtype":"can_use_tool"'
    assert long_request(head) == "r-1"
    assert long_response(head) is None
    head = b'{"type":"control_response","response":{"subtype":"success","request_id":"d-2","re'
    assert long_response(head) == "d-2"
    assert is_plain(b'{"type":"stream_event","event":{}}')
    assert not is_plain(b'{"type":"result"}')
