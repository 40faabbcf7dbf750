"""The ledger over homes of Claude Code, against a counter that shares no code with it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

import pytest

from dragoman.archive.finding import by_hand
from dragoman.archive.ledger.groups import By, LedgerGroup, summary
from dragoman.archive.ledger.ledger import Ledger
from dragoman.archive.ledger.prices import Prices
from support.claude import oracle
from support.claude.homes import (
    AGENT,
    DATA,
    FAILED,
    FORK,
    PARENT,
    RESUMED,
    STORY,
    MadeHome,
    recorded_home,
)

_STREAMS = DATA.parent / "claude-stream-json"


def transcripts(home: Path) -> list[Path]:
    return sorted(home.rglob("*.jsonl"))


def read(paths: Iterable[Path]) -> Ledger:
    return Ledger.read(by_hand(paths), prices=Prices())


def counted(ledger: Ledger, by: By) -> dict[str, oracle.Counts]:
    return {
        group.key: as_counts(group)
        for group in summary(ledger, by).groups
        if group.usage is not None
    }


def as_counts(group: LedgerGroup) -> oracle.Counts:
    usage = group.usage
    assert usage is not None
    return oracle.Counts(
        input=usage.input_tokens,
        cached=usage.cached_input_tokens,
        written=usage.cache_write_input_tokens,
        written_1h=usage.cache_write_1h_input_tokens,
        output=usage.output_tokens,
    )


def test_one_row_for_each_block_counts_once(tmp_path: Path) -> None:
    """One session that spent 705 output tokens; added up row by row it would be 793."""
    [path] = [each for each in transcripts(recorded_home(tmp_path)) if each.stem == STORY]

    assert oracle.naive([path])["output"] == 793
    assert counted(read([path]), "session")[STORY]["output"] == 705


def test_a_home_of_recordings(tmp_path: Path) -> None:
    paths = transcripts(recorded_home(tmp_path))
    ledger = read(paths)

    by_session = counted(ledger, "session")
    assert by_session == oracle.true(paths)["session"]
    assert counted(ledger, "model") == oracle.true(paths)["model"]
    assert {name: counts["output"] for name, counts in by_session.items()} == {
        STORY: 705,
        FORK: 88,  # its own two responses, of the 21 that its file contains
        RESUMED: 88,
        PARENT: 132,
        AGENT: 88,
    }
    assert [facts.session for facts in ledger.silent_sessions()] == [FAILED]


@pytest.mark.parametrize("seed", range(30))
def test_homes_that_are_made_up(seed: int, tmp_path: Path) -> None:
    MadeHome(tmp_path, seed)
    paths = transcripts(tmp_path)
    expected = oracle.true(paths)

    for order in (paths, paths[::-1]):
        ledger = read(order)
        assert counted(ledger, "session") == expected["session"]
        assert counted(ledger, "model") == expected["model"]
        whole = summary(ledger, "day").total
        assert as_counts(whole) == expected["total"]["total"]


@pytest.mark.parametrize("seed", range(10))
def test_files_that_are_there_twice_or_gone(seed: int, tmp_path: Path) -> None:
    made = MadeHome(tmp_path / "home", seed)
    expected = oracle.true(transcripts(tmp_path))["session"]

    shutil.copytree(tmp_path / "home", tmp_path / "copy")
    assert counted(read(transcripts(tmp_path)), "session") == expected

    shutil.rmtree(tmp_path / "copy")
    parents = [each for each in made.sessions if each.agent_of is None]
    parents[0].path.unlink()  # its forks still have what they copied
    left = transcripts(tmp_path)
    assert counted(read(left), "session") == oracle.true(left)["session"]


def test_copies_that_do_not_name_their_session_count_once(tmp_path: Path) -> None:
    """Older releases copied rows under the fork's own id, without a word about where they come from."""
    project = recorded_home(tmp_path)
    path = project / f"{FORK}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if "uuid" in row]
    for row in rows:
        row.pop("requestSessionId", None)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    paths = transcripts(tmp_path)

    total = summary(read(paths), "day").total

    assert as_counts(total) == oracle.true(paths)["total"]["total"]


@pytest.mark.parametrize("stream", ["story", "no-partials"])
def test_a_recorded_stream_and_the_file_of_its_session(stream: str, tmp_path: Path) -> None:
    """A live stream may sum several responses up; its session's own file has each."""
    live = tmp_path / "live.jsonl"
    shutil.copyfile(_STREAMS / stream / "wire.jsonl", live)
    alone = counted(read([live]), "session")
    session = next(each for each in alone if len(each) == 36)
    disk = tmp_path / f"{session}.jsonl"
    story = (DATA / "story" / "wire.jsonl").read_text(encoding="utf-8")
    if stream == "story":
        disk.write_text(story.replace(STORY, session), encoding="utf-8")
    else:
        shutil.copyfile(live, disk)

    both = counted(read([live, disk]), "session")

    assert both[session] == counted(read([disk]), "session")[session]


def test_cache_writes_of_an_hour_have_their_own_price(tmp_path: Path) -> None:
    project = recorded_home(tmp_path)
    path = project / f"{RESUMED}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["type"] == "assistant":
            row["message"]["usage"]["cache_creation"] = {
                "ephemeral_5m_input_tokens": 2,
                "ephemeral_1h_input_tokens": 20,
            }
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    [group] = summary(read([path]), "session").groups

    # Two responses of 11 new, 33 cached, 2 + 20 written and 44 output tokens, per million.
    each = 11 * 3 + 33 * Decimal("0.3") + 2 * Decimal("3.75") + 20 * 6 + 44 * 15
    assert group.cost == 2 * each / 1_000_000


def test_what_the_agent_reports_stands_beside_our_cost(tmp_path: Path) -> None:
    ledger = read(transcripts(recorded_home(tmp_path)))
    groups = {group.key: group for group in summary(ledger, "session").groups}

    assert groups[RESUMED].reported_cost == pytest.approx(0.0015708)  # type: ignore[reportUnknownMemberType]
    assert groups[RESUMED].cost == Decimal("0.0015708")
    # A fork goes on from its parent's amount: two responses are its own.
    assert groups[FORK].reported_cost == pytest.approx(0.0015708)  # type: ignore[reportUnknownMemberType]
    # The parent's amount covers its sub-agent.
    parent = groups[PARENT]
    assert parent.sub_agents == 1
    assert parent.cost == Decimal("0.0023562")
    assert parent.cost_with_sub_agents == Decimal("0.003927")
    assert parent.reported_cost == pytest.approx(0.003927)  # type: ignore[reportUnknownMemberType]
    assert groups[AGENT].reported_cost is None
    [harness] = summary(ledger, "harness").groups
    assert harness.key == "claude"
    assert harness.reported_cost == summary(ledger, "session").total.reported_cost
    assert summary(ledger, "model").total.reported_cost is None


def test_a_fork_whose_parent_is_gone_has_no_reported_cost_of_its_own(tmp_path: Path) -> None:
    project = recorded_home(tmp_path)
    (project / f"{STORY}.jsonl").unlink()
    ledger = read(transcripts(tmp_path))
    groups = {group.key: group for group in summary(ledger, "session").groups}

    assert groups[FORK].reported_cost is None
    assert groups[STORY].usage is not None  # as far as the fork has copied it
