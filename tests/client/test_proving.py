"""Repaired files, read by the real program."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dragoman.archive.care.repairing import repair
from dragoman.client.proving import Proof, prove
from support.archive.damaged import put, session_id_of

_PAGINATED = "0.166.0/patch_all.rollout.jsonl"
_LEGACY = "0.107.0/parallel_tools.exec-rollout.jsonl"


def ask(path: Path, session_id: str | None, codex: str) -> Proof:
    assert session_id is not None
    return asyncio.run(prove(path, session_id, has_turns=True, command=codex))


@pytest.mark.parametrize("damage", ["torn", "nuls", "swapped", "endless", "scribbled", "headless"])
def test_the_real_program_reads_what_was_repaired(
    runs: Path, tmp_path: Path, codex: str, damage: str
) -> None:
    done = repair(put(runs / _PAGINATED, tmp_path / "sessions", damage), tmp_path / "repaired")

    proof = ask(done.target, done.session_id, codex)

    assert done.problems == []
    assert proof.accepted, proof.text
    assert proof.turns == 1
    assert proof.items >= 4


def test_it_reads_old_files_too(runs: Path, tmp_path: Path, codex: str) -> None:
    done = repair(put(runs / _LEGACY, tmp_path / "sessions", "scribbled"), tmp_path / "repaired")

    assert ask(done.target, done.session_id, codex).accepted


def test_it_refuses_what_the_doctor_calls_broken(runs: Path, tmp_path: Path, codex: str) -> None:
    path = put(runs / _PAGINATED, tmp_path, "scribbled")

    assert ask(path, session_id_of(path), codex).accepted is False


def test_a_fork_is_read_with_the_file_that_it_goes_on_from(
    runs: Path, tmp_path: Path, codex: str
) -> None:
    parent = put(runs / "0.166.0/fork.rollout1.jsonl", tmp_path)
    child = put(runs / "0.166.0/fork.rollout2.jsonl", tmp_path)
    beside = [(parent, session_id_of(parent))]

    with_parent = asyncio.run(prove(child, session_id_of(child), beside=beside, command=codex))

    assert with_parent.accepted, with_parent.text
    assert ask(child, session_id_of(child), codex).accepted is False


def test_without_the_program_nobody_can_be_asked(tmp_path: Path) -> None:
    proof = asyncio.run(prove(tmp_path / "any.jsonl", "s", command=str(tmp_path / "nothing")))

    assert proof.accepted is None
    assert "is not there" in proof.text


def test_a_program_that_only_continues_sessions_is_not_asked(tmp_path: Path) -> None:
    proof = asyncio.run(prove(tmp_path / "x.jsonl", "x", harness="claude"))

    assert (proof.accepted, proof.text) == (None, "Claude Code cannot be asked to read a session")
