"""Claude and Codex by way of their ACP servers: the same story as in the session files that the same runs left.

Our own drivers are compared with these files as well, so this checks three readers against one another. The runs were
recorded with the real programs; the trials play and compare them again.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

import dragoman
from dragoman.harnesses import harness_of, sniff_dialect
from dragoman.harnesses.acp.quirks import LIMITS_OVER_ACP
from dragoman.harnesses.contract.reading import Limit
from dragoman.model.turns import Turn
from dragoman.testing.likeness import Difference, differences

_DATA = Path(__file__).parents[2] / "data" / "over-acp"
_RUNS = sorted(path.relative_to(_DATA) for path in _DATA.glob("*/*.acp.jsonl"))


def _turns(path: Path, session_id: str | None = None) -> list[Turn]:
    messages = list(dragoman.read(path))
    own = session_id or next(each.session_id for each in messages if each.session_id)
    return dragoman.fold(each for each in messages if each.session_id == own)


def _compare(run: Path, without: Limit | None = None) -> list[Difference]:
    live = _turns(_DATA / run)
    native = _DATA / run.parent / run.name.replace(".acp.", ".native.")
    limits = [each for each in _limits(run.parent.name, native) if each is not without]
    return differences(live, _turns(native, live[0].session_id), limits)


def _limits(agent: str, native: Path) -> Iterable[Limit]:
    dialect = sniff_dialect(native.read_bytes().split(b"\n")) or ""
    found = harness_of(dialect)
    assert found is not None
    own = [each for each in found.limits if each.applies(dialect, "9.0.0")]
    return [*LIMITS_OVER_ACP[agent], *own]


@pytest.mark.parametrize("run", _RUNS, ids=str)
def test_the_story_is_that_of_the_agents_own_file(run: Path) -> None:
    assert [str(each) for each in _compare(run)] == []


@pytest.mark.parametrize("agent", LIMITS_OVER_ACP)
def test_each_limit_is_needed(agent: str) -> None:
    runs = [run for run in _RUNS if run.parent.name == agent]
    assert len(runs) >= 4
    for limit in LIMITS_OVER_ACP[agent]:
        assert any(_compare(run, without=limit) for run in runs), limit.what


def test_the_page_says_what_is_lost() -> None:
    page = (Path(__file__).parents[3] / "docs" / "acp.md").read_text(encoding="utf-8")
    for limits in LIMITS_OVER_ACP.values():
        for limit in limits:
            assert limit.why in page
