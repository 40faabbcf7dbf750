"""What a session is: announced once, changed when it changes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.model.messages import (
    SessionEnded,
    SessionStarted,
    TurnStarted,
)
from support.assembling import reasons


@pytest.fixture
def session(out: Output) -> SessionAssembler:
    """A session in which nothing has happened yet."""
    return SessionAssembler(out, "codex", "s")


# The session.


def test_a_message_carries_session_turn_time_and_line(
    out: Output, session: SessionAssembler
) -> None:
    out.line, out.at = 7, datetime(2026, 1, 2, tzinfo=UTC)
    session.begin_turn("t")

    assert out.take_messages() == [
        TurnStarted(session_id="s", turn_id="t", at=datetime(2026, 1, 2, tzinfo=UTC), line=7)
    ]


def test_a_session_is_told_once(out: Output, session: SessionAssembler) -> None:
    assert not session.has_facts
    session.begin_session(version="0.166.0", model="gpt-5.5", cwd="/workspace")
    session.begin_session(version="0.166.0", model="gpt-5.5", cwd="/workspace")

    assert out.take_messages() == [
        SessionStarted(
            session_id="s", harness="codex", version="0.166.0", model="gpt-5.5", cwd="/workspace"
        )
    ]
    assert reasons(out) == ["session: announced before"]
    assert session.has_facts


@pytest.mark.parametrize(
    ("model", "cwd"), [("gpt-6.1-sol", None), (None, "/workspace/sub"), ("gpt-6.1-sol", "/else")]
)
def test_a_change_of_model_or_directory_is_told_with_all_that_is_known(
    out: Output, session: SessionAssembler, model: str | None, cwd: str | None
) -> None:
    session.begin_session(
        version="0.166.0", model="gpt-5.5", cwd="/workspace", parent_session_id="p"
    )
    out.take_messages()

    session.begin_session(model=model, cwd=cwd)

    assert out.take_messages() == [
        SessionStarted(
            session_id="s",
            harness="codex",
            version="0.166.0",
            model=model or "gpt-5.5",
            cwd=cwd or "/workspace",
            parent_session_id="p",
        )
    ]
    assert session.cwd == (cwd or "/workspace")


def test_a_parent_that_is_heard_of_later_is_told_then(
    out: Output, session: SessionAssembler
) -> None:
    session.begin_session(model="gpt-5.5", cwd="/workspace")
    session.begin_session(parent_session_id="p")
    session.begin_session(parent_session_id="p")

    started = [message for message in out.take_messages() if isinstance(message, SessionStarted)]
    assert [(each.model, each.parent_session_id) for each in started] == [
        ("gpt-5.5", None),
        ("gpt-5.5", "p"),
    ]


def test_a_session_says_how_it_is_driven_and_which_call_started_it(
    out: Output, session: SessionAssembler
) -> None:
    session.begin_session(parent_session_id="p", parent_call_id="c", transport="stream-json")

    [started] = out.take_messages()
    assert isinstance(started, SessionStarted)
    assert (started.parent_call_id, started.transport) == ("c", "stream-json")


def test_facts_that_another_message_says_are_only_remembered(
    out: Output, session: SessionAssembler
) -> None:
    assert session.know_facts(model="gpt-5.5", cwd="/workspace")
    assert not session.know_facts(model="gpt-5.5")
    session.begin_session(model="gpt-5.5", cwd="/workspace")

    assert out.take_messages() == []
    assert session.cwd == "/workspace"


def test_a_parent_once_known_stays_the_parent(session: SessionAssembler) -> None:
    assert session.know_facts(parent_session_id="p")
    assert not session.know_facts(parent_session_id="q")


def test_the_session_that_rows_were_copied_from_is_not_told(
    out: Output, session: SessionAssembler
) -> None:
    session.is_copying = True
    session.begin_session(model="gpt-5.5", cwd="/elsewhere")

    assert out.take_messages() == []
    assert reasons(out) == ["session: the one that this was copied from"]
    assert session.cwd is None


def test_a_session_ends_with_its_reason(out: Output, session: SessionAssembler) -> None:
    session.end_session("shutdown")

    assert out.take_messages() == [SessionEnded(session_id="s", reason="shutdown")]
