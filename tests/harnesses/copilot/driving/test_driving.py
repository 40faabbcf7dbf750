"""How Copilot is started, and what its requests are made of."""

from __future__ import annotations

import pytest

from dragoman.errors import Unsupported
from dragoman.harnesses.copilot.driving.approvals import CopilotApproval, reply_to
from dragoman.harnesses.copilot.driving.facts import models_in, sessions_in
from dragoman.harnesses.copilot.driving.live import CopilotLiveReader
from dragoman.harnesses.copilot.driving.prompts import prompt_params, session_params
from dragoman.harnesses.copilot.driving.transports import COPILOT_TRANSPORTS, provider_in
from dragoman.model.intents import Decide, OpenSession
from dragoman.model.messages import ApprovalRequested, Prompt, TurnEnded, TurnError

(_SERVER,) = COPILOT_TRANSPORTS


def _asked() -> CopilotApproval:
    asked = ApprovalRequested(
        approval_id="a", kind="command", summary="x", detail={}, choices=["allow", "deny"]
    )
    return CopilotApproval("s", asked)


def _decide(word: str, message: str | None = None) -> Decide:
    return Decide(session_id="s", approval_id="a", decision=word, message=message)


def test_it_is_a_server_that_neither_updates_itself_nor_signs_in() -> None:
    launch = _SERVER.launch("copilot", None, None)  # pyright: ignore[reportArgumentType]

    assert launch.argv[1:] == ("--headless", "--no-auto-update", "--no-auto-login", "--stdio")
    assert _SERVER.framing == "content-length"


def test_a_provider_of_another_kind_has_no_wire() -> None:
    env = {"COPILOT_PROVIDER_BASE_URL": "http://h", "COPILOT_PROVIDER_TYPE": "anthropic"}

    assert provider_in(env) == {"provider": {"type": "anthropic", "baseUrl": "http://h"}}
    assert provider_in({}) == {}


@pytest.mark.parametrize(
    ("word", "message", "result"),
    [
        ("allow", None, {"kind": "approve-once"}),
        ("deny", "not today", {"kind": "reject", "feedback": "not today"}),
        ("cancel", None, {"kind": "reject"}),
        ("unheard of", None, None),
    ],
)
def test_what_is_not_clearly_allowed_is_rejected(
    word: str, message: str | None, result: dict[str, str] | None
) -> None:
    reply = reply_to(_asked(), _decide(word, message))

    if result is None:
        assert reply.params["result"]["kind"] == "reject"
    else:
        assert reply.params["result"] == result


def test_a_denial_carries_a_word_or_the_turn_would_end() -> None:
    reply = reply_to(_asked(), _decide("deny"))

    assert reply.params["result"]["feedback"]


def test_images_are_attached_by_what_they_are() -> None:
    params = prompt_params("s", "look", ["data:image/png;base64,AAA", "/tmp/x.png"])

    blob, file = params["attachments"]
    assert (blob["type"], blob["mimeType"], blob["data"]) == ("blob", "image/png", "AAA")
    assert (file["type"], file["path"], file["displayName"]) == ("file", "/tmp/x.png", "x.png")
    with pytest.raises(Unsupported):
        prompt_params("s", "look", ["https://example.org/x.png"])


def test_a_session_always_asks_for_permission() -> None:
    params = session_params(
        OpenSession(cwd="/w", instructions="Be brief.", config={"effort": "low"})
    )

    assert params["requestPermission"] is True
    assert params["reasoningEffort"] == "low"
    assert params["systemMessage"]["content"] == "Be brief."


def test_answers_are_models_and_sessions() -> None:
    (model,) = models_in({"models": [{"id": "m", "name": "M"}, {"name": "none"}]})
    (session,) = sessions_in(
        {"sessions": [{"sessionId": "s", "name": "n", "startTime": "2026-11-19T00:00:00Z"}]}
    ).sessions

    assert (model.id, model.label) == ("m", "M")
    assert (session.id, session.title) == ("s", "n")
    assert session.created_at is not None


def test_a_turn_that_we_end_stays_ended_while_the_agent_goes_on() -> None:
    reader = CopilotLiveReader()
    assert reader.begin_turn("s", "m1")
    assert reader.end_turn("s", "failed", TurnError("stalled", "late", retryable=True))

    assert reader.given_up("s") == "m1"
    assert not reader.end_turn("s", "failed", None)
    ended = [each for each in reader.messages() if isinstance(each, TurnEnded)]
    assert [each.turn_id for each in ended] == ["m1"]
    reader.resume("s")
    assert reader.given_up("s") is None
    assert not [each for each in reader.messages() if isinstance(each, Prompt)]
