from __future__ import annotations

from dragoman.harnesses.codex.audit.omissions import TOLD, UNSAID, reason


def test_an_exception_says_why_and_is_needed() -> None:
    assert all(unsaid.why and unsaid.places for unsaid in UNSAID)
    assert len({place for unsaid in UNSAID for place in unsaid.places}) == sum(
        len(unsaid.places) for unsaid in UNSAID
    )
    assert all(reason(place) is None for place in TOLD)
    assert (
        reason("turn_context.summary")
        == "a setting of the session, which is no part of the conversation"
    )
    assert reason("event/agent_message.message") is None
