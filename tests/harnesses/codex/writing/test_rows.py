from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from dragoman.harnesses.codex.writing.rows import RolloutRows
from support.handoff import new_session


def _rows(release: tuple[int, int, int] = (0, 169, 0)) -> RolloutRows:
    return RolloutRows(new_session("codex", release, source="gemini"), release)


def _decoded(rows: RolloutRows) -> list[dict[str, Any]]:
    return [json.loads(line) for line in rows.lines]


def test_the_header_says_whose_the_session_is() -> None:
    rows = _rows()
    rows.header()

    [row] = _decoded(rows)
    meta = row["payload"]
    assert (row["type"], row["timestamp"]) == ("session_meta", "2026-11-19T08:30:00.250Z")
    assert (meta["cwd"], meta["cli_version"], meta["source"]) == ("/workspace", "0.169.0", "cli")
    assert meta["model_provider"] == "openai"
    assert meta["dragoman_handoff"] == {"harness": "gemini", "session_id": "source-1"}


def test_rows_have_the_time_of_what_they_say_and_the_last_one_that_of_the_hand_off() -> None:
    rows = _rows()
    rows.at(datetime(2026, 1, 2, tzinfo=UTC))
    rows.event("agent_message", message="hi")
    rows.at(None)
    rows.event("agent_message", message="ho")
    rows.handed_off()

    assert [row["timestamp"] for row in _decoded(rows)] == [
        "2026-01-02T00:00:00.000Z", "2026-01-02T00:00:00.000Z", "2026-11-19T08:30:00.250Z",
    ]  # fmt: skip


def test_turns_begin_and_end_in_rows_since_0_100() -> None:
    for release, expected in (
        ((0, 99, 0), ["turn_aborted"]),
        ((0, 100, 0), ["task_started", "task_complete", "turn_aborted"]),
    ):
        rows = _rows(release)
        rows.turn_started("t")
        rows.turn_completed("t", "bye")
        rows.turn_interrupted("t")

        assert [row["payload"]["type"] for row in _decoded(rows)] == expected
