from __future__ import annotations

import json
from typing import Any

from dragoman.harnesses.claude.writing.rows import TranscriptRows
from support.handoff import new_session


def _decoded(rows: TranscriptRows) -> list[dict[str, Any]]:
    return [json.loads(line) for line in rows.lines]


def test_rows_are_a_chain() -> None:
    rows = TranscriptRows(new_session("claude", (2, 1, 327)))
    rows.origin(is_end=False)
    rows.user("go")
    rows.assistant({"type": "text", "text": "ok"}, stop_reason="end_turn")
    rows.user("more")
    rows.origin(is_end=True)

    first, *chain, last = _decoded(rows)
    assert [row["parentUuid"] for row in chain] == [None, chain[0]["uuid"], chain[1]["uuid"]]
    assert len({row["uuid"] for row in chain}) == 3
    assert {row["version"] for row in chain} == {"2.1.327"}
    assert "uuid" not in first
    assert (first["isEnd"], last["isEnd"]) == (False, True)
    assert first["handedOffFrom"] == {"harness": "elsewhere", "sessionId": "source-1"}


def test_blocks_that_follow_each_other_are_one_response() -> None:
    rows = TranscriptRows(new_session("claude"))
    for text in ("one", "two"):
        rows.assistant({"type": "text", "text": text}, stop_reason="tool_use")
    rows.user([])
    rows.assistant({"type": "text", "text": "three"}, stop_reason="end_turn")

    ids = [row["message"]["id"] for row in _decoded(rows) if row["type"] == "assistant"]
    assert ids[0] == ids[1] != ids[2]


def test_no_response_has_spent_anything() -> None:
    rows = TranscriptRows(new_session("claude"))
    rows.assistant({"type": "text", "text": "one"}, stop_reason="tool_use")

    [row] = _decoded(rows)
    assert set(row["message"]["usage"].values()) == {0}
