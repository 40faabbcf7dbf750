"""Live equals disk, over runs of the real program, except for what the table says."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.harnesses.claude import CLAUDE
from dragoman.reading.audit import audit
from dragoman.testing.conformance.pairs import Recording, compare, recordings

_RUNS = Path(__file__).parents[2] / "data" / "claude" / "runs"
_ALL = list(recordings(_RUNS))
_LIVE = [recording for recording in _ALL if recording.left()]


def _name(recording: Recording) -> str:
    return f"{recording.release}/{recording.scenario}.{recording.kind}"


def _is_journal(recording: Recording) -> bool:
    return recording.path.read_bytes().startswith(b'{"dir"')


@pytest.mark.parametrize("recording", _LIVE, ids=_name)
def test_a_live_stream_tells_what_its_files_tell(recording: Recording) -> None:
    pairs = list(compare(CLAUDE, recording))
    assert len(pairs) == len(recording.left())
    assert [str(found) for pair in pairs for found in pair.differences()] == []


@pytest.mark.parametrize("recording", list(filter(_is_journal, _LIVE)), ids=_name)
def test_a_journal_of_both_directions_has_the_prompts_too(recording: Recording) -> None:
    for pair in compare(CLAUDE, recording):
        pair.limits = [limit for limit in pair.limits if limit.aspect != "prompts"]
        assert pair.differences() == []


@pytest.mark.parametrize("recording", _ALL, ids=_name)
def test_no_line_is_lost(recording: Recording) -> None:
    account = audit(recording.path)
    assert account.unaccounted == []
    assert account.lost == []
    assert account.unread == []
    assert not account.unknown
    assert account.malformed == []
