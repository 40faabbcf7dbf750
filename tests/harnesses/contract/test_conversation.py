from __future__ import annotations

import pytest

from dragoman.harnesses import HARNESSES
from dragoman.harnesses.contract.conversation import Answer, Conversation, Refusal
from dragoman.harnesses.contract.transport import SessionTransport
from dragoman.model.intents import Greet
from dragoman.wire.lines import LongLine

_TRANSPORTS = [
    pytest.param(transport, id=f"{each.name}-{transport.name}")
    for each in HARNESSES
    for transport in each.transports
    if isinstance(transport, SessionTransport)
]


def _drained(conversation: Conversation) -> list[object]:
    return [
        *conversation.messages(),
        *conversation.answers(),
        *conversation.tool_requests(),
        *conversation.lines_to_send(),
    ]


def test_an_answer_is_a_value_or_a_refusal() -> None:
    assert Answer(1, "words").refusal is None
    refused = Answer(2, refusal=Refusal(kind="unsupported", message="not with this release"))
    assert refused.value is None
    assert refused.refusal is not None
    assert refused.refusal.retry is False


@pytest.mark.parametrize("transport", _TRANSPORTS)
def test_what_a_conversation_has_handed_out_is_not_handed_out_again(
    transport: SessionTransport,
) -> None:
    conversation = transport.conversation(None, None)
    ticket = conversation.submit(Greet(client="test", client_version="1"))
    lines = conversation.lines_to_send()

    assert all(line.endswith(b"\n") for line in lines)
    assert conversation.lines_to_send() == []
    conversation.receive_eof()
    answers = conversation.answers()
    assert [answer.ticket for answer in answers] in ([ticket], [])  # or it was answered at once
    _drained(conversation)
    assert _drained(conversation) == []


@pytest.mark.parametrize("transport", _TRANSPORTS)
def test_no_line_makes_a_conversation_raise(transport: SessionTransport) -> None:
    conversation = transport.conversation(None, None)
    for line in (b"", b"{", b"[]", b"null", b"\xff\x00", b'{"type":5}', b'{"id":{},"result":7}'):
        conversation.receive_line(line)
    conversation.receive_long_line(LongLine(length=99, head=b"{", tail=b"}"))
    conversation.end_turn("no such session", "failed")
    conversation.receive_eof()

    assert conversation.messages()
