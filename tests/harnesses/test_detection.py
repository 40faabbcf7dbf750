"""Which harness claims which stream: the first lines of real recordings of six programs."""

from __future__ import annotations

import pytest

from dragoman.harnesses import HARNESSES
from dragoman.testing.conformance.sniffing import FirstLines, first_lines


@pytest.mark.parametrize("recording", first_lines(), ids=lambda each: each.of)
def test_a_stream_is_claimed_by_one_harness_at_most(recording: FirstLines) -> None:
    lines = recording.lines

    for length in range(1, len(lines) + 1):
        claims = {harness.sniff(lines[:length]) for harness in HARNESSES} - {None}
        assert claims <= {recording.dialect}
    assert {harness.sniff(lines) for harness in HARNESSES} - {None} == {recording.dialect} - {None}


def test_samples_of_six_programs_are_there() -> None:
    programs = {each.of.split("/")[0] for each in first_lines()}

    assert programs >= {"claude", "codex", "copilot", "gemini", "opencode", "qwen"}
