from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.harnesses import HARNESSES
from dragoman.reading.audit import Account, audit
from dragoman.testing.conformance.pairs import Recording, compare, recordings
from dragoman.testing.recordings import check, main, table

CODEX = next(each for each in HARNESSES if each.name == "codex")

Copy = Callable[..., Path]


@pytest.fixture
def copy(runs: Path, tmp_path: Path) -> Copy:
    """Copy bundled recordings into a folder of their own; the folder."""

    def copied(*names: str) -> Path:
        for name in names:
            for path in runs.glob(f"{name}.*"):
                target = tmp_path / "codex" / path.relative_to(runs)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        return tmp_path / "codex"

    return copied


def test_the_name_of_a_file_says_what_it_is() -> None:
    path = Path("codex/0.44.0/plan.v2.exec-rollout.jsonl")

    assert Recording.at(path) == Recording("0.44.0", "plan.v2", "exec-rollout", path)


def test_recordings_come_by_release_as_numbers_go(copy: Copy) -> None:
    folder = copy("0.44.0/plan", "0.142.0/plan", "0.20.0/plan", "0.8.0/mcp")

    assert [(each.release, each.kind) for each in recordings(folder)] == [
        ("0.8.0", "exec"),
        ("0.8.0", "exec-rollout"),
        ("0.20.0", "exec"),
        ("0.20.0", "exec-rollout"),
        ("0.44.0", "exec"),
        ("0.44.0", "exec-rollout"),
        ("0.142.0", "appserver"),
        ("0.142.0", "rollout"),
    ]


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("0.44.0/plan.exec.jsonl", ["plan.exec-rollout.jsonl"]),
        ("0.142.0/plan.appserver.jsonl", ["plan.rollout.jsonl"]),
        ("0.28.0/plan.appserver-v1.jsonl", ["plan.appserver-v1-rollout.jsonl"]),
        ("0.20.0/approval_cmd_abort.proto.jsonl", ["approval_cmd_abort.proto-rollout.jsonl"]),
        (
            "0.42.0/approval_cmd_denied.mcpserver.jsonl",
            ["approval_cmd_denied.mcpserver-rollout.jsonl"],
        ),
        ("0.87.0/fork.appserver.jsonl", ["fork.rollout1.jsonl", "fork.rollout2.jsonl"]),
        ("0.44.0/plan.exec-rollout.jsonl", []),
    ],
)
def test_the_files_that_a_run_left_are_found(name: str, left: list[str], runs: Path) -> None:
    assert [path.name for path in Recording.at(runs / name).left()] == left


def test_a_run_knows_whether_its_session_was_resumed_later(runs: Path) -> None:
    assert Recording.at(runs / "0.57.0/agentsmd_prompt.exec.jsonl").is_resumed_later()
    assert not Recording.at(runs / "0.44.0/plan.exec.jsonl").is_resumed_later()


def test_a_live_stream_is_held_against_each_session_that_it_tells_of(runs: Path) -> None:
    pairs = list(compare(CODEX, Recording.at(runs / "0.87.0/fork.appserver.jsonl")))

    assert len(pairs) == 2
    assert len({pair.one[0].session_id for pair in pairs}) == 2
    assert [pair.differences() for pair in pairs] == [[], []]


def test_a_pair_knows_the_limits_it_needs(runs: Path) -> None:
    [pair] = compare(CODEX, Recording.at(runs / "0.44.0/plan.exec.jsonl"))

    needed = pair.needed()

    assert "prompts" in [limit.aspect for limit in needed]
    assert "edit moves" not in [limit.aspect for limit in needed]
    assert all(pair.differences(without=limit) for limit in needed)


def test_a_file_without_a_live_stream_makes_no_pair(runs: Path) -> None:
    assert list(compare(CODEX, Recording.at(runs / "0.44.0/plan.exec-rollout.jsonl"))) == []


def test_good_recordings_make_a_good_report(copy: Copy) -> None:
    report = check(CODEX, copy("0.44.0/plan", "0.142.0/plan"))

    assert report.is_good
    head, *rest = table(report).splitlines()
    assert head == (
        "release  dialect           files  lines  duplicates  unknown  malformed  lost  live = disk"
    )
    rows = [row.split() for row in rest]
    assert [row[:3] for row in rows] == [
        ["0.44.0", "codex-exec", "1"],
        ["0.44.0", "codex-rollout", "1"],
        ["0.142.0", "codex-app-server", "1"],
        ["0.142.0", "codex-rollout", "1"],
    ]
    assert [row[8:] for row in rows] == [["1/1"], [], ["1/1"], []]


def test_a_stream_that_tells_another_conversation_is_reported(
    copy: Copy, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy("0.44.0/plan")
    live = folder / "0.44.0" / "plan.exec.jsonl"
    live.write_bytes(live.read_bytes().replace(b"Plan finished.", b"Plan given up."))

    assert not check(CODEX, folder).is_good
    assert main([str(folder.parent)]) == 1
    shown = capsys.readouterr().out
    assert f"unlike: {live}\n    turn 1, steps: " in shown
    assert "0/1" in shown


def test_a_stream_of_no_known_dialect_is_reported(
    copy: Copy, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy("0.44.0/plan")
    notes, nothing = folder / "0.44.0" / "notes.exec.jsonl", folder / "0.44.0" / "none.exec.jsonl"
    notes.write_bytes(b"Dear diary\n")
    nothing.write_bytes(b"")

    assert check(CODEX, folder).unread == [notes]
    assert main([str(folder.parent)]) == 1
    assert f"not read: {notes}\n" in capsys.readouterr().out


def test_a_lost_line_is_reported(
    copy: Copy, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy("0.44.0/plan")
    live = folder / "0.44.0" / "plan.exec.jsonl"

    def forgetful(source: Path) -> Account:
        account = audit(source)
        account.unaccounted = [3] if source == live else []
        return account

    monkeypatch.setattr("dragoman.testing.recordings.audit", forgetful)

    assert check(CODEX, folder).unaccounted == [(live, [3])]
    assert main([str(folder.parent)]) == 1
    assert f"lost: {live}: lines [3]\n" in capsys.readouterr().out


def test_the_program_shows_the_table_and_ends_well(
    copy: Copy, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy("0.20.0/plan")

    assert main([str(folder.parent)]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith(f"{CODEX.title}\n\nrelease  dialect ")
    assert "0.20.0   codex-exec-old " in shown


def test_the_folder_of_one_harness_may_be_named_itself(
    copy: Copy, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy("0.20.0/plan")

    assert main([str(folder)]) == 0

    assert "0.20.0   codex-exec-old " in capsys.readouterr().out


def test_recordings_may_lie_below_runs(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    folder = copy("0.20.0/plan")
    folder.rename(folder.with_name("runs"))
    folder.mkdir()
    folder.with_name("runs").rename(folder / "runs")

    assert main([str(folder.parent)]) == 0

    assert "0.20.0   codex-exec-old " in capsys.readouterr().out


def test_a_folder_without_recordings_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2

    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"no recordings in {tmp_path}: expected codex/RELEASE/")


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["missing"]], ids=str)
def test_a_wrong_request_is_told_how_to_ask(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2

    assert capsys.readouterr().err == "usage: python -m dragoman.testing.recordings DIR\n"
