"""Which harness claims which stream: the first lines of real recordings of six programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.harnesses import HARNESSES

_LINES = Path(__file__).parents[1] / "data" / "sniffing" / "first-lines.jsonl"


def _recordings() -> list[dict[str, Any]]:
    return [json.loads(line) for line in _LINES.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("recording", _recordings(), ids=lambda each: each["of"])
def test_a_stream_is_claimed_by_one_harness_at_most(recording: dict[str, Any]) -> None:
    lines = [line.encode() for line in recording["lines"]]

    for length in range(1, len(lines) + 1):
        claims = {harness.sniff(lines[:length]) for harness in HARNESSES} - {None}
        assert claims <= {recording["dialect"]}
    assert {harness.sniff(lines) for harness in HARNESSES} - {None} == {recording["dialect"]} - {
        None
    }


def test_samples_of_six_programs_are_there() -> None:
    programs = {each["of"].split("/")[0] for each in _recordings()}

    assert programs >= {"claude", "codex", "copilot", "gemini", "opencode", "qwen"}
