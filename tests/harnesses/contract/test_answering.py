"""Tickets, and what waits to be taken."""

from __future__ import annotations

import pytest

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.answering import AnsweringConversation
from dragoman.harnesses.contract.conversation import Answer, Refusal
from dragoman.model.intents import Compact, Intent, Interrupt

LEFT = Refusal(kind="port_exit", message="it left")
STOP = Interrupt(session_id="s", turn_id="t")


class _Doubling(AnsweringConversation):
    def _submit(self, ticket: int, intent: Intent) -> None:
        if isinstance(intent, Compact):
            raise Unsupported("compacting")
        self.done = self._done(ticket, lambda result: result * 2)

    def _gone(self) -> Refusal:
        return LEFT

    def leave(self) -> None:
        self._eof = True


def test_an_intent_is_answered_under_its_ticket_once() -> None:
    conversation = _Doubling()

    assert conversation.submit(STOP) == 1
    conversation.done(21, None)

    assert conversation.answers() == [Answer(1, 42)]
    assert conversation.answers() == []


def test_an_intent_that_is_not_supported_takes_no_ticket() -> None:
    conversation = _Doubling()
    with pytest.raises(Unsupported):
        conversation.submit(Compact(session_id="s"))

    assert conversation.submit(STOP) == 1


def test_when_the_other_side_is_gone_every_intent_is_refused_in_one_way() -> None:
    conversation = _Doubling()
    conversation.submit(STOP)
    conversation.done(None, Refusal(kind="port_exit", message="broken pipe"))
    conversation.leave()
    conversation.submit(STOP)

    assert conversation.answers() == [Answer(1, None, LEFT), Answer(2, None, LEFT)]
