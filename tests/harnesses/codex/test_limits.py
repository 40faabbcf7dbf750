"""The table of limits, beyond what the conformance suite checks: that each is needed, and no other is."""

from __future__ import annotations

from pathlib import Path

from dragoman.harnesses.codex import CODEX
from dragoman.reading.audit import audit
from dragoman.testing.conformance.pairs import recordings

_RUNS = Path(__file__).parents[2] / "data" / "codex" / "runs"


def test_each_limit_names_a_dialect() -> None:
    names = {dialect.name for dialect in CODEX.dialects}

    assert {limit.dialect for limit in CODEX.limits} <= names


def test_the_recordings_are_of_many_releases_and_every_live_dialect() -> None:
    found = list(recordings(_RUNS))

    assert len({recording.release for recording in found}) >= 10
    read = {audit(recording.path).dialect for recording in found}
    assert read == {dialect.name for dialect in CODEX.dialects} - {"codex-responses"}
