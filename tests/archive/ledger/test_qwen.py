"""The ledger over chats of Qwen Code, against a counter that shares no code with it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.finding import by_hand
from dragoman.archive.ledger.groups import By, summary
from dragoman.archive.ledger.ledger import Ledger
from dragoman.archive.ledger.prices import Prices
from support.qwen_home import RUNS, recorded_home

_Counts = dict[str, tuple[int, int]]


def _rows(paths: Iterable[Path]) -> Iterable[dict[str, Any]]:
    for path in paths:
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _naive(paths: Iterable[Path]) -> int:
    """The input of every row that names a count, one after the other."""
    total = 0
    for row in _rows(paths):
        total += row.get("usageMetadata", {}).get("promptTokenCount", 0)
        event = row.get("systemPayload", {}).get("uiEvent", {})
        total += event.get("input_token_count", 0)
    return total


def _true(paths: Iterable[Path]) -> _Counts:
    """Each response once, for the session that asked for it; and what the program asked for itself."""
    spent: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for row in _rows(paths):
        copied = row.get("forkedFrom", {}).get("sessionId")
        session = copied or (row["agentId"] if row.get("isSidechain") else row["sessionId"])
        counts = row.get("usageMetadata")
        if counts:
            sent, said = counts["promptTokenCount"], counts["candidatesTokenCount"]
            spent[session][row["uuid"]] = (sent, said)
        event = row.get("systemPayload", {}).get("uiEvent", {})
        agent = event.get("subagent_id")
        own = (
            agent.startswith("managed-")
            if agent
            else "########" not in event.get("prompt_id", "#" * 8)
        )
        if event.get("event.name") == "qwen-code.api_response" and own:
            counted = (event["input_token_count"], event["output_token_count"])
            spent[session][event["response_id"]] = counted
    return {
        session: (sum(each[0] for each in all_.values()), sum(each[1] for each in all_.values()))
        for session, all_ in spent.items()
    }


def _counted(paths: Iterable[Path], by: By = "session") -> _Counts:
    ledger = Ledger.read(by_hand(paths), prices=Prices())
    return {
        group.key: (group.usage.input_tokens, group.usage.output_tokens)
        for group in summary(ledger, by).groups
        if group.usage is not None
    }


def test_a_home_of_recordings(tmp_path: Path) -> None:
    paths = recorded_home(tmp_path)
    true = _true(paths)

    assert _counted(paths) == true
    assert len(true) > 15
    assert _naive(paths) > 2 * sum(each[0] for each in true.values())


def test_a_fork_does_not_spend_its_parents_tokens_again(tmp_path: Path) -> None:
    paths = recorded_home(tmp_path)
    parent = "cf1689fc-d840-441f-9a07-ba7302d3eacd"
    fork = "64b3dd18-4ae4-4fc5-891d-e4519667eed7"
    both = [path for path in paths if path.stem in (parent, fork)]
    only = [path for path in both if path.stem == fork]

    assert len(both) == 2
    assert _counted(both) == {parent: (420, 60), fork: (180, 20)}
    assert _counted(only) == {parent: (420, 60), fork: (180, 20)}  # known from the copies


def test_a_sub_agents_tokens_are_its_own(tmp_path: Path) -> None:
    paths = [path for path in recorded_home(tmp_path) if "0ea135a5" in str(path)]
    counted = _counted(paths)

    assert counted["general-purpose-call_0_6_a325ee890e00016"] == (260, 40)
    assert counted["0ea135a5-108c-48ef-9abb-0ee8ece70607"] == (2544, 196)


def test_what_the_program_asks_for_itself_counts_for_the_session(tmp_path: Path) -> None:
    paths = [path for path in recorded_home(tmp_path) if path.stem.startswith("b9acd90b")]

    assert _counted(paths) == {"b9acd90b-6d5f-4032-acd6-f3e4c3ddd122": (560, 80)}


@pytest.mark.parametrize(
    ("name", "spent"),
    [("resumed.live-resume", (160, 20)), ("forked.live", (180, 20)), ("memory.live", (260, 40))],
)
def test_a_stream_counts_its_own_responses_and_not_the_sessions_total(
    name: str, spent: tuple[int, int]
) -> None:
    assert [*_counted([RUNS / f"{name}.jsonl"]).values()] == [spent]


def test_a_stream_and_the_chat_of_its_run_are_two_accounts_of_one_session(tmp_path: Path) -> None:
    chat = [path for path in recorded_home(tmp_path) if path.stem.startswith("61a3e179")]

    assert _counted(chat) == _counted([RUNS / "approvals.live.jsonl"])
