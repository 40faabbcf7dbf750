"""What every conversation keeps: tickets for intents, and messages and answers until they are taken."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

from dragoman.harnesses.contract.conversation import Answer, Refusal
from dragoman.model.intents import Intent
from dragoman.model.messages import Message

Done: TypeAlias = Callable[[Any, "Refusal | None"], None]
"""Takes the result of a request, or the reason why there is none."""


class AnsweringConversation(ABC):
    """The part of a conversation that does not depend on the harness."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._answers: list[Answer] = []
        self._tickets = 0
        self._eof = False
        """Whether the other side is gone: every intent is refused."""

    @abstractmethod
    def _submit(self, ticket: int, intent: Intent) -> None:
        """Turn an intent into lines. Raises ``Unsupported``."""

    @abstractmethod
    def _gone(self) -> Refusal:
        """The refusal of what the other side can no longer answer."""

    def messages(self) -> list[Message]:
        messages, self._messages = self._messages, []
        return messages

    def answers(self) -> list[Answer]:
        answers, self._answers = self._answers, []
        return answers

    def submit(self, intent: Intent) -> int:
        ticket = self._tickets + 1
        if self._eof:
            self._answers.append(Answer(ticket, None, self._gone()))
        else:
            self._submit(ticket, intent)
        self._tickets = ticket  # an intent that is not supported has raised, and has no ticket
        return ticket

    def _done(self, ticket: int, value: Callable[[Any], Any] = lambda result: None) -> Done:
        """What answers an intent with the result of a request."""

        def answered(result: Any, refusal: Refusal | None) -> None:
            if refusal is not None and refusal.kind == "port_exit":
                refusal = self._gone()
            made = value(result) if refusal is None else None
            self._answers.append(Answer(ticket, made, refusal))

        return answered
