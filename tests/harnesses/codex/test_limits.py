"""Live equals disk, over the recordings that come with the project, and nothing but the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.harnesses.codex import CODEX
from dragoman.reading.audit import audit
from dragoman.testing.recordings import Recording, compare, recordings

_RUNS = Path(__file__).parents[2] / "data" / "codex" / "runs"
_ALL = list(recordings(_RUNS))
_LIVE = [recording for recording in _ALL if recording.left()]


def _name(recording: Recording) -> str:
    return f"{recording.release}/{recording.scenario}.{recording.kind}"


@pytest.mark.parametrize("recording", _LIVE, ids=_name)
def test_a_live_stream_tells_what_its_files_tell(recording: Recording) -> None:
    pairs = list(compare(CODEX, recording))
    assert pairs
    assert [str(found) for pair in pairs for found in pair.differences()] == []


@pytest.mark.parametrize("recording", _ALL, ids=_name)
def test_no_line_is_lost(recording: Recording) -> None:
    account = audit(recording.path)
    assert account.lines == account.told + account.duplicates.total()
    assert account.unaccounted == []


def test_each_line_of_the_table_is_needed_by_a_recording() -> None:
    needed = {
        id(limit)
        for recording in _LIVE
        for pair in compare(CODEX, recording)
        for limit in pair.needed()
    }
    idle = [limit for limit in CODEX.limits if id(limit) not in needed]
    assert idle == []


def test_the_recordings_are_of_many_releases_and_every_live_dialect() -> None:
    assert len({recording.release for recording in _ALL}) >= 10
    heard = {audit(recording.path).dialect for recording in _ALL}
    assert heard == {dialect.name for dialect in CODEX.dialects} - {"codex-responses"}
