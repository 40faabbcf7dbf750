from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

import dragoman
from dragoman.archive.care.checking import check_file
from dragoman.archive.care.repairing import Repair, repair
from dragoman.errors import UnreadableSource, UsageError
from dragoman.model.messages import Text, TurnEnded
from support.archive.damaged import DAMAGE, put
from support.mutations import mutated, recordings

_PAGINATED = "0.166.0/patch_all.rollout.jsonl"
_LEGACY = "0.107.0/parallel_tools.exec-rollout.jsonl"


def mended(runs: Path, tmp_path: Path, name: str, damage: str | None) -> Repair:
    path = put(runs / name, tmp_path / "sessions", damage)
    before = path.read_bytes()

    done = repair(path, tmp_path / "repaired")

    assert path.read_bytes() == before, "the original was touched"
    return done


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", [_PAGINATED, _LEGACY])
def test_the_copy_is_whole_and_tells_what_the_original_could(
    runs: Path, tmp_path: Path, name: str, damage: str
) -> None:
    done = mended(runs, tmp_path, name, damage)

    assert done.problems == []
    assert done.turns > 0
    if name == _PAGINATED:
        assert done.actions
    again = [finding for finding in check_file(done.target).findings if finding.is_broken]
    assert again == []


@pytest.mark.parametrize("name", [_PAGINATED, _LEGACY])
def test_a_file_that_is_whole_is_copied_byte_for_byte(
    runs: Path, tmp_path: Path, name: str
) -> None:
    done = mended(runs, tmp_path, name, None)

    assert (done.actions, done.problems, done.dropped_path) == ([], [], None)
    assert done.target.read_bytes() == (runs / name).read_bytes()


def test_what_was_only_out_of_place_comes_back_as_it_was(runs: Path, tmp_path: Path) -> None:
    done = mended(runs, tmp_path, _PAGINATED, "glued")

    assert done.target.read_bytes() == (runs / _PAGINATED).read_bytes()


@pytest.mark.parametrize(
    ("name", "kind"),
    [(_PAGINATED, "turn_aborted"), (_LEGACY, "turn_aborted")],
)
def test_a_turn_is_ended_as_its_own_release_would_have(
    runs: Path, tmp_path: Path, name: str, kind: str
) -> None:
    done = mended(runs, tmp_path, name, "endless")

    old = json.loads((runs / name).read_bytes().splitlines()[-1])
    last = json.loads(done.target.read_bytes().splitlines()[-1])
    assert last["payload"]["type"] == kind
    assert last["payload"]["turn_id"] == old["payload"]["turn_id"]
    assert last.get("ordinal") == old.get("ordinal")
    beside = {"reason", "last_agent_message", "time_to_first_token_ms"}
    assert set(last["payload"]) - beside == set(old["payload"]) - beside


def test_a_turn_that_gave_its_final_answer_was_completed(runs: Path, tmp_path: Path) -> None:
    path = put(runs / _PAGINATED, tmp_path / "sessions", "endless")
    said = path.read_bytes()
    answered = said.replace(b'"text":"Patched."}]', b'"text":"Patched."}],"phase":"final_answer"')
    assert answered != said
    path.write_bytes(answered)

    done = repair(path, tmp_path / "repaired")

    last = json.loads(done.target.read_bytes().splitlines()[-1])["payload"]
    assert (last["type"], last["last_agent_message"]) == ("task_complete", "Patched.")
    assert done.problems == []


def test_what_is_lost_lies_beside_the_copy(runs: Path, tmp_path: Path) -> None:
    done = mended(runs, tmp_path, _PAGINATED, "scribbled")

    assert done.dropped_path is not None
    lost = [json.loads(line) for line in done.dropped_path.read_text(encoding="utf-8").splitlines()]
    assert [row.get("raw") for row in lost] == ['{"timestamp": oops', None]
    assert lost[1]["raw_base64"] == "//4="
    assert lost[0]["line"] + 1 == lost[1]["line"]


def test_a_text_that_was_cut_off_is_closed(runs: Path, tmp_path: Path) -> None:
    path = put(runs / _PAGINATED, tmp_path / "sessions")
    lines = path.read_bytes().splitlines(keepends=True)
    number = next(i for i, line in enumerate(lines) if b'"text":"Patched."' in line)
    cut = lines[number].index(b"Patched.") + 5
    path.write_bytes(b"".join(lines[:number]) + lines[number][:cut])

    done = repair(path, tmp_path / "repaired")

    assert done.problems == []
    said = [message for message in dragoman.read(done.target) if isinstance(message, Text)]
    assert said[-1].text == "Patch"
    ends = [message for message in dragoman.read(done.target) if isinstance(message, TurnEnded)]
    assert len(ends) == 1
    assert any("cut off" in deed.what for deed in done.actions)


def test_a_header_that_stands_elsewhere_is_put_first(runs: Path, tmp_path: Path) -> None:
    done = mended(runs, tmp_path, _PAGINATED, "late header")

    rows = [json.loads(line) for line in done.target.read_bytes().splitlines()]
    whole = [json.loads(line) for line in (runs / _PAGINATED).read_bytes().splitlines()]
    assert [row["payload"] for row in rows] == [row["payload"] for row in whole]
    assert [row["ordinal"] for row in rows] == list(range(len(rows)))


def test_bytes_that_are_no_text_are_replaced_and_kept_beside(runs: Path, tmp_path: Path) -> None:
    done = mended(runs, tmp_path, _LEGACY, "not text")

    assert "\ufffd" in done.target.read_text("utf-8")
    assert done.dropped_path is not None
    assert "raw_base64" in done.dropped_path.read_text("utf-8")


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_in_a_file_it_is_looked_at_and_copied(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    name, lines = random.choice(recordings()["codex-rollout"])
    path = tmp_path / "rollout-2026-11-15T22-25-24-01a1e150-b3eb-7a30-8813-455db931ee86.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in mutated(random, lines)))

    found = check_file(path)
    try:
        done = repair(path, tmp_path / "repaired")
    except UnreadableSource:  # harmed until nothing was left
        assert path.stat().st_size < 2, name
        return

    assert found.lines >= done.target.read_bytes().count(b"\n") - len(done.actions)


def test_an_unended_turn_ends_before_the_next_one_begins(runs: Path, tmp_path: Path) -> None:
    done = mended(runs, tmp_path, "0.153.0/kill_then_resume.rollout.jsonl", None)

    rows = [json.loads(line) for line in done.target.read_bytes().splitlines()]
    assert [row["ordinal"] for row in rows] == list(range(len(rows)))
    assert rows[21]["payload"]["type"] == "turn_aborted"
    assert rows[22]["payload"]["type"] == "task_started"
    assert done.problems == []


def test_the_copy_gets_the_name_that_its_session_needs(runs: Path, tmp_path: Path) -> None:
    path = put(runs / _PAGINATED, tmp_path / "sessions")
    wrong = path.rename(path.with_name(path.name.replace("01a1", "ffff")))

    done = repair(wrong, tmp_path / "repaired")

    assert done.session_id is not None
    assert done.target.name.endswith(f"{done.session_id}.jsonl")


def test_nothing_is_ever_written_over(runs: Path, tmp_path: Path) -> None:
    done = mended(runs, tmp_path, _PAGINATED, "torn")

    with pytest.raises(UsageError, match="already exists"):
        repair(done.source, done.target.parent)
    with pytest.raises(UsageError, match="already exists"):
        repair(done.target, done.target.parent)


def test_there_is_nothing_to_repair_in_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()

    with pytest.raises(UnreadableSource):
        repair(tmp_path / "empty.jsonl", tmp_path / "repaired")
