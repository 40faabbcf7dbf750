from __future__ import annotations

from datetime import UTC, datetime

from dragoman.web.page.rows import UsageRow, UsageView
from dragoman.web.page.usage_view import usage
from support.page.checks import check

AT = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)


def test_usage_says_what_was_spent_and_what_has_no_price() -> None:
    day = UsageRow(
        key="2026-11-01",
        input_tokens=1000,
        cached_input_tokens=400,
        output_tokens=50,
        cost=1.5,
        sessions=2,
    )
    free = UsageRow(key="local", input_tokens=5)

    page = usage(
        UsageView(
            days=[day],
            models=[day, free],
            windows=[("weekly", 40.0, AT), ("x", None, None)],
            unpriced_tokens=1234,
        )
    )

    assert "$1.50" in page
    assert "40 %" in page
    assert "1.23k tokens belong to models without a known price" in page
    assert "not reported" in page
    check(page)
    assert '<progress max="100" value="40"' in page
    full = usage(UsageView(windows=[("weekly", 85.0, None)]))
    assert '<progress max="100" value="85" class="full"' in full
    assert "No usage yet." in usage(UsageView())


def test_a_day_on_which_nothing_was_spent_has_its_place_in_the_chart() -> None:
    days = [UsageRow(key="2026-11-01", input_tokens=9), UsageRow(key="2026-11-04", input_tokens=9)]

    page = usage(UsageView(days=[*days, UsageRow(key="no day")], sessions=3))

    assert page.count('<g class="day">') == 4
    assert "2026-11-03: 0 in" in page
    assert "<dt>Sessions</dt><dd>3</dd>" in page
