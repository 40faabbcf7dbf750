"""Greeting an app-server, and signing in."""

from __future__ import annotations

from typing import Any

from dragoman.harnesses.contract.conversation import Refusal
from dragoman.model import intents
from dragoman.model.answers import AgentAccount
from support.codex.app_server_talk import Talk, note

# Greeting.


def greet(talk: Talk, agent: str = "dragoman/0.166.0 (Debian)", **more: Any) -> int:
    ticket = talk.ask(intents.Greet(client="dragoman", client_version="1", **more))
    talk.reply(userAgent=agent)
    return ticket


def test_a_server_that_needs_no_sign_in_is_greeted() -> None:
    talk = Talk(None)
    ticket = greet(talk, api_key="sk-1")
    talk.reply(account=None, requiresOpenaiAuth=False)
    assert [line["method"] for line in talk.sent] == ["initialize", "initialized", "account/read"]
    facts = talk.answer(ticket).value
    assert facts == intents.ServerFacts(
        version="0.166.0", agent="dragoman/0.166.0 (Debian)", signed_in=False
    )
    assert talk.conversation.release == (0, 166, 0)


def test_a_key_is_given_only_if_nobody_is_signed_in_and_is_never_told() -> None:
    talk = Talk()
    ticket = greet(talk, api_key="sk-1")
    talk.reply(account=None, requiresOpenaiAuth=True)
    assert talk.sent[-1]["params"] == {"type": "apiKey", "apiKey": "sk-1"}
    talk.reply(type="apiKey")
    assert talk.answers == []
    talk.hear(note("account/login/completed", success=True, error=None, loginId=None))
    facts = talk.answer(ticket).value
    assert (facts.signed_in, facts.needs_sign_in, facts.account) == (
        True,
        False,
        AgentAccount(kind="api_key", native={"type": "apiKey"}),
    )
    assert "sk-1" not in repr(talk.messages)
    talk.hear(note("account/login/completed", success=False))  # somebody else's
    assert len(talk.answers) == 1


def test_without_a_key_the_facts_say_that_one_is_needed() -> None:
    talk = Talk()
    ticket = greet(talk)
    talk.reply(account=None, requiresOpenaiAuth=True)
    assert talk.answer(ticket).value.needs_sign_in is True


def test_an_account_that_is_signed_in_is_left_alone() -> None:
    talk = Talk()
    ticket = greet(talk, api_key="sk-1")
    talk.reply(account={"type": "chatgpt"}, requiresOpenaiAuth=True)
    assert talk.answer(ticket).value.signed_in is True
    assert talk.sent[-1]["method"] == "account/read"


def test_a_key_that_is_refused_is_not_shown() -> None:
    talk = Talk()
    ticket = greet(talk, api_key="sk-1")
    talk.reply(account=None, requiresOpenaiAuth=True)
    talk.refuse("bad key sk-1")
    assert talk.refusal(ticket).message == "account/login/start: bad key [key]"
    assert "sk-1" not in repr(talk.messages)


def test_a_sign_in_that_fails_says_why() -> None:
    talk = Talk()
    ticket = greet(talk, api_key="sk-1")
    talk.reply(account=None, requiresOpenaiAuth=True)
    talk.hear(note("account/login/completed", success=False, error="no"))
    assert talk.refusal(ticket).message == "signing in failed: no"


def test_a_server_that_leaves_while_signing_in_is_gone() -> None:
    talk = Talk()
    ticket = greet(talk, api_key="sk-1")
    talk.reply(account=None, requiresOpenaiAuth=True)
    talk.reply(type="apiKey")
    talk.conversation.receive_eof()
    talk.conversation.receive_eof()
    talk.pump()
    assert talk.refusal(ticket).kind == "port_exit"


def test_a_server_that_tells_no_account_may_be_signed_in() -> None:
    talk = Talk()
    ticket = greet(talk)
    talk.refuse("unknown")
    assert talk.answer(ticket).value.signed_in is None


def test_a_release_that_is_too_old_is_refused_with_the_one_needed() -> None:
    talk = Talk(None)
    ticket = greet(talk, "codex_cli_rs/0.60.1 (Debian)")
    assert talk.refusal(ticket) == Refusal(
        kind="unsupported", message="Codex 0.66.0 or later is needed, this is Codex 0.60.1"
    )


def test_a_server_built_from_source_is_taken_for_the_newest() -> None:
    talk = Talk(None)
    greet(talk, "codex/0.0.0 (Debian)")
    talk.reply(account=None, requiresOpenaiAuth=False)
    assert talk.conversation.release is None
    assert talk.answers[0].refusal is None


def test_a_greeting_that_is_refused_or_cut_off() -> None:
    talk = Talk()
    ticket = talk.ask(intents.Greet(client="d", client_version="1"))
    talk.refuse("Already initialized")
    assert talk.refusal(ticket).message == "initialize: Already initialized"
    talk = Talk()
    ticket = greet(talk)
    talk.conversation.receive_eof()
    talk.pump()
    assert talk.refusal(ticket).kind == "port_exit"
