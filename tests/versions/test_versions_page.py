"""The program that plays stories with many releases, as far as it can be tried without them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import run
from page import BEGIN, END, FAILED, PAGE, PASSED, REFUSED, Verdict, replaced, section, tables
from plays import Play
from releases import NEWEST, OLDER, REQUIRED, NotInstalled, find_program, install, number, resolve
from run import SCENARIOS
from scenarios import Scenario

from dragoman.errors import Unsupported


def _scenario(since: str = "0.66.0", name: str = "a story") -> Scenario:
    async def story(play: Play) -> None:
        if play.release < (0, 66, 0):
            raise Unsupported("this", needs="Codex 0.66.0 or later", have="Codex 0.60.1")
        assert play.release != (0, 77, 0), "seventy-seven"

    return Scenario(name=name, mode="exec", since=number(since), story=story)


@pytest.mark.parametrize(
    ("release", "since", "mark", "reason"),
    [
        ("0.104.0", "0.66.0", PASSED, ""),
        ("0.77.0", "0.66.0", FAILED, "seventy-seven"),
        ("0.60.1", "0.66.0", REFUSED, "Codex 0.66.0 or later"),
        ("0.60.1", "0.44.0", FAILED, "refused, though this release can"),
        ("0.104.0", "0.148.0", FAILED, "it was not refused"),
        ("0.59.0", "0.66.0", FAILED, "the refusal names no release"),
    ],
)
def test_a_story_passes_is_refused_with_reason_or_fails(
    release: str, since: str, mark: str, reason: str
) -> None:
    verdict = run.play(_scenario(since), release, Path("codex"))

    assert (verdict.mark, verdict.is_good) == (mark, mark != FAILED)
    assert reason in verdict.reason


def test_a_story_that_does_not_end_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(play: Play) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(run, "SECONDS", 0.01)
    endless = Scenario(name="endless", mode="exec", since=(0, 44, 0), story=story)
    assert "TimeoutError" in run.play(endless, "0.104.0", Path("codex")).reason


def test_the_page_has_every_story_with_every_release() -> None:
    shown = section(PAGE.read_text(encoding="utf-8"))
    rows = [[cell.strip() for cell in line.split("|")] for line in shown.split("\n")]
    heads = [row for row in rows if len(row) > 1 and row[1].startswith("Driven by")]
    assert len(heads) == 2
    for head in heads:
        for release in (*OLDER, *REQUIRED):
            assert release.removesuffix(".0") in head
        assert len(head) == len(OLDER) + len(REQUIRED) + NEWEST + 4  # and the newest
    names = [row[1] for row in rows if len(row) > 1]
    for scenario in SCENARIOS:
        assert names.count(scenario.name) == len(
            [one for one in SCENARIOS if one.name == scenario.name]
        )
    assert FAILED not in shown


def test_a_table_is_written_between_its_marks() -> None:
    one = Verdict(scenario=_scenario(), release="0.104.0", mark=PASSED, alike=2, sessions=3)
    two = Verdict(scenario=_scenario(), release="0.60.1", mark=REFUSED, reason="Codex 0.66.0")
    made = tables([one, two])

    assert made.split("\n")[:4] == [
        "| Driven by `exec` | 0.60.1 | 0.104 | needs |",
        "| --- | --- | --- | --- |",
        "| a story | · | ✓ | Codex 0.66.0 |",
        "| sessions with equal messages live and from their file | · | 2/3 |  |",
    ]
    text = f"before\n{BEGIN}old\n{END}after\n"
    assert replaced(text, made) == f"before\n{BEGIN}\n{made}\n{END}after\n"
    with pytest.raises(ValueError, match="lacks the lines"):
        replaced("nothing", made)


def test_a_program_is_found_wherever_npm_has_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("platform.system", lambda: "Linux")
    triple = "x86_64-unknown-linux-musl"
    places = {
        "0.34.0": f"codex/bin/codex-{triple}",
        "0.66.0": f"codex/vendor/{triple}/codex/codex",
        "0.104.0": f"codex-linux-x64/vendor/{triple}/codex/codex",
        "0.166.0": f"codex-linux-x64/vendor/{triple}/bin/codex",
    }
    for release, place in places.items():
        path = tmp_path / release / "node_modules" / "@openai" / place
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\n", encoding="utf-8")
        path.chmod(0o755)
        assert install(release, tmp_path) == path
    with pytest.raises(NotInstalled, match="no program for"):
        find_program(tmp_path)


def test_without_npm_the_newest_that_is_kept_is_todays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert resolve("0.66", tmp_path) == "0.66.0"
    with pytest.raises(NotInstalled, match="npm is not on the PATH"):
        resolve("latest", tmp_path)
    for release in ("0.99.0", "0.104.0"):
        (tmp_path / release).mkdir()
    assert resolve("latest", tmp_path) == "0.104.0"
