"""A conversation with a pretended app-server, line by line."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from dragoman import (
    Message,
)
from dragoman.harnesses.codex.app_server.client.conversation import AppServerConversation
from dragoman.harnesses.contract.conversation import Answer, Refusal
from dragoman.model import intents
from dragoman.model.messages import TurnError

M = TypeVar("M", bound=Message)


TICKET = intents.ToolSpec(
    name="lookup_ticket",
    description="Fetch a ticket by id",
    input_schema={
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
    },
)


STALLED = TurnError(kind="stall_timeout", message="nothing was heard", retryable=True)


READ_ONLY = {"type": "readOnly", "networkAccess": False}


class Talk:
    """A conversation, and everything it has given so far."""

    def __init__(self, release: tuple[int, int, int] | None = (0, 166, 0), **more: Any) -> None:
        self.conversation = AppServerConversation(release, **more)
        self.messages: list[Message] = []
        self.answers: list[Answer] = []
        self.sent: list[dict[str, Any]] = []

    def pump(self) -> None:
        self.sent += [json.loads(line) for line in self.conversation.lines_to_send()]
        self.messages += self.conversation.messages()
        self.answers += self.conversation.answers()

    def hear(self, *lines: dict[str, Any]) -> None:
        for line in lines:
            self.conversation.receive_line(json.dumps(line).encode())
            self.pump()

    def ask(self, intent: intents.Intent) -> int:
        ticket = self.conversation.submit(intent)
        self.pump()
        return ticket

    def answer(self, ticket: int) -> Answer:
        (answer,) = [answer for answer in self.answers if answer.ticket == ticket]
        return answer

    def refusal(self, ticket: int) -> Refusal:
        refusal = self.answer(ticket).refusal
        assert refusal is not None
        return refusal

    def said(self, kind: type[M]) -> list[M]:
        return [message for message in self.messages if isinstance(message, kind)]

    def reply(self, **result: Any) -> None:
        """Answer our last request."""
        self.hear({"id": self._last_request(), "result": result})

    def refuse(self, message: str, code: int = -32600) -> None:
        self.hear({"id": self._last_request(), "error": {"code": code, "message": message}})

    def _last_request(self) -> int:
        return [line["id"] for line in self.sent if "method" in line and "id" in line][-1]


def note(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": params}


def opened(thread_id: str = "t1", **more: Any) -> dict[str, Any]:
    """What the server answers to thread/start."""
    given = {
        "thread": {"id": thread_id},
        "model": "m",
        "cwd": "/w",
        "approvalPolicy": "never",
        "sandbox": READ_ONLY,
    }
    return given | more


def open_session(**more: Any) -> intents.OpenSession:
    fields: dict[str, Any] = {"cwd": "/w", "sandbox": "read-only"} | more
    return intents.OpenSession(**fields)


def turn_started(turn_id: str = "u1") -> dict[str, Any]:
    return note("turn/started", threadId="t1", turn={"id": turn_id, "status": "inProgress"})


def turn_completed(turn_id: str = "u1", status: str = "completed") -> dict[str, Any]:
    return note("turn/completed", threadId="t1", turn={"id": turn_id, "status": status})


def item_completed(turn_id: str, **item: Any) -> dict[str, Any]:
    return note("item/completed", threadId="t1", turnId=turn_id, item=item)


def in_turn(release: tuple[int, int, int] | None = (0, 166, 0), **more: Any) -> Talk:
    """A session t1 whose turn u1 is under way."""
    talk = Talk(release, **more)
    talk.ask(open_session())
    talk.reply(**opened())
    talk.ask(intents.StartTurn(session_id="t1", text="go"))
    talk.reply(turn={"id": "u1"})
    talk.hear(turn_started())
    return talk


def command_request(request_id: int = 0, **more: Any) -> dict[str, Any]:
    params = {"threadId": "t1", "turnId": "u1", "itemId": "c1", "command": "ls"} | more
    return {"method": "item/commandExecution/requestApproval", "id": request_id, "params": params}


def decide(decision: str, approval_id: str = "c1", **more: Any) -> intents.Decide:
    return intents.Decide(session_id="t1", approval_id=approval_id, decision=decision, **more)
