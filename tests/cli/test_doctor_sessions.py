from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from damaged import put
from dragoman.cli.doctor import doctor

_RUN = "0.166.0/patch_all.rollout.jsonl"


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
        assert "line 20: 40 unreadable bytes went to the lost rows" in said
        assert "✓ read again" in said
        assert said.endswith("1 repaired, 0 not all right\n")


def test_options_for_sessions_need_sessions() -> None:
    with pytest.raises(click.UsageError, match="--sessions"):
        doctor.main(["--repair"], standalone_mode=False)
