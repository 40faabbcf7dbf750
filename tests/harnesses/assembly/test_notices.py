from __future__ import annotations

import pytest

from dragoman.harnesses.assembly.notices import SessionNotices
from dragoman.harnesses.assembly.output import Output, SessionOutput
from dragoman.model.messages import Compacted, Notice, TurnError


@pytest.fixture
def stream() -> Output:
    return Output(audit=True)


@pytest.fixture
def notices(stream: Output) -> SessionNotices:
    return SessionNotices(SessionOutput(stream, "s"))


def test_a_notice_is_emitted_once_for_all_channels(stream: Output, notices: SessionNotices) -> None:
    notices.notice("event", "warning", "slow", will_retry=True)
    notices.notice("item", "warning", "slow")

    assert stream.take_messages() == [
        Notice(session_id="s", level="warning", text="slow", will_retry=True)
    ]
    assert [each.reason for each in stream.take_duplicates()] == ["notice: emitted before"]


def test_the_next_turn_may_have_an_equal_notice(stream: Output, notices: SessionNotices) -> None:
    notices.notice("event", "info", "hello")
    notices.compacted("row", "summary")
    notices.end_turn()
    notices.notice("item", "info", "hello")
    notices.compacted("event")

    assert [type(each) for each in stream.take_messages()] == [Notice, Compacted, Notice, Compacted]


def test_an_error_is_emitted_with_its_details(stream: Output, notices: SessionNotices) -> None:
    notices.error(TurnError("turn_failed", "no room", retryable=False, details="200k tokens"))

    assert stream.take_messages() == [
        Notice(session_id="s", level="error", text="no room\n200k tokens")
    ]
