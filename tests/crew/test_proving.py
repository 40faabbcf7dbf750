"""Repaired files, read by the real program."""

from __future__ import annotations

from pathlib import Path

import pytest
from damaged import put, session_id_of

from dragoman.archive.repairing import repair
from dragoman.crew.proving import Proof, prove

pytestmark = pytest.mark.anyio

_PAGINATED = "0.166.0/patch_all.rollout.jsonl"
_LEGACY = "0.107.0/parallel_tools.exec-rollout.jsonl"


async def _repaired(source: Path, folder: Path, damage: str | None, codex: str) -> Proof:
    done = repair(put(source, folder / "sessions", damage), folder / "repaired")
    assert done.problems == []
    assert done.session_id is not None
    return await prove(done.target, done.session_id, has_turns=True, command=codex)
