from __future__ import annotations

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.model.messages import (
    TurnEnded,
    UsageReport,
)
from dragoman.model.usage import Usage
from support.assembling import reasons

ONE, TWO = Usage(120, 40, 0, 20), Usage(260, 90, 0, 50)


def test_totals_are_told_when_they_change_with_the_window_they_fill(
    out: Output, session: SessionAssembler
) -> None:
    session.usage(ONE, ONE, 258400)
    session.usage(ONE, ONE, 258400)
    session.usage(TWO, None)

    assert out.take_messages() == [
        UsageReport(session_id="s", turn_id="t", total=ONE, last=ONE, context_window=258400),
        UsageReport(session_id="s", turn_id="t", total=TWO, context_window=258400),
    ]
    assert reasons(out) == ["usage: unchanged"]


def test_the_first_total_of_a_resumed_session_is_an_old_one_until_the_agent_speaks(
    out: Output, session: SessionAssembler
) -> None:
    session.is_resumed = True
    session.usage(ONE, ONE)
    session.text("event", "ok")
    session.usage(TWO, TWO - ONE)
    session.end_turn("completed")

    end = out.take_messages()[-1]
    assert isinstance(end, TurnEnded)
    assert end.usage == TWO - ONE


def test_in_a_resumed_session_that_has_spoken_the_first_total_is_its_own(
    out: Output, session: SessionAssembler
) -> None:
    session.is_resumed = True
    session.text("event", "ok")
    session.usage(TWO, TWO - ONE)
    session.end_turn("completed")

    end = out.take_messages()[-1]
    assert isinstance(end, TurnEnded)
    assert end.usage == TWO - ONE


def test_where_nothing_is_counted_yet_the_first_total_is_the_turn_s(
    out: Output, session: SessionAssembler
) -> None:
    session.usage_starts()
    session.usage(TWO, TWO - ONE)
    session.end_turn("completed")

    end = out.take_messages()[-1]
    assert isinstance(end, TurnEnded)
    assert end.usage == TWO
    assert reasons(out) == ["usage: nothing counted yet"]


def test_the_record_of_a_response_is_told_even_if_its_total_is_known(
    out: Output, session: SessionAssembler
) -> None:
    session.usage_record(ONE, ONE)
    session.usage_record(ONE + ONE, ONE)
    session.end_turn("completed")

    first, second, end = out.take_messages()
    assert isinstance(first, UsageReport)
    assert isinstance(second, UsageReport)
    assert (first.total, second.total, second.last) == (ONE, ONE + ONE, ONE)
    assert isinstance(end, TurnEnded)
    assert end.usage == ONE + ONE


def test_usage_names_its_response_and_its_model(out: Output, session: SessionAssembler) -> None:
    session.usage(None, ONE, response_id="resp_1", model="small")
    session.usage_record(None, ONE, response_id="resp_2")

    reports = [message for message in out.take_messages() if isinstance(message, UsageReport)]
    assert [(report.response_id, report.model) for report in reports] == [
        ("resp_1", "small"),
        ("resp_2", None),
    ]


def test_a_cost_that_changes_is_news_even_if_the_tokens_do_not(
    out: Output, session: SessionAssembler
) -> None:
    session.usage(ONE, None, cost=0.25)
    session.usage(ONE, None, cost=0.25)
    session.usage(ONE, None, cost=0.5)
    session.usage(ONE, None)

    reports = [message for message in out.take_messages() if isinstance(message, UsageReport)]
    assert [report.cost for report in reports] == [0.25, 0.5]
    assert reasons(out) == ["usage: unchanged", "usage: unchanged"]
