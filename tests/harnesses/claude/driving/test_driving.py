"""The conversation with Claude, line by line."""

from __future__ import annotations

from typing import Any, cast

import msgspec
import pytest

from dragoman.errors import Unsupported
from dragoman.model import intents
from dragoman.model.messages import (
    ApprovalSettled,
    Prompt,
    Text,
    ToolResult,
    TurnEnded,
    TurnStarted,
)
from dragoman.wire.lines import LongLine
from harnesses.claude.driving.scripted import SESSION, Scripted


@pytest.fixture
def claude() -> Scripted:
    return Scripted()


def _start(text: str = "hi", **options: Any) -> intents.StartTurn:
    return msgspec.convert({"session_id": SESSION, "text": text, **options}, intents.StartTurn)


# Opening.


def test_a_greeting_tells_who_answers(claude: Scripted) -> None:
    ticket = claude.submit(intents.Greet(client="test", client_version="1"))
    claude.answered(
        "initialize",
        {
            "claude_code_version": "2.1.327",
            "account": {"tokenSource": "none", "apiKeySource": "ANTHROPIC_API_KEY"},
            "models": [{"value": "opus", "displayName": "Opus", "supportedEffortLevels": ["low"]}],
        },
    )
    facts = claude.value(ticket)
    assert (facts.version, facts.signed_in, facts.needs_sign_in) == ("2.1.327", True, False)
    models = claude.value(claude.submit(intents.ListModels()))
    assert [(each.id, each.label, each.efforts) for each in models] == [("opus", "Opus", ["low"])]


def test_no_key_and_no_token_need_a_sign_in(claude: Scripted) -> None:
    ticket = claude.submit(intents.Greet(client="test", client_version="1"))
    claude.answered("initialize", {"account": {"tokenSource": "none", "apiProvider": "firstParty"}})
    assert claude.value(ticket).needs_sign_in


def test_a_session_is_open_when_its_mode_is_confirmed(claude: Scripted) -> None:
    facts = claude.value(claude.open("acceptEdits"))
    assert (facts.session_id, facts.access) == (SESSION, "acceptEdits")


@pytest.mark.parametrize("confirmed", ["bypassPermissions", "plan", "somethingNew"])
def test_another_mode_than_requested_is_refused(claude: Scripted, confirmed: str) -> None:
    refusal = claude.refusal(claude.open("default", confirmed))
    assert refusal.kind == "authority"
    assert confirmed in refusal.message


def test_a_mode_that_cannot_be_set_is_refused(claude: Scripted) -> None:
    ticket = claude.submit(intents.OpenSession(cwd="/w", access="bypassPermissions"))
    claude.answered("set_permission_mode", error="disabled by your organization")
    claude.answered("mcp_status", {})
    assert claude.refusal(ticket).kind == "authority"
    assert "disabled by your organization" in claude.refusal(ticket).message


def test_a_process_that_will_not_work_is_quoted(claude: Scripted) -> None:
    ticket = claude.submit(intents.Greet(client="test", client_version="1"))
    claude.result(is_error=True, errors=["No conversation found with session ID: x"])
    claude.leave()
    assert claude.refusal(ticket).kind == "response_error"
    assert claude.refusal(ticket).message.startswith("No conversation found")


def test_more_access_than_granted_ends_the_turn(claude: Scripted) -> None:
    claude.open("default")
    claude.begin()
    claude.say(type="system", subtype="status", status=None, permissionMode="bypassPermissions")
    (ended,) = claude.of(TurnEnded)
    assert (ended.outcome, ended.error.kind) == ("failed", "authority")
    assert claude.subtypes()[-2:] == ["interrupt", "set_permission_mode"]


# Turns.


def test_a_turn_has_the_id_of_its_prompt_and_one_end(claude: Scripted) -> None:
    claude.open()
    turn_id = claude.begin("first")
    claude.text("One.")
    claude.result(turn_id)
    claude.report(turn_id, "completed")
    assert turn_id == "prompt-1"
    assert [each.text for each in claude.of(Prompt, Text)] == ["first", "One."]
    assert [each.turn_id for each in claude.of(TurnStarted, TurnEnded)] == [turn_id, turn_id]


def test_the_model_and_the_effort_are_set_before_the_prompt(claude: Scripted) -> None:
    claude.open()
    ticket = claude.submit(_start(model="opus", effort="low"))
    assert claude.sent[-1]["type"] == "control_request"
    claude.answered("set_model", {"model": "opus"})
    claude.answered("apply_flag_settings", {})
    assert claude.sent[-1]["type"] == "user"
    assert ticket not in claude.answers
    claude.submit(_start(model="opus", effort="low"))
    assert claude.subtypes().count("set_model") == 1, "it is set already"


def test_a_model_that_is_refused_refuses_the_turn(claude: Scripted) -> None:
    claude.open()
    ticket = claude.submit(_start(model="nope"))
    claude.answered("set_model", error="no such model")
    assert "no such model" in claude.refusal(ticket).message
    assert claude.sent[-1]["type"] != "user"


@pytest.mark.parametrize(
    "options",
    [
        {"output_schema": {"type": "object"}},
        {"sandbox_policy": {"type": "readOnly"}},
        {"cwd": "/elsewhere"},
        {"images": ["a.png"]},
    ],
)
def test_what_a_turn_cannot_have_is_refused_before_anything_is_sent(
    claude: Scripted, options: dict[str, Any]
) -> None:
    claude.open()
    before = len(claude.sent)
    with pytest.raises(Unsupported):
        claude.submit(_start(**options))
    assert len(claude.sent) == before


def test_images_are_blocks(claude: Scripted) -> None:
    claude.open()
    claude.submit(_start(images=["data:image/png;base64,AAAA", "https://example.com/a.png"]))
    content = claude.sent[-1]["message"]["content"]
    assert [each["type"] for each in content] == ["image", "image", "text"]
    assert content[0]["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}


def test_a_steer_is_pending_until_claude_takes_it_up(claude: Scripted) -> None:
    claude.open()
    turn_id = claude.begin()
    ticket = claude.submit(intents.Steer(session_id=SESSION, turn_id=turn_id, text="also b"))
    assert ticket not in claude.answers
    claude.report("prompt-2", "queued")
    assert claude.value(ticket) == turn_id
    assert [each.text for each in claude.of(Prompt)] == ["hi"]
    claude.report("prompt-2", "started")
    assert [(each.text, each.turn_id) for each in claude.of(Prompt)] == [
        ("hi", turn_id),
        ("also b", turn_id),
    ]
    claude.result(turn_id, "prompt-2")
    assert len(claude.of(TurnEnded)) == 1


def test_a_steer_that_comes_too_late_is_refused_or_becomes_the_next_turn(claude: Scripted) -> None:
    claude.open()
    turn_id = claude.begin()
    claude.submit(intents.Steer(session_id=SESSION, turn_id=turn_id, text="late"))
    claude.report("prompt-2", "queued")
    claude.result(turn_id)
    claude.report("prompt-2", "started")
    claude.init()
    claude.result("prompt-2")
    assert [each.turn_id for each in claude.of(TurnEnded)] == [turn_id, "prompt-2"]
    ticket = claude.submit(intents.Steer(session_id=SESSION, turn_id=turn_id, text="too late"))
    assert claude.refusal(ticket).kind == "response_error"


def test_a_turn_that_claude_begins_by_itself_is_not_joined_by_a_prompt(claude: Scripted) -> None:
    claude.open()
    claude.result(claude.begin())
    claude.init()  # a helper has reported
    (auto,) = [each.turn_id for each in claude.of(TurnStarted)][1:]
    ticket = claude.submit(_start("next"))
    claude.report("prompt-2", "queued")
    assert ticket not in claude.answers
    claude.text("The helper is done.")
    claude.result(origin={"kind": "task-notification"})
    claude.report("prompt-2", "started")
    claude.init()
    assert claude.value(ticket) == "prompt-2" != auto


def test_an_interrupt_stops_one_turn_and_what_waits_for_it(claude: Scripted) -> None:
    claude.open()
    turn_id = claude.begin()
    claude.submit(intents.Steer(session_id=SESSION, turn_id=turn_id, text="late"))
    claude.report("prompt-2", "queued")
    ticket = claude.submit(intents.Interrupt(session_id=SESSION, turn_id=turn_id))
    assert claude.request("cancel_async_message")["request"]["message_uuid"] == "prompt-2"
    claude.answered("cancel_async_message", {"cancelled": True})
    claude.report("prompt-2", "cancelled")
    claude.answered("interrupt", {"still_queued": []})
    claude.result(turn_id, is_error=True, terminal_reason="aborted_tools", result=None)
    assert claude.value(ticket) is None
    assert [each.outcome for each in claude.of(TurnEnded)] == ["interrupted"]
    assert [each.text for each in claude.of(Prompt)] == ["hi"]

    sent = len(claude.sent)
    again = claude.submit(intents.Interrupt(session_id=SESSION, turn_id=turn_id))
    assert claude.value(again) is None
    assert len(claude.sent) == sent, "it is over: nothing reaches the next turn"


def test_an_interrupt_that_comes_too_early_is_asked_again(claude: Scripted) -> None:
    claude.open()
    turn_id = claude.begin()
    ticket = claude.submit(intents.Interrupt(session_id=SESSION, turn_id=turn_id))
    claude.answered("interrupt", {"still_queued": [turn_id]})
    assert claude.refusal(ticket).kind == "response_error"


def test_a_turn_that_we_end_stays_ended_and_the_next_prompt_waits(claude: Scripted) -> None:
    claude.open()
    turn_id = claude.begin()
    claude.call(command="sleep 9")
    claude.end_turn()
    refused = claude.submit(_start("next"))
    assert claude.refusal(refused).kind == "turn_failed"
    waiting = claude.submit(intents.AwaitTurnEnd(session_id=SESSION, turn_id=turn_id))
    claude.text("Late.")
    assert waiting not in claude.answers
    claude.result(turn_id)
    claude.value(waiting)
    assert {each.turn_id for each in claude.of(TurnStarted, TurnEnded, Text)} == {turn_id}
    assert len(claude.of(TurnEnded)) == 1
    assert claude.begin("next") != turn_id


def test_a_lost_process_ends_the_turn_once_and_refuses_the_rest(claude: Scripted) -> None:
    claude.open()
    claude.begin()
    claude.call(command="sleep 9")
    ticket = claude.submit(intents.Rename(session_id=SESSION, name="x"))
    claude.leave()
    claude.leave()
    (ended,) = claude.of(TurnEnded)
    assert (ended.outcome, ended.error.kind) == ("failed", "port_exit")
    assert [each.status for each in claude.of(ToolResult)] == ["abandoned"]
    assert claude.refusal(ticket).kind == "port_exit"
    assert claude.refusal(claude.submit(_start())).kind == "port_exit"


def test_a_turn_is_checked(claude: Scripted) -> None:
    claude.open()
    turn_id = claude.begin()
    check = intents.CheckTurn(session_id=SESSION, turn_id=turn_id)
    running = claude.submit(check)
    claude.answered("mcp_status", {})
    claude.say(type="system", subtype="session_state_changed", state="idle")
    idle = claude.submit(check)
    claude.answered("mcp_status", {})
    assert (claude.value(running), claude.value(idle)) == (None, "completed")


# What Claude asks.


def test_each_decision_has_its_answer(claude: Scripted) -> None:
    claude.open()
    claude.begin()
    rule = {"toolName": "Bash", "ruleContent": "touch *"}
    suggestions = [
        {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    ]
    given = {"command": "touch x"}
    answers: list[object] = []
    for number, decision in enumerate(
        ("allow", "allow_for_session", "allow_always", "deny", "cancel")
    ):
        call_id, name = f"c{number}", f"r{number}"
        claude.call(call_id, **given)
        claude.ask(name, input=given, permission_suggestions=suggestions, tool_use_id=call_id)
        decide = intents.Decide(session_id=SESSION, approval_id=name, decision=decision)
        claude.value(claude.submit(decide))
        answers.append(claude.responses()[-1]["response"])
        settled = claude.submit(decide)
        assert claude.refusal(settled).kind == "response_error"

    allowed = {"behavior": "allow", "updatedInput": given}
    exact = {"toolName": "Bash", "ruleContent": "touch x"}
    session = {"type": "addRules", "rules": [exact], "behavior": "allow", "destination": "session"}
    assert answers[:3] == [
        allowed,
        {**allowed, "updatedPermissions": [session]},
        {**allowed, "updatedPermissions": suggestions[:1]},
    ]
    assert [answer["behavior"] for answer in answers[3:]] == ["deny", "deny"]  # type: ignore[index]
    assert "interrupt" not in answers[3]  # type: ignore[operator]
    assert answers[4]["interrupt"] is True  # type: ignore[index]
    assert [each.decision for each in claude.of(ApprovalSettled)] == [
        "allow",
        "allow_for_session",
        "allow_always",
        "deny",
        "cancel",
    ]


def test_a_question_needs_answers(claude: Scripted) -> None:
    claude.open()
    claude.begin()
    questions = [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]
    claude.ask("q", "AskUserQuestion", input={"questions": questions})
    empty = intents.Decide(session_id=SESSION, approval_id="q", decision="allow")
    assert claude.refusal(claude.submit(empty)).kind == "response_error"
    full = intents.Decide(
        session_id=SESSION, approval_id="q", decision="answered", answers={"Which?": ["A", "B"]}
    )
    claude.value(claude.submit(full))
    assert claude.responses()[-1]["response"]["updatedInput"]["answers"] == {"Which?": "A, B"}


def test_a_form_is_filled_in(claude: Scripted) -> None:
    claude.open()
    claude.begin()
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    request = {"subtype": "elicitation", "mcp_server_name": "s", "requested_schema": schema}
    claude.say(type="control_request", request_id="e", request=request)
    wrong = intents.Decide(session_id=SESSION, approval_id="e", decision="allow", content={})
    assert claude.refusal(claude.submit(wrong)).kind == "response_error"
    right = intents.Decide(session_id=SESSION, approval_id="e", decision="allow", content={"n": 1})
    claude.value(claude.submit(right))
    assert claude.responses()[-1]["response"] == {"action": "accept", "content": {"n": 1}}


def test_to_cancel_a_form_stops_the_turn(claude: Scripted) -> None:
    claude.open()
    claude.begin()
    for approval_id, decision in (("a", "deny"), ("b", "cancel")):
        request = {"subtype": "elicitation", "mcp_server_name": "s", "message": "Who?"}
        claude.say(type="control_request", request_id=approval_id, request=request)
        assert "interrupt" not in claude.subtypes()
        decide = intents.Decide(
            session_id=SESSION, approval_id=approval_id, decision=cast("Any", decision)
        )
        claude.value(claude.submit(decide))
    assert [each["response"]["action"] for each in claude.responses()[-2:]] == ["decline", "cancel"]
    assert claude.subtypes()[-1] == "interrupt"


def test_a_request_that_is_withdrawn_needs_no_answer(claude: Scripted) -> None:
    claude.open()
    claude.begin()
    claude.call(command="ls")
    claude.ask("r", input={"command": "ls"}, tool_use_id="c1")
    claude.say(type="control_cancel_request", request_id="r")
    decide = intents.Decide(session_id=SESSION, approval_id="r", decision="allow")
    assert claude.refusal(claude.submit(decide)).kind == "response_error"
    assert len(claude.of(ApprovalSettled)) == 1


@pytest.mark.parametrize("subtype", ["hook_callback", "request_user_dialog", "brand_new", None])
def test_what_no_one_here_answers_is_refused_at_once(claude: Scripted, subtype: str | None) -> None:
    claude.open()
    claude.say(type="control_request", request_id="r", request={"subtype": subtype})
    assert claude.responses()[-1]["subtype"] == "error"
    assert claude.responses()[-1]["request_id"] == "r"


def test_a_request_that_is_too_long_is_refused_and_a_long_answer_is_an_error(
    claude: Scripted,
) -> None:
    claude.open()
    head = b'{"type":"control_request","request_id":"long","request":{"subtype":"can_use_tool"'
    claude.conversation.receive_long_line(LongLine(head=head, tail=b"}}", length=1 << 30))
    ticket = claude.submit(intents.ReadRateLimits())
    name = claude.request("get_usage")["request_id"].encode()
    head = b'{"type":"control_response","response":{"subtype":"success","request_id":"%b"' % name
    claude.conversation.receive_long_line(LongLine(head=head, tail=b"}}", length=1 << 30))
    claude.say(type="keep_alive")
    assert [each["request_id"] for each in claude.responses()] == ["long"]
    assert "too long" in claude.refusal(ticket).message


def test_nothing_that_claude_says_raises(claude: Scripted) -> None:
    claude.open()
    claude.begin()
    odd: list[object] = [None, 1, "x", [], {}, {"a": {"b": []}}, [1, {"c": None}], True, 1.5]
    names = ("type", "subtype", "request", "response", "request_id", "command_uuid", "state")
    more = ("tasks", "patch", "errors", "user_message_uuids", "permissionMode", "message", "uuid")
    kinds = ("control_request", "control_response", "control_cancel_request", "result", "system")
    subtypes = ("init", "status", "task_started", "task_updated", "background_tasks_changed")
    for value in odd:
        for kind in (*kinds, "command_lifecycle", "user", "assistant", "stream_event"):
            for name in (*names, *more):
                line = {"type": kind, "subtype": "can_use_tool", name: value}
                claude.say_raw(msgspec.json.encode(line))
                request = {
                    "type": kind,
                    "request_id": "x",
                    "request": {"subtype": value, name: value},
                }
                claude.say_raw(msgspec.json.encode(request))
        for subtype in subtypes:
            for name in more:
                line = {"type": "system", "subtype": subtype, name: value}
                claude.say_raw(msgspec.json.encode(line))
    for line in (b"", b"\xff\xfe", b"[" * 5000, b'{"type":', b"null", b'"text"'):
        claude.say_raw(line)
    claude.leave()


# Our own tools.


def _mcp(
    claude: Scripted, request_id: str, method: str, rpc_id: int | None = 1, **params: object
) -> None:
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    if rpc_id is not None:
        message["id"] = rpc_id
    request = {"subtype": "mcp_message", "server_name": "dragoman", "message": message}
    claude.say(type="control_request", request_id=request_id, request=request)


def test_our_tools_are_listed_when_they_are_known_and_called(claude: Scripted) -> None:
    _mcp(claude, "m1", "initialize", protocolVersion="2025-06-18")
    _mcp(claude, "m2", "notifications/initialized", None)
    _mcp(claude, "m3", "tools/list")
    assert [each["request_id"] for each in claude.responses()] == ["m1", "m2"]
    spec = intents.ToolSpec(name="ask", description="Ask.", input_schema={"type": "object"})
    claude.open(tools=[spec])
    listed = claude.responses()[-1]["response"]["mcp_response"]["result"]["tools"]
    assert [each["name"] for each in listed] == ["ask"]

    _mcp(
        claude, "m4", "tools/call", name="ask", arguments={"q": 1},
        _meta={"claudecode/toolUseId": "toolu_1"},
    )  # fmt: skip
    (call,) = claude.conversation.tool_requests()
    assert (call.session_id, call.call_id, call.tool) == (SESSION, "toolu_1", "ask")
    assert (call.namespace, call.arguments) == (None, {"q": 1})
    answer = intents.AnswerTool(
        session_id=SESSION, call_id="toolu_1", output="no", images=["data:image/png;base64,AA"],
        success=False,
    )  # fmt: skip
    claude.value(claude.submit(answer))
    result = claude.responses()[-1]["response"]["mcp_response"]["result"]
    assert result["isError"] is True
    assert [each["type"] for each in result["content"]] == ["text", "image"]
    assert claude.refusal(claude.submit(answer)).kind == "response_error"
    _mcp(claude, "m5", "resources/list")
    assert "error" in claude.responses()[-1]["response"]["mcp_response"]


def test_commands_in_the_background_are_stopped_one_by_one(claude: Scripted) -> None:
    claude.open()
    for task_id, kind in (("t1", "local_bash"), ("t2", "local_agent"), ("t3", "local_bash")):
        claude.say(type="system", subtype="task_started", task_id=task_id, task_type=kind)
    claude.say(type="system", subtype="task_notification", task_id="t1", status="completed")
    ticket = claude.submit(intents.StopCommands(session_id=SESSION))
    assert claude.request("stop_task")["request"]["task_id"] == "t3"
    claude.answered("stop_task", {})
    assert claude.value(ticket) is None
    assert claude.subtypes().count("stop_task") == 1


def test_access_can_change_while_a_session_is_open(claude: Scripted) -> None:
    claude.open()
    ticket = claude.submit(intents.SetAccess(session_id=SESSION, access="plan"))
    claude.answered("set_permission_mode", {"mode": "plan"})
    assert claude.value(ticket).access == "plan"


@pytest.mark.parametrize(
    "intent",
    [
        intents.Review(session_id=SESSION),
        intents.Archive(session_id=SESSION),
        intents.ListSessions(),
        intents.ReadSession(session_id=SESSION),
    ],
)
def test_what_claude_cannot_do_is_unsupported(claude: Scripted, intent: intents.Intent) -> None:
    with pytest.raises(Unsupported):
        claude.submit(intent)
