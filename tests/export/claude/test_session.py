from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.export.claude.session import ExportedSession
from dragoman.model.messages import TurnEnded, UsageReport
from dragoman.model.usage import NOTHING, Usage

AT = datetime(2026, 11, 15, 22, 26, 6, tzinfo=UTC)


@given(st.lists(st.integers(0, 6)))
def test_no_id_is_given_out_twice_in_whatever_order_the_lines_come(lines: list[int]) -> None:
    session = ExportedSession("s")

    ids = [session.uuid(line) for line in lines]

    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", each) for each in ids)


def test_a_message_that_was_held_back_does_not_change_the_ids_of_the_others() -> None:
    in_order, with_one_late = ExportedSession("s"), ExportedSession("s")

    plain = [in_order.uuid(line) for line in (1, 4, 4, 5)]
    ids = [with_one_late.uuid(line) for line in (1, 4, 1, 4, 5)]

    assert [*ids[:2], *ids[3:]] == plain


def test_an_id_is_made_of_the_session_the_line_and_a_number() -> None:
    session = ExportedSession("s")

    assert [session.uuid(line) for line in (4, 4, 5)] == [
        "043a7187-74c5-872b-8d8a-000000040000",
        "043a7187-74c5-872b-8d8a-000000040001",
        "043a7187-74c5-872b-8d8a-000000050000",
    ]
    assert ExportedSession("other").uuid(5) == "d9298a10-d1b0-8735-8837-000000050000"


@pytest.mark.parametrize(
    ("began", "ended", "took"),
    [
        (AT, AT + timedelta(seconds=2.5), 2500),
        (AT, AT - timedelta(seconds=1), 0),
        (None, AT, 0),
        (AT, None, 0),
    ],
    ids=["known", "clock set back", "no beginning", "no end"],
)
def test_a_turn_takes_the_time_between_its_ends(
    began: datetime | None, ended: datetime | None, took: int
) -> None:
    session = ExportedSession("s")

    session.begin_turn(began)

    assert session.duration_ms(TurnEnded(at=ended, outcome="completed")) == took


@pytest.mark.parametrize(
    "reports",
    [
        [UsageReport(last=Usage(10, 4, 0, 1)), UsageReport(last=Usage(20, 6, 0, 2))],
        [
            UsageReport(total=Usage(110, 54, 0, 9), last=Usage(10, 4, 0, 1)),
            UsageReport(total=Usage(130, 60, 0, 11), last=Usage(20, 6, 0, 2)),
            UsageReport(total=Usage(130, 60, 0, 11), last=Usage(20, 6, 0, 2)),
        ],
        [UsageReport(total=Usage(30, 10, 0, 3))],
    ],
    ids=["responses only", "totals that began earlier, one said twice", "totals only"],
)
def test_what_a_first_turn_spends_is_found_out_from_any_kind_of_report(
    reports: list[UsageReport],
) -> None:
    session = ExportedSession("s")

    for each in reports:
        session.report(each)

    assert session.spent == Usage(30, 10, 0, 3)


def test_a_turn_spends_the_difference_of_the_totals_at_its_ends() -> None:
    session = ExportedSession("s")
    session.report(UsageReport(total=Usage(100, 0, 0, 10), last=Usage(100, 0, 0, 10)))

    session.begin_turn(AT)
    session.report(UsageReport(total=Usage(150, 0, 0, 15), last=Usage(50, 0, 0, 5)))
    session.report(UsageReport(total=Usage(230, 0, 0, 22), last=Usage(80, 0, 0, 7)))

    assert session.spent == Usage(130, 0, 0, 12)
    assert session.newest == Usage(80, 0, 0, 7)


def test_a_new_turn_has_said_and_spent_nothing() -> None:
    session = ExportedSession("s")
    session.last_text, session.tool_calls, session.retries = "Done.", 3, 1
    session.open_todo_calls.add("c1")
    session.report(UsageReport(last=Usage(10, 0, 0, 1)))

    session.begin_turn(AT)

    assert (session.last_text, session.tool_calls, session.retries) == ("", 0, 0)
    assert (session.open_todo_calls, session.spent) == (set(), NOTHING)
