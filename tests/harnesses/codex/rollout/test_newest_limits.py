"""What is found at the end of a rollout is what its parser tells last."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.harnesses.codex.rollout.newest_limits import newest_limits
from dragoman.model.messages import RateLimits

_DATA = Path(__file__).parents[3] / "data" / "codex"
_ROLLOUTS = sorted(_DATA.glob("codex-rollout/*/wire.jsonl"))


def row(kind: str, **payload: Any) -> bytes:
    at = "2026-11-16T02:00:01.000Z"
    told = {"timestamp": at, "type": kind, "payload": payload}
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


def count(used: float) -> bytes:
    limits = {"primary": {"used_percent": used, "window_minutes": 300, "resets_at": 1794799999}}
    return row("event_msg", type="token_count", info=None, rate_limits=limits)


@pytest.mark.parametrize("path", _ROLLOUTS, ids=lambda path: path.parent.name)
def test_recordings_tell_what_their_parser_tells(path: Path) -> None:
    told = [each for each in dragoman.read(path) if isinstance(each, RateLimits) and each.windows]

    found = newest_limits(path.read_bytes())

    assert (found.windows if found else None) == (told[-1].windows if told else None)


def test_the_last_row_with_windows_counts() -> None:
    empty = row("event_msg", type="token_count", info=None, rate_limits=None)
    quoted = row("event_msg", type="agent_message", message='"rate_limits":{"primary":{}}')
    damaged = count(99)[:90] + b"\n"

    found = newest_limits(count(10)[40:] + count(20) + empty + quoted + damaged)

    assert found is not None
    assert [(each.name, each.used_percent) for each in found.windows] == [("primary", 20)]
    assert found.at is not None


@pytest.mark.parametrize("data", [b"", b"\n", count(10)[40:], count(10)[:-20], b'"rate_limits":'])
def test_there_may_be_none(data: bytes) -> None:
    assert newest_limits(data) is None


def test_rows_of_early_releases_are_read() -> None:
    found = newest_limits(
        row(
            "event_msg",
            type="token_count",
            rate_limits={"primary_used_percent": 3.5, "weekly_used_percent": 1},
        )
    )

    assert found is not None
    assert {each.name: each.used_percent for each in found.windows} == {"primary": 3.5, "weekly": 1}
