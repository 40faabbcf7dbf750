from __future__ import annotations

import asyncio
import json
from pathlib import Path

import click
import pytest
from codex_cli_bin import bundled_codex_path

from dragoman.archive.api import SessionArchive
from dragoman.cli.commands.doctor import doctor
from dragoman.client.connecting import connect
from dragoman.errors import UsageError
from dragoman.rehearsal import Rehearsal
from support.archive.damaged import put, session_id_of

_RUN = "0.166.0/patch_all.rollout.jsonl"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "home"


def test_what_is_whole_is_said_to_be(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(runs / _RUN, tmp_path)

    assert doctor.main(["--sessions", str(tmp_path)], standalone_mode=False) == 0

    assert capsys.readouterr().out == "nothing is broken\n"


def test_each_finding_is_a_line_with_its_place_and_a_way_out(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = put(runs / _RUN, tmp_path, "scribbled")

    assert doctor.main(["--sessions", str(path)], standalone_mode=False) == 1

    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"✗ {path}:20: ")
    assert said[1].startswith("  → ")
    assert said[-1] == "2 broken"
    assert doctor.main(["--sessions", "--json", str(path)], standalone_mode=False) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["kind"] for row in rows] == ["unreadable", "unreadable"]


@pytest.mark.parametrize("as_json", [False, True])
def test_a_repair_says_what_it_did_and_who_has_read_it(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    whole = put(runs / "0.166.0/err_then_ok.rollout.jsonl", tmp_path / "sessions")
    path = put(runs / _RUN, tmp_path / "sessions", "nuls")
    words = ["--sessions", str(tmp_path / "sessions"), "--repair", "-o", str(tmp_path / "new")]
    words += ["--command", str(tmp_path / "nothing")] + ["--json"] * as_json

    assert doctor.main(words, standalone_mode=False) == 0

    said = capsys.readouterr().out
    assert (tmp_path / "new" / path.name).exists()
    assert not (tmp_path / "new" / whole.name).exists()
    if as_json:
        row = json.loads(said)
        assert row["good"] is True
        assert row["proof"]["accepted"] is None
        assert row["deeds"]
    else:
        assert "line 20: 40 unreadable bytes were dropped" in said
        assert "✓ read again" in said
        assert said.endswith("1 repaired, 0 with problems\n")


def test_options_for_sessions_need_sessions() -> None:
    with pytest.raises(click.UsageError, match="--sessions"):
        doctor.main(["--repair"], standalone_mode=False)


def test_a_session_can_be_named_by_its_id(
    runs: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = put(runs / _RUN, home / "sessions", "scribbled")
    session_id = session_id_of(path)

    assert doctor.main(["--sessions", session_id[:13]], standalone_mode=False) == 1

    assert f"✗ {path}:20: " in capsys.readouterr().out
    with pytest.raises(UsageError, match="no session 'nothing'"):
        doctor.main(["--sessions", "nothing"], standalone_mode=False)


def test_the_index_is_looked_at_as_well(
    runs: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(runs / _RUN, home / "sessions")
    with SessionArchive(home=home, cache=tmp_path / "cache") as archive:
        archive.index()
    put(runs / "0.166.0/err_then_ok.rollout.jsonl", home / "sessions")

    assert doctor.main(["--sessions"], standalone_mode=False) == 0

    said = capsys.readouterr().out
    assert "it is not in the index yet" in said
    assert said.endswith("nothing is broken, 1 odd\n")


def test_what_the_program_lists_is_held_against_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the list that the real program keeps, while it runs and after."""

    with Rehearsal("- say: Hello.\n- say: Hello.") as rehearsal:
        home = rehearsal.codex_home
        monkeypatch.setenv("CODEX_HOME", str(home))
        env = {**rehearsal.env, "HOME": str(home)}

        async def play() -> list[str]:
            program = str(bundled_codex_path())
            async with asyncio.timeout(60), connect("codex", command=program, env=env) as codex:
                made = [await codex.start(cwd=tmp_path) for _ in range(2)]
                for session in made:
                    await session.run("hello")
                doctor.main(["--sessions", "--json"], standalone_mode=False)
                assert "does not list it" not in capsys.readouterr().out
                return [session.id for session in made]

        lost, kept = asyncio.run(play())
        next(home.glob(f"sessions/**/*{lost}.jsonl")).unlink()
        path = next(home.glob(f"sessions/**/*{kept}.jsonl"))
        unlisted = f"{lost[:-4]}0000"
        stranger = path.with_name(path.name.replace(kept, unlisted))
        stranger.write_bytes(path.read_bytes().replace(kept.encode(), unlisted.encode()))
        before = {each.name: each.stat().st_mtime_ns for each in home.glob("state_*")}
        assert before

        doctor.main(["--sessions", "--json"], standalone_mode=False)

        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        listed = {row["path"]: row for row in found if row["kind"] == "list"}
        gone = [row for path, row in listed.items() if lost in path]
        assert [f"session {lost}, whose file is missing" in row["what"] for row in gone] == [True]
        assert "does not list it" in listed[str(stranger)]["what"]
        assert str(path) not in listed
        assert not any(row["is_broken"] for row in listed.values())
        assert {each.name: each.stat().st_mtime_ns for each in home.glob("state_*")} == before
