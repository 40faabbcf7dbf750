"""The ledger over a home with the sessions of every agent at once."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.cli.main import main
from support.archive.all_agents import AGENTS, lay_out
from support.claude import oracle

Usage = Callable[..., Any]


@pytest.fixture
def usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Usage:
    """What ``dragoman usage --json`` says of a home."""
    monkeypatch.setenv("TZ", "UTC")

    def ask(home: Path, *arguments: str) -> Any:
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / f"cache-of-{home.name}"))
        assert main(["usage", "--json", *arguments]) == 0
        said = capsys.readouterr().out
        return (
            [json.loads(row) for row in said.splitlines()]
            if "--explain" in arguments
            else json.loads(said)
        )

    return ask


def _counts(group: dict[str, Any]) -> tuple[dict[str, int], float | None, int]:
    return group["usage"], group["cost"], group["responses"]


def test_the_whole_is_the_sum_of_its_agents(tmp_path: Path, usage: Usage) -> None:
    lay_out(tmp_path / "all")
    whole = usage(tmp_path / "all", "--by", "harness")
    groups = {group["key"]: _counts(group) for group in whole["groups"]}

    assert sorted(groups) == sorted(AGENTS)
    for name in AGENTS:
        lay_out(tmp_path / name, name)
        alone = usage(tmp_path / name, "--by", "harness")
        assert [group["key"] for group in alone["groups"]] == [name]
        assert _counts(alone["total"]) == groups[name], name
    totals = Counter[str]()
    for spent, _, _ in groups.values():
        totals.update(spent)
    assert dict(totals) == whole["total"]["usage"]


def test_every_grouping_and_every_counted_row_add_up_to_the_same(
    tmp_path: Path, usage: Usage
) -> None:
    lay_out(tmp_path)
    total = usage(tmp_path, "--by", "harness")["total"]

    assert total["responses"] > 150
    for by in ("day", "model", "project", "session"):
        found = usage(tmp_path, "--by", by)
        assert _counts(found["total"]) == _counts(total), by
        spent = [group["usage"] for group in found["groups"] if group["usage"] is not None]
        for name, count in total["usage"].items():
            assert sum(each[name] for each in spent) == count, (by, name)
    rows = usage(tmp_path, "--by", "model", "--explain")
    assert sum(row["usage"]["input_tokens"] for row in rows) == total["usage"]["input_tokens"]
    assert len(rows) == total["responses"]
    assert all(os.path.exists(row["file"]) for row in rows)


def test_agents_agree_with_counts_that_share_no_code_with_the_ledger(
    tmp_path: Path, usage: Usage
) -> None:
    files = lay_out(tmp_path)
    groups = {group["key"]: group for group in usage(tmp_path, "--by", "harness")["groups"]}

    def spent(name: str) -> tuple[int, int]:
        found = groups[name]["usage"]
        return found["input_tokens"], found["output_tokens"]

    claude = oracle.true(files["claude"])["total"]["total"]
    assert spent("claude") == (claude["input"], claude["output"])
    assert spent("codex") == _codex(files["codex"])
    assert spent("opencode") == _opencode(files["opencode"][0])


def _codex(files: list[Path]) -> tuple[int, int]:
    """The record of each response once, in whichever rollouts it is."""
    records: dict[str, tuple[int, int]] = {}
    for path in files:
        for line in path.read_text(encoding="utf-8").split("\n"):
            row = json.loads(line or "{}")
            if row.get("type") == "token_usage_record":
                own = row["payload"]["usage"]
                records[row["payload"]["response_id"]] = own["input_tokens"], own["output_tokens"]
    return sum(each for each, _ in records.values()), sum(each for _, each in records.values())


def _opencode(path: Path) -> tuple[int, int]:
    """The tokens of the messages in its database, cache and thoughts included. A fork's copies keep their times."""
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT data FROM message").fetchall()
    connection.close()
    messages = {each["time"]["created"]: each for (data,) in rows if (each := json.loads(data))}
    spent = [tokens for each in messages.values() if (tokens := each.get("tokens"))]
    into = sum(each["input"] + sum(each["cache"].values()) for each in spent)
    return into, sum(each["output"] + each["reasoning"] for each in spent)


def test_handing_sessions_off_adds_nothing(
    tmp_path: Path, usage: Usage, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    lay_out(home)
    before = usage(home, "--by", "harness")
    with SessionArchive(environment={"HOME": str(home)}, cache=tmp_path / "index") as archive:
        archive.index()
        handed = [
            archive.hand_off(each, to=to, cwd=tmp_path)
            for name in AGENTS
            for each in archive.sessions(harness=name, top=True)[:2]
            if each.turn_count
            for to in ("codex", "claude")
        ]

    after = usage(home, "--by", "harness")

    assert len(handed) == 4 * len(AGENTS)
    assert {each.path.startswith(str(home)) for each in handed} == {True}
    assert after["total"]["usage"] == before["total"]["usage"]
    assert after["total"]["responses"] == before["total"]["responses"]
    assert after["problems"] == {}
