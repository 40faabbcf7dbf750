"""What the agents do differently: each trap on its own, as the lines of a small connection."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import pytest

from dragoman.harnesses.acp.parser import AcpParser
from dragoman.harnesses.acp.quirks import KNOWN, PLAIN, quirks_of
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Notice,
    Plan,
    Prompt,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from dragoman.model.usage import Usage

_M = TypeVar("_M", bound=Message)
_S = "session-1"

_OPTIONS = [("proceed_once", "allow_once"), ("cancel", "reject_once")]


class Talk:
    """A connection, line by line, in both directions."""

    def __init__(self, agent: str = "toy", **session: Any) -> None:
        self.parser = AcpParser(audit=True)
        self._id = 10
        self.send(1, "initialize", {"protocolVersion": 1})
        info = {"name": agent, "version": "1.2.3"}
        self.result(1, {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info})
        servers = [{"name": "lab", "command": "lab"}]
        self.send(2, "session/new", {"cwd": "/w", "mcpServers": servers})
        self.result(2, {"sessionId": _S, **session})

    def line(self, way: str, value: dict[str, Any]) -> None:
        row = {"dir": way, "t": 1.0, "msg": {"jsonrpc": "2.0", **value}}
        self.parser.receive_line(json.dumps(row).encode())

    def send(self, id: int, method: str, params: dict[str, Any]) -> None:
        self.line("send", {"id": id, "method": method, "params": params})

    def result(self, id: int, result: dict[str, Any]) -> None:
        self.line("recv", {"id": id, "result": result})

    def prompt(self, text: str = "do it", **meta: Any) -> int:
        self._id += 1
        prompt = {"sessionId": _S, "prompt": [{"type": "text", "text": text}], **meta}
        self.send(self._id, "session/prompt", prompt)
        return self._id

    def end(self, reason: str = "end_turn", **result: Any) -> None:
        self.result(self._id, {"stopReason": reason, **result})

    def fail(self, code: int, message: str) -> None:
        self.line("recv", {"id": self._id, "error": {"code": code, "message": message}})

    def update(self, kind: str, /, **update: Any) -> None:
        params = {"sessionId": _S, "update": {"sessionUpdate": kind, **update}}
        self.line("recv", {"method": "session/update", "params": params})

    def say(self, text: str, **more: Any) -> None:
        self.update("agent_message_chunk", content={"type": "text", "text": text}, **more)

    def ask(self, id: int, call: dict[str, Any], options: list[tuple[str, str]]) -> None:
        offered = [{"optionId": name, "kind": kind, "name": name} for name, kind in options]
        params = {"sessionId": _S, "toolCall": call, "options": offered}
        self.line("recv", {"id": id, "method": "session/request_permission", "params": params})

    def select(self, id: int, option: str) -> None:
        outcome = {"outcome": "selected", "optionId": option}
        self.line("send", {"id": id, "result": {"outcome": outcome}})

    def messages(self) -> list[Message]:
        self.parser.receive_eof()
        return self.parser.messages()

    def of(self, kind: type[_M]) -> list[_M]:
        return [each for each in self.messages() if isinstance(each, kind)]


def test_a_session_is_announced_with_what_is_known_of_it() -> None:
    started = Talk(models={"currentModelId": "m-1"}).of(SessionStarted)

    assert [
        (each.session_id, each.harness, each.version, each.model, each.cwd) for each in started
    ] == [(_S, "acp", "1.2.3", "m-1", "/w")]


def test_a_turn_has_the_id_that_its_host_gave_it() -> None:
    talk = Talk()
    talk.prompt(_meta={"dragoman": {"turnId": "t-7"}})
    talk.say("Hel")
    talk.say("lo.")
    talk.end()
    messages = talk.messages()

    assert {
        each.turn_id for each in messages if isinstance(each, TurnStarted | Text | TurnEnded)
    } == {"t-7"}
    assert [each.text for each in messages if isinstance(each, Text)] == ["Hello."]


def test_a_prompt_that_waits_becomes_the_next_turn() -> None:
    talk = Talk()
    first = talk.prompt("one")
    talk.prompt("two")
    talk.say("1")
    talk.result(first, {"stopReason": "end_turn"})
    talk.say("2")
    talk.end()
    kinds = [
        type(each) for each in talk.messages() if isinstance(each, TurnStarted | Prompt | TurnEnded)
    ]

    assert kinds == [TurnStarted, Prompt, TurnEnded] * 2


@pytest.mark.parametrize(
    ("agent", "session", "native"), [("OpenCode", "bash", "bash"), ("toy", "bash", "Bash")]
)
def test_a_call_is_emitted_once_its_input_is_known(agent: str, session: str, native: str) -> None:
    talk = Talk(agent)
    talk.prompt()
    talk.update(
        "tool_call", toolCallId="c", title=session, kind="execute", status="pending", rawInput={}
    )
    talk.update(
        "tool_call_update",
        toolCallId="c",
        status="in_progress",
        title="ls",
        rawInput={"command": "ls"},
    )
    talk.update(
        "tool_call_update",
        toolCallId="c",
        status="completed",
        rawOutput={"output": "a\n", "metadata": {"exit": 3}},
    )
    talk.end()
    messages = talk.messages()

    calls = [each for each in messages if isinstance(each, ToolCall)]
    assert [(each.tool, each.native_tool, each.input) for each in calls] == [
        ("Bash", native, {"command": "ls"})
    ]
    results = [each for each in messages if isinstance(each, ToolResult)]
    assert [(each.output, each.exit_code, each.is_error) for each in results] == [("a\n", 3, True)]


def test_a_call_that_was_denied_ends_with_the_turn_at_the_latest() -> None:
    talk = Talk("gemini-cli")
    talk.prompt()
    call = {"toolCallId": "run_shell_command__1", "title": "rm x", "kind": "execute"}
    talk.ask(0, call, [("proceed_once", "allow_once"), ("cancel", "reject_once")])
    talk.select(0, "cancel")
    talk.end()
    messages = talk.messages()

    asked = next(each for each in messages if isinstance(each, ApprovalRequested))
    assert (asked.kind, asked.command, asked.cwd) == ("command", "rm x", "/w")
    assert asked.choices == ["allow", "deny", "cancel"]
    assert [each.decision for each in messages if isinstance(each, ApprovalSettled)] == ["deny"]
    assert [each.status for each in messages if isinstance(each, ToolResult)] == ["declined"]


@pytest.mark.parametrize(
    ("agent", "option", "decision"),
    [
        ("gemini-cli", "proceed_always", "allow_for_session"),
        ("toy", "proceed_always", "allow_always"),
        ("toy", "odd", "deny"),
    ],
)
def test_an_option_stands_for_a_decision(agent: str, option: str, decision: str) -> None:
    talk = Talk(agent)
    talk.prompt()
    talk.ask(
        5,
        {"toolCallId": "c", "rawInput": {"command": "ls"}, "kind": "execute"},
        [("proceed_always", "allow_always"), ("odd", "allow_sometimes")],
    )
    talk.select(5, option)

    assert [each.decision for each in talk.of(ApprovalSettled)] == [decision]


def test_the_command_is_shown_and_not_what_the_model_calls_it() -> None:
    talk = Talk("Copilot")
    talk.prompt()
    talk.ask(
        0,
        {
            "toolCallId": "c",
            "title": "make",
            "kind": "execute",
            "rawInput": {"command": "touch a && ls"},
        },
        [],
    )

    asked = talk.of(ApprovalRequested)[0]
    assert (asked.command, asked.summary, asked.detail["title"]) == (
        "touch a && ls",
        "touch a && ls",
        "make",
    )


@pytest.mark.parametrize(
    ("agent", "outcome"), [("Copilot", "failed"), ("toy", "completed")], ids=["known", "unknown"]
)
def test_an_error_that_arrives_as_a_text_fails_the_turn(agent: str, outcome: str) -> None:
    talk = Talk(agent)
    talk.prompt()
    talk.say("Error: 429 slow down")
    talk.end()
    messages = talk.messages()

    ended = next(each for each in messages if isinstance(each, TurnEnded))
    assert ended.outcome == outcome
    assert len([each for each in messages if isinstance(each, Text)]) == (outcome == "completed")


def test_a_turn_that_the_agent_marks_as_failed_fails_with_the_text_that_follows() -> None:
    talk = Talk("codex-acp")
    talk.prompt()
    talk.say("I look first.")
    talk.update("session_info_update", _meta={"codex": {"threadStatus": {"type": "systemError"}}})
    talk.say("We are experiencing high demand.")
    talk.end()
    talk.prompt("again")
    talk.say("Fine.")
    talk.end()

    said = talk.messages()
    first, second = [each for each in said if isinstance(each, TurnEnded)]
    texts = [each.text for each in said if isinstance(each, Text)]
    assert texts == ["I look first.", "Fine."]
    assert first.error is not None
    assert (first.outcome, first.error.message) == ("failed", "We are experiencing high demand.")
    assert (second.outcome, second.error) == ("completed", None)


def test_what_a_command_prints_may_arrive_beside_its_updates() -> None:
    talk = Talk("codex-acp")
    talk.prompt()
    talk.update(
        "tool_call", toolCallId="c", kind="execute", status="in_progress", rawInput={"command": "x"}
    )
    talk.update(
        "tool_call_update", toolCallId="c", _meta={"terminal_output_delta": {"data": "one\n"}}
    )
    talk.update(
        "tool_call_update",
        toolCallId="c",
        status="failed",
        _meta={"terminal_output_delta": {"data": "two\n"}, "terminal_exit": {"exit_code": 3}},
    )
    talk.end()

    (result,) = talk.of(ToolResult)
    assert (result.output, result.exit_code, result.is_error) == ("one\ntwo\n", 3, True)


def test_a_refused_prompt_fails_and_its_words_are_said_once() -> None:
    talk = Talk("@agentclientprotocol/claude-agent-acp")
    talk.prompt()
    talk.say("API Error: 429 slow down")
    talk.fail(-32603, "Internal error: API Error: 429 slow down")
    messages = talk.messages()

    ended = next(each for each in messages if isinstance(each, TurnEnded))
    assert ended.error is not None
    assert (ended.outcome, ended.error.message, ended.error.retryable) == (
        "failed",
        "API Error: 429 slow down",
        True,
    )
    assert not [each for each in messages if isinstance(each, Text)]


def _usage(input: int, output: int) -> dict[str, Any]:
    return {"inputTokens": input, "outputTokens": output, "totalTokens": input + output}


@pytest.mark.parametrize(
    ("agent", "spent"),
    [("toy", [800, 1000, 100]), ("Copilot", [800, 200, 100]), ("OpenCode", [800, 1000, 100])],
)
def test_usage_is_that_of_the_turn(agent: str, spent: list[int]) -> None:
    talk = Talk(agent)
    for total in (800, 1000, 100):
        talk.prompt()
        talk.end(usage=_usage(total, 20))

    assert [end.usage and end.usage.input_tokens for end in talk.of(TurnEnded)] == spent


def test_the_tokens_of_several_responses_are_unknown_where_only_the_last_is_counted() -> None:
    talk = Talk("OpenCode")
    talk.prompt()
    talk.update("tool_call", toolCallId="c", title="read", kind="read", status="completed")
    talk.end(usage=_usage(100, 20))

    assert [end.usage for end in talk.of(TurnEnded)] == [None]


def test_tokens_on_empty_chunks_are_added_up() -> None:
    talk = Talk("qwen-code")
    talk.prompt()
    for _ in range(2):
        talk.say("", _meta={"usage": _usage(100, 20)})
    talk.end()

    assert [end.usage for end in talk.of(TurnEnded)] == [Usage(200, output_tokens=40)]


def test_an_interrupted_turn_has_no_error() -> None:
    talk = Talk()
    talk.prompt()
    talk.end("cancelled")

    assert [(end.outcome, end.error) for end in talk.of(TurnEnded)] == [("interrupted", None)]


def test_a_limit_of_the_model_fails_the_turn() -> None:
    talk = Talk()
    talk.prompt()
    talk.end("max_tokens")

    assert [end.outcome for end in talk.of(TurnEnded)] == ["failed"]


def test_a_plan_is_reported_when_it_changes() -> None:
    talk = Talk()
    talk.prompt()
    for status in ("pending", "pending", "completed"):
        talk.update("plan", entries=[{"content": "Look", "priority": "high", "status": status}])

    assert [each.steps[0].status for each in talk.of(Plan)] == ["pending", "completed"]


def test_requests_for_files_make_no_message_and_others_are_kept() -> None:
    talk = Talk()
    talk.prompt()
    for id, method in enumerate(("fs/write_text_file", "terminal/create", "_toy/dance")):
        talk.line("recv", {"id": id, "method": method, "params": {"sessionId": _S}})
    talk.line("recv", {"method": "_toy/note", "params": {}})
    talk.update("toy_update", odd=1)

    assert [each.native_type for each in talk.of(Unknown)] == [
        "_toy/dance",
        "_toy/note",
        "session/update",
    ]


def test_a_form_is_asked_for_with_its_schema() -> None:
    talk = Talk()
    talk.prompt()
    params = {
        "sessionId": _S,
        "message": "Which?",
        "mode": "form",
        "requestedSchema": {"type": "object"},
    }
    talk.line("recv", {"id": 3, "method": "elicitation/create", "params": params})
    talk.line("send", {"id": 3, "result": {"action": "decline"}})
    messages = talk.messages()

    asked = next(each for each in messages if isinstance(each, ApprovalRequested))
    assert (asked.kind, asked.summary, asked.form) == ("elicitation", "Which?", {"type": "object"})
    assert [each.decision for each in messages if isinstance(each, ApprovalSettled)] == ["deny"]


def test_the_history_of_a_loaded_session_is_emitted_unless_the_host_has_it() -> None:
    texts: list[list[str]] = []
    for keeps in (True, False):
        talk = Talk()
        talk.parser.keeps_history = keeps
        talk.send(3, "session/load", {"sessionId": "old", "cwd": "/w", "mcpServers": []})
        for kind, text in (("user_message_chunk", "hi"), ("agent_message_chunk", "Hello.")):
            params = {
                "sessionId": "old",
                "update": {"sessionUpdate": kind, "content": {"type": "text", "text": text}},
            }
            talk.line("recv", {"method": "session/update", "params": params})
        talk.result(3, {})
        texts.append([each.text for each in talk.of(Text)])

    assert texts == [["Hello."], []]


def test_a_sub_agent_has_a_session_of_its_own() -> None:
    talk = Talk("@agentclientprotocol/claude-agent-acp")
    talk.prompt()
    talk.update(
        "tool_call", toolCallId="t", name="Agent", status="pending", rawInput={"prompt": "count"}
    )
    inner = {"claudeCode": {"parentToolUseId": "t"}}
    talk.update(
        "tool_call",
        toolCallId="c",
        name="Bash",
        status="pending",
        rawInput={"command": "ls"},
        _meta=inner,
    )
    talk.update("tool_call_update", toolCallId="c", status="completed", rawOutput="a", _meta=inner)
    talk.update("tool_call_update", toolCallId="t", status="completed", rawOutput="1 file")
    talk.end()
    messages = talk.messages()

    started = [each for each in messages if isinstance(each, SessionStarted)][1]
    assert (started.session_id, started.parent_session_id, started.parent_call_id) == ("t", _S, "t")
    calls = {each.call_id: each.session_id for each in messages if isinstance(each, ToolCall)}
    assert calls == {"t": _S, "c": "t"}
    assert {each.session_id for each in messages if isinstance(each, TurnEnded)} == {"t", _S}


def test_an_error_outside_a_turn_is_a_notice() -> None:
    talk = Talk()
    talk.send(9, "session/close", {"sessionId": _S})
    talk.line("recv", {"id": 9, "error": {"code": -32601, "message": "not found"}})

    assert [each.text for each in talk.of(Notice)] == ["session/close: not found"]


def test_each_agent_has_one_row() -> None:
    names = [name for row in KNOWN for name in row.names]

    assert len(set(names)) == len(names)
    assert quirks_of("gemini-cli").load_after == 60.0
    assert quirks_of("toy") is PLAIN


@pytest.mark.parametrize(
    ("announced", "asked"),
    [
        ({"command": "touch made"}, {"command": "rm -rf /"}),
        ({"cmd": "touch made"}, {"command": "rm -rf /"}),
        ({"command": "touch made", "timeout": 5}, {"command": "rm -rf /", "shell": "bash"}),
    ],
)
def test_an_approval_is_for_what_the_request_says(
    announced: dict[str, Any], asked: dict[str, Any]
) -> None:
    talk = Talk()
    talk.send(3, "session/prompt", {"sessionId": _S, "prompt": [{"type": "text", "text": "go"}]})
    call = {"toolCallId": "c1", "kind": "execute", "title": "touch made"}
    talk.update("tool_call", **call, status="pending", rawInput=announced)
    talk.ask(7, {**call, "rawInput": asked}, [("yes", "allow_once")])

    [approval] = talk.of(ApprovalRequested)

    assert approval.command == approval.summary == "rm -rf /"
    assert approval.detail["command"] == "rm -rf /"


@pytest.mark.parametrize("is_said", [False, True])
def test_a_denied_call_is_over_when_anything_else_is_said(is_said: bool) -> None:
    talk = Talk("gemini-cli")
    talk.prompt()
    talk.ask(7, {"toolCallId": "run_shell_command__1", "kind": "execute", "title": "x"}, _OPTIONS)
    talk.select(7, "cancel")
    if is_said:
        talk.update("tool_call_update", toolCallId="run_shell_command__1", status="failed")
    talk.say("Fine without.")
    talk.end()

    kinds = [
        each.status if isinstance(each, ToolResult) else each.text
        for each in talk.messages()
        if isinstance(each, ToolResult | Text)
    ]
    assert kinds == ["declined", "Fine without."]
