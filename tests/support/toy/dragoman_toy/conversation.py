"""A live exchange with the toy agent: one session."""

from __future__ import annotations

import json
from typing import Any

from dragoman_toy.parser import ToyParser, decoded

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.conversation import Answer, Refusal, ToolRequest
from dragoman.model import intents
from dragoman.model.answers import Model
from dragoman.model.messages import Message, Outcome, TurnError
from dragoman.wire.lines import LongLine


class ToyConversation:
    def __init__(self) -> None:
        self._parser = ToyParser()
        self._out: list[bytes] = []
        self._answers: list[Answer] = []
        self._tickets = 0
        self._waiting: dict[str, tuple[int, Any]] = {}
        """By the word of the line that answers it: the ticket, and the intent."""
        self._models: list[str] = []
        self._given_up: str | None = None

    def receive_line(self, line: bytes) -> None:
        told = decoded(line) or {}
        if told.get("turn") is None or told["turn"] != self._given_up:
            self._parser.receive_line(line)
        self._settle(told)

    def receive_long_line(self, line: LongLine) -> None:
        self._parser.receive_long_line(line)

    def receive_eof(self) -> None:
        self._parser.receive_eof()
        gone = Refusal(kind="port_exit", message="the agent's process ended")
        self._answers += [Answer(ticket, None, gone) for ticket, _ in self._waiting.values()]
        self._waiting.clear()

    def _settle(self, told: dict[str, Any]) -> None:
        word = told.get("is")
        if word == "refused" and "open" in self._waiting:
            ticket, _ = self._waiting.pop("open")
            refusal = Refusal(kind="response_error", message=str(told.get("why")))
            self._answers.append(Answer(ticket, None, refusal))
        if word not in self._waiting or told.get("own"):
            return
        ticket, intent = self._waiting.pop(word)
        value: Any = None
        if isinstance(intent, intents.Greet):
            self._models = told["models"]
            value = intents.ServerFacts(version=told["version"], agent="toy-agent", signed_in=True)
        elif isinstance(intent, intents.OpenSession):
            value = intents.SessionFacts(
                session_id=told["session"],
                model="small",
                cwd=told["cwd"],
                access=told["access"],
                resumed=intent.resume is not None,
            )
        elif isinstance(intent, intents.StartTurn):
            value = told["turn"]
        self._answers.append(Answer(ticket, value))

    def submit(self, intent: intents.Intent) -> int:
        self._tickets += 1
        ticket = self._tickets
        match intent:
            case intents.Greet():
                self._ask(ticket, intent, "hello", do="hello")
            case intents.OpenSession(fork=None):
                name = intent.resume or intent.session_id
                is_resumed = intent.resume is not None
                line = {"session": name, "resume": is_resumed, "access": intent.access}
                self._ask(ticket, intent, "open", do="open", **line)
            case intents.StartTurn():
                self._ask(ticket, intent, "turn", do="ask", text=intent.text)
            case intents.Interrupt() | intents.Steer():
                self._say(do="stop")
                self._answers.append(Answer(ticket))
            case intents.Decide():
                self._say(do="decide", yes=intent.decision.startswith("allow"))
                self._answers.append(Answer(ticket))
            case intents.ListModels():
                models = [Model(id=name, label=name) for name in self._models]
                self._answers.append(Answer(ticket, models))
            case intents.CloseSession() | intents.AwaitTurnEnd():
                self._answers.append(Answer(ticket))
            case _:
                raise Unsupported(f"{type(intent).__name__} with a toy")
        return ticket

    def _ask(self, ticket: int, intent: intents.Intent, answer: str, **line: Any) -> None:
        self._waiting[answer] = (ticket, intent)
        self._say(**line)

    def _say(self, **line: Any) -> None:
        self._out.append(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def messages(self) -> list[Message]:
        return self._parser.messages()

    def answers(self) -> list[Answer]:
        answers, self._answers = self._answers, []
        return answers

    def tool_requests(self) -> list[ToolRequest]:
        return []

    def lines_to_send(self) -> list[bytes]:
        lines, self._out = self._out, []
        self._parser.receive_lines(lines)
        return lines

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None = None) -> None:
        self._given_up = self._parser.turn
        self._parser.end(outcome, error)
