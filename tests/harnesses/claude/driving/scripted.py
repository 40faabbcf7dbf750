"""A Claude that a test plays by hand: lines in, lines out."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec

from dragoman.harnesses.claude.driving.conversation import ClaudeConversation
from dragoman.harnesses.contract.conversation import Answer, Refusal
from dragoman.model import intents
from dragoman.model.messages import Message

SESSION = "5e551011-0000-4000-8000-000000000000"


class Scripted:
    """A conversation, and what its other side would say."""

    def __init__(self) -> None:
        count = itertools.count(1)
        self.conversation = ClaudeConversation(make_id=lambda: f"prompt-{next(count)}")
        self.messages: list[Message] = []
        self.answers: dict[int, Answer] = {}
        self.sent: list[dict[str, Any]] = []

    def submit(self, intent: intents.Intent) -> int:
        ticket = self.conversation.submit(intent)
        self._drain()
        return ticket

    def say(self, **line: Any) -> None:
        """A line of Claude's."""
        line.setdefault("session_id", SESSION)
        self.say_raw(msgspec.json.encode(line))

    def say_raw(self, line: bytes) -> None:
        self.conversation.receive_line(line)
        self._drain()

    def leave(self) -> None:
        self.conversation.receive_eof()
        self._drain()

    def end_turn(self, outcome: Any = "interrupted") -> None:
        self.conversation.end_turn(SESSION, outcome)
        self._drain()

    def answered(self, subtype: str, response: Any = None, **error: Any) -> None:
        """Answer the last request of this kind."""
        request_id = self.request(subtype)["request_id"]
        answer = {"subtype": "error" if error else "success", "request_id": request_id, **error}
        if response is not None:
            answer["response"] = response
        self.say(type="control_response", response=answer)

    def request(self, subtype: str) -> dict[str, Any]:
        """The last control request of this kind that we sent."""
        found = [
            line
            for line in self.sent
            if line["type"] == "control_request" and line["request"]["subtype"] == subtype
        ]
        return found[-1]

    def subtypes(self) -> list[str]:
        return [line["request"]["subtype"] for line in self.sent if "request" in line]

    def responses(self) -> list[dict[str, Any]]:
        return [line["response"] for line in self.sent if line["type"] == "control_response"]

    def value(self, ticket: int) -> Any:
        answer = self.answers[ticket]
        assert answer.refusal is None, answer.refusal
        return answer.value

    def refusal(self, ticket: int) -> Refusal:
        refusal = self.answers[ticket].refusal
        assert refusal is not None
        return refusal

    def of(self, *kinds: type[Message]) -> list[Any]:
        return [message for message in self.messages if isinstance(message, kinds)]

    # Whole passages.

    def open(self, mode: str = "default", confirmed: str | None = None, **opening: Any) -> int:
        """Greet and open a session in this mode."""
        self.submit(intents.Greet(client="test", client_version="1"))
        self.answered("initialize", {"claude_code_version": "2.1.327", "models": [], "account": {}})
        ticket = self.submit(intents.OpenSession(cwd="/w", access=mode, **opening))
        self.say(type="system", subtype="status", status=None, permissionMode="plan")
        self.answered("set_permission_mode", {"mode": confirmed or mode})
        self.say(type="system", subtype="status", status=None, permissionMode=confirmed or mode)
        self.answered("mcp_status", {"mcpServers": []})
        return ticket

    def begin(self, text: str = "hi") -> str:
        """A prompt that is taken up; the turn's id."""
        ticket = self.submit(intents.StartTurn(session_id=SESSION, text=text))
        uuid = self.sent[-1]["uuid"]
        self.report(uuid, "queued")
        self.report(uuid, "started")
        self.init()
        return self.value(ticket)

    def init(self, mode: str = "default") -> None:
        self.say(
            type="system",
            subtype="init",
            cwd="/w",
            model="m",
            permissionMode=mode,
            claude_code_version="2.1.327",
        )

    def report(self, uuid: str, state: str) -> None:
        self.say(type="command_lifecycle", command_uuid=uuid, state=state)

    def call(self, call_id: str = "c1", **given: Any) -> None:
        block = {"type": "tool_use", "id": call_id, "name": "Bash", "input": given}
        self.say(type="assistant", message={"id": "m1", "content": [block]})

    def ask(self, request_id: str, tool: str = "Bash", **request: Any) -> None:
        self.say(
            type="control_request",
            request_id=request_id,
            request={"subtype": "can_use_tool", "tool_name": tool, **request},
        )

    def text(self, text: str) -> None:
        self.say(
            type="assistant", message={"id": "m2", "content": [{"type": "text", "text": text}]}
        )

    def result(self, *uuids: str, **fields: Any) -> None:
        line = {"type": "result", "subtype": "success", "is_error": False, "result": ""}
        self.say(**{**line, "user_message_uuids": list(uuids), **fields})

    def _drain(self) -> None:
        for line in self.conversation.lines_to_send():
            assert line.endswith(b"\n")
            self.sent.append(msgspec.json.decode(line))
        self.messages += self.conversation.messages()
        for answer in self.conversation.answers():
            assert answer.ticket not in self.answers, "answered twice"
            self.answers[answer.ticket] = answer
