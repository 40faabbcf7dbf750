"""What the conversation with Copilot's server sends, and what it makes of the answers."""

from __future__ import annotations

import json
from typing import Any

from dragoman.harnesses.copilot.driving.conversation import CopilotConversation
from dragoman.harnesses.copilot.driving.transports import provider_in
from dragoman.model import intents
from dragoman.model.messages import ApprovalRequested, ToolResult, TurnEnded

_S = "11111111-2222-4333-8444-555555555555"


class Server:
    """The other side, one answer at a time."""

    def __init__(self) -> None:
        self.talk = CopilotConversation(make_id=lambda: _S)
        self.messages: list[Any] = []

    def sent(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.talk.lines_to_send()]

    def answer(self, request: dict[str, Any], result: Any) -> None:
        line = {"jsonrpc": "2.0", "id": request["id"], "result": result}
        self.talk.receive_line(json.dumps(line).encode())

    def event(self, kind: str, data: dict[str, Any], **more: Any) -> None:
        event = {"type": kind, "data": data, "id": "e", "timestamp": "2026-11-19T00:00:00Z", **more}
        params = {"sessionId": _S, "event": event}
        line = {"jsonrpc": "2.0", "method": "session.event", "params": params}
        self.talk.receive_line(json.dumps(line).encode())
        self.messages += self.talk.messages()

    def open(self, access: str = "manual", **options: Any) -> Any:
        self.talk.submit(intents.OpenSession(cwd="/w", access=access, **options))
        for _ in range(4):
            for request in self.sent():
                result: dict[str, Any] = {"sessionId": _S}
                if request["method"] == "session.permissions.setMode":
                    result = {"mode": request["params"]["mode"]}
                self.answer(request, result)
        return self.talk.answers()[-1]

    def prompt(self) -> str:
        self.talk.submit(intents.StartTurn(session_id=_S, text="hi"))
        (request,) = self.sent()
        self.answer(request, {"messageId": "m1"})
        return self.talk.answers()[-1].value


def test_a_provider_of_the_environment_is_passed_on() -> None:
    settings = provider_in(
        {"COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:1/v1", "COPILOT_PROVIDER_API_KEY": "k"}
    )
    server = Server()
    server.talk.submit(intents.OpenSession(cwd="/w", access="manual", config=settings))
    (create,) = server.sent()

    assert create["method"] == "session.create"
    assert create["params"]["provider"] == {
        "type": "openai",
        "baseUrl": "http://127.0.0.1:1/v1",
        "wireApi": "completions",
        "apiKey": "k",
    }


def test_more_access_than_requested_is_refused() -> None:
    server = Server()
    server.talk.submit(intents.OpenSession(cwd="/w", access="manual"))
    (create,) = server.sent()
    server.answer(create, {"sessionId": _S})
    (modes,) = server.sent()
    server.answer(modes, {"success": True, "mode": "allow-all"})

    (answer,) = server.talk.answers()
    assert answer.refusal is not None
    assert answer.refusal.kind == "authority"


def test_a_fork_is_resumed_under_its_own_id() -> None:
    server = Server()
    server.talk.submit(intents.OpenSession(cwd="/w", access="manual", fork="other"))
    (fork,) = server.sent()
    assert (fork["method"], fork["params"]) == ("sessions.fork", {"sessionId": "other"})
    server.answer(fork, {"sessionId": _S})
    (resume,) = server.sent()

    assert (resume["method"], resume["params"]["sessionId"]) == ("session.resume", _S)


def test_a_denial_has_a_word_for_the_model_so_that_the_turn_goes_on() -> None:
    server = Server()
    server.open()
    server.prompt()
    shell = {"kind": "shell", "fullCommandText": "rm -r /", "toolCallId": "c"}
    server.event("permission.requested", {"requestId": "r", "permissionRequest": shell})
    (asked,) = [each for each in server.messages if isinstance(each, ApprovalRequested)]
    assert asked.command == "rm -r /"

    server.talk.submit(intents.Decide(session_id=_S, approval_id="r", decision="deny"))
    (reply,) = server.sent()
    assert reply["params"]["result"]["kind"] == "reject"
    assert reply["params"]["result"]["feedback"]


def test_the_turn_has_the_id_of_its_prompt_and_ends_when_the_agent_rests() -> None:
    server = Server()
    server.open()

    assert server.prompt() == "m1"
    server.event("user.message", {"content": "hi", "messageId": "m1", "delivery": "idle"})
    server.event("assistant.idle", {}, ephemeral=True)
    server.event("session.idle", {}, ephemeral=True)
    ends = [(each.turn_id, each.outcome) for each in server.messages if isinstance(each, TurnEnded)]
    assert ends == [("m1", "completed")]


def test_a_tool_of_ours_is_called_and_answered() -> None:
    server = Server()
    server.open(tools=[intents.ToolSpec(name="look", description="d", input_schema={})])
    server.prompt()
    call = {"requestId": "r", "toolCallId": "c", "toolName": "look", "arguments": {"x": 1}}
    server.event("external_tool.requested", call)
    (request,) = server.talk.tool_requests()
    assert (request.tool, request.call_id, request.arguments) == ("look", "c", {"x": 1})

    server.talk.submit(intents.AnswerTool(session_id=_S, call_id="c", output="seen"))
    (reply,) = server.sent()
    assert reply["params"]["requestId"] == "r"
    assert reply["params"]["result"]["textResultForLlm"] == "seen"


def test_a_lost_process_ends_the_turn_and_its_calls() -> None:
    server = Server()
    server.open()
    server.prompt()
    server.event("tool.execution_start", {"toolCallId": "c", "toolName": "bash", "arguments": {}})
    server.talk.receive_eof()
    messages = server.talk.messages()

    assert [each.status for each in messages if isinstance(each, ToolResult)] == ["abandoned"]
    (ended,) = [each for each in messages if isinstance(each, TurnEnded)]
    assert ended.error is not None
    assert ended.error.kind == "port_exit"
