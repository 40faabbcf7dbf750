"""Starting, resuming and forking sessions: what the server applies is compared with what was asked."""

from __future__ import annotations

import pytest

from dragoman import (
    Notice,
    SessionStarted,
)
from dragoman.errors import Unsupported
from dragoman.harnesses.contract.conversation import Answer, Refusal
from dragoman.model import intents
from support.codex.app_server_talk import READ_ONLY, TICKET, Talk, open_session, opened

# Sessions.


def test_a_session_is_opened_with_what_the_server_applies() -> None:
    talk = Talk()
    ticket = talk.ask(open_session())
    talk.reply(**opened())
    assert talk.answer(ticket).value == intents.SessionFacts(
        session_id="t1",
        model="m",
        cwd="/w",
        access="read-only",
        sandbox=READ_ONLY,
        approvals="never",
    )
    assert [message.session_id for message in talk.said(SessionStarted)] == ["t1"]


def test_other_authority_than_was_asked_is_refused_and_the_session_closed() -> None:
    talk = Talk()
    ticket = talk.ask(open_session())
    talk.reply(**opened(sandbox={"type": "dangerFullAccess"}))
    assert talk.refusal(ticket) == Refusal(
        kind="authority",
        message="asked for the sandbox 'read-only', the server applies 'danger-full-access'",
    )
    assert talk.sent[-1]["method"] == "thread/unsubscribe"
    talk.reply()
    assert len(talk.answers) == 1


def test_a_release_that_cannot_close_is_not_asked_to() -> None:
    talk = Talk((0, 104, 0))
    talk.ask(open_session())
    talk.reply(**opened(approvalPolicy="on-request"))
    assert talk.sent[-1]["method"] == "thread/start"
    ticket = talk.ask(intents.CloseSession(session_id="t1"))
    assert talk.answer(ticket) == Answer(ticket)


def test_a_session_without_a_name_is_refused() -> None:
    talk = Talk()
    ticket = talk.ask(open_session())
    talk.reply(**opened(thread={}))
    assert "did not name it" in talk.refusal(ticket).message


def test_a_session_that_is_gone_is_replaced_only_if_asked_to() -> None:
    talk = Talk()
    ticket = talk.ask(open_session(resume="t0"))
    talk.refuse("no rollout found for thread id t0")
    assert talk.refusal(ticket).code == -32600
    ticket = talk.ask(open_session(resume="t0", or_new=True, tools=[TICKET]))
    talk.refuse("no rollout found for thread id t0")
    assert talk.sent[-1]["method"] == "thread/start"
    assert talk.sent[-1]["params"]["dynamicTools"][0]["name"] == "lookup_ticket"
    talk.reply(**opened())
    assert talk.answer(ticket).value.resumed is False
    assert talk.said(Notice)[-1].text == "session t0 is gone; a new one was started instead"
    assert talk.said(Notice)[-1].session_id == "t1"
    ticket = talk.ask(open_session(resume="t0", or_new=True))
    talk.refuse("thread t0 already has an active writer")
    assert "active writer" in talk.refusal(ticket).message


def test_a_resumed_and_a_branched_off_session() -> None:
    talk = Talk()
    ticket = talk.ask(open_session(resume="t1"))
    talk.reply(**opened())
    assert talk.answer(ticket).value.resumed is True
    ticket = talk.ask(open_session(fork="t1"))
    talk.reply(**opened("t2"))
    assert talk.answer(ticket).value.parent_session_id == "t1"


def test_what_a_release_lacks_is_refused_before_anything_is_said() -> None:
    talk = Talk((0, 66, 0))
    with pytest.raises(Unsupported) as raised:
        talk.ask(open_session(tools=[TICKET]))
    assert str(raised.value) == (
        "giving the model tools of ours is not possible with this release;"
        " it needs Codex 0.97.0 or later, this is Codex 0.66.0"
    )
    with pytest.raises(Unsupported):
        talk.ask(open_session(resume="t0", or_new=True, tools=[TICKET]))
    assert talk.sent == []
