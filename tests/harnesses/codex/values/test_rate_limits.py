from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.values.rate_limits import rate_windows, windows_in
from dragoman.model.messages import RateWindow

AT = datetime(2026, 11, 16, 2, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("limits", "windows"),
    [
        pytest.param(
            {
                "limit_id": "codex",
                "limit_name": None,
                "primary": {
                    "used_percent": 12.5,
                    "window_minutes": 300,
                    "resets_at": 1794800000,
                },
                "secondary": {
                    "used_percent": 47.0,
                    "window_minutes": 10080,
                    "resets_at": 1794900000,
                },
                "credits": {"has_credits": True, "unlimited": False, "balance": "9.99"},
                "plan_type": None,
            },
            [
                RateWindow("primary", 12.5, datetime(2026, 11, 16, 3, 33, 20, tzinfo=UTC)),
                RateWindow("secondary", 47.0, datetime(2026, 11, 17, 7, 20, tzinfo=UTC)),
            ],
            id="rollouts and events",
        ),
        pytest.param(
            {
                "primary": {
                    "usedPercent": 13,
                    "windowDurationMins": 300,
                    "resetsAt": 1794800000,
                },
                "secondary": None,
                "planType": None,
            },
            [RateWindow("primary", 13.0, datetime(2026, 11, 16, 3, 33, 20, tzinfo=UTC))],
            id="app-server",
        ),
        pytest.param(
            {
                "primary": {
                    "used_percent": 12.5,
                    "window_minutes": 300,
                    "resets_in_seconds": 1800,
                },
                "secondary": {"used_percent": 0, "resets_in_seconds": 86400},
            },
            [
                RateWindow("primary", 12.5, AT + timedelta(minutes=30)),
                RateWindow("secondary", 0.0, AT + timedelta(days=1)),
            ],
            id="0.42, from now",
        ),
        pytest.param(
            {"primary": {"usedPercent": 1, "resetsInSeconds": 60}},
            [RateWindow("primary", 1.0, AT + timedelta(minutes=1))],
            id="from now, in camelCase",
        ),
        pytest.param(
            {
                "primary_used_percent": 12.5,
                "weekly_used_percent": 47,
                "primary_to_weekly_ratio_percent": 10.0,
                "primary_window_minutes": 300,
            },
            [RateWindow("primary", 12.5), RateWindow("weekly", 47.0)],
            id="flat",
        ),
        pytest.param({"primary": None, "secondary": None}, [], id="nothing is known"),
    ],
)
def test_windows_are_read_in_every_shape(limits: Any, windows: list[RateWindow]) -> None:
    assert rate_windows(limits, AT) == windows


def test_a_wait_without_a_clock_has_no_end() -> None:
    limits = {"primary": {"used_percent": 1, "resets_in_seconds": 1800}}

    assert rate_windows(limits, None) == [RateWindow("primary", 1.0)]


@pytest.mark.parametrize(
    "when",
    [
        {"resets_at": 1e30},
        {"resets_at": 10**400},
        {"resets_at": "tomorrow"},
        {"resets_at": None},
        {"resets_in_seconds": 1e30},
        {"resets_in_seconds": True},
        {},
    ],
    ids=lambda when: str(when)[:30],
)
def test_a_time_that_cannot_be_is_left_out(when: dict[str, Any]) -> None:
    assert rate_windows({"primary": {"used_percent": 1, **when}}, AT) == [
        RateWindow("primary", 1.0)
    ]


@pytest.mark.parametrize(
    "limits", [None, [], "x", {}, {"primary": {"used_percent": True}}, {"primary": [1]}], ids=str
)
def test_what_is_no_window_makes_none(limits: Any) -> None:
    assert rate_windows(limits, AT) == []


_numbers = st.none() | st.integers(-5, 10**12) | st.floats(allow_nan=False, allow_infinity=False)
_windows = st.none() | st.fixed_dictionaries(
    {"used_percent": _numbers},
    optional={"window_minutes": st.none() | st.integers(0, 9999), "resets_at": _numbers},
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "limit_id": st.none() | st.text(max_size=5),
            "primary": _windows,
            "secondary": _windows,
            "credits": st.none()
            | st.just({"has_credits": True, "unlimited": False, "balance": "3"}),
            "weekly_used_percent": _numbers,
            "plan_type": st.just("pro"),
        },
    ),
    st.randoms(),
)
def test_the_known_shape_is_read_as_any_other(limits: dict[str, Any], chance: Any) -> None:
    names = list(limits)
    chance.shuffle(names)
    limits = {name: limits[name] for name in names}
    assert windows_in(msgspec.json.encode(limits), AT) == rate_windows(limits, AT)
