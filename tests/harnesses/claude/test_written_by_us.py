"""What ``dragoman convert --to claude`` writes is read back as Claude's stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.harnesses.claude import CLAUDE
from dragoman.harnesses.codex import CODEX
from dragoman.model.tools import TODO_WRITE
from dragoman.model.turns import Turn, Use, fold
from dragoman.reading.mapper import Mapper
from support.golden import cases, name_of

# A fork is written like a sub-agent: the format has no other way to say that a session has a parent.
_CASES = [case for case in (*cases(CODEX), *cases(CLAUDE)) if case.name != "fork"]


def _outline(turn: Turn) -> tuple[Any, ...]:
    """Return prompts, texts and calls, and how the turn ended. Plans are written as calls."""
    steps = [
        step.call.tool if isinstance(step, Use) else step.text
        for step in turn.steps
        if not (isinstance(step, Use) and step.call.tool == TODO_WRITE)
    ]
    # An open turn has no line of its own; the stream that was written ends, and the turn with it.
    outcome = turn.ended.outcome if turn.ended else "interrupted"
    return [prompt.text for prompt in turn.prompts], steps, outcome


@pytest.mark.parametrize("case", _CASES, ids=name_of)
def test_a_stream_of_ours_is_read_back(case: Path) -> None:
    source = (case / "wire.jsonl").read_bytes()
    mapper = Mapper("claude")
    written = "".join([*mapper.push(source), *mapper.flush()]).encode()

    account = dragoman.audit(written)
    assert account.dialect == "claude-stream-json"
    assert (account.unknown.total(), account.malformed, account.unaccounted) == (0, [], [])
    assert [_outline(turn) for turn in fold(dragoman.read(written))] == [
        _outline(turn) for turn in fold(dragoman.read(source))
    ]
