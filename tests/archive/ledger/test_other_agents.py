"""The ledger over files of Gemini and Copilot, against counts that share no code with it.

Gemini's chat has the tokens of each response on every copy of its message. Copilot's last event is its own account of
the session, by agent and in all; the ledger adds up single records instead.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.finding import by_hand
from dragoman.archive.ledger.groups import summary
from dragoman.archive.ledger.ledger import Ledger
from dragoman.archive.ledger.prices import Prices

_DATA = Path(__file__).parents[2] / "data"
_CHATS = sorted((_DATA / "gemini" / "runs").glob("*/*.disk*.jsonl"))
_STREAMS = sorted((_DATA / "gemini" / "runs").glob("*/acp-*.live.jsonl"))
_EVENTS = sorted((_DATA / "copilot" / "1.0.102").glob("*.disk.jsonl"))
_Counts = dict[str, tuple[int, int, int]]
"""By session: input, of which cached, and output."""


def _counted(paths: Iterable[Path]) -> _Counts:
    ledger = Ledger.read(by_hand(paths), prices=Prices())
    return {
        group.key: (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens)
        for group in summary(ledger, "session").groups
        if (usage := group.usage) is not None
    }


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def _gemini_oracle(paths: Iterable[Path]) -> _Counts:
    responses: dict[tuple[str, str], tuple[int, int, int]] = {}
    for path in paths:
        session = ""
        for row in _rows(path):
            session = session or row.get("sessionId", "")
            for message in [row, *row.get("$set", {}).get("messages", [])]:
                if tokens := message.get("tokens"):
                    spent = tokens["input"] + tokens["tool"], tokens["cached"]
                    said = tokens["output"] + tokens["thoughts"]
                    responses[session, message["id"]] = (*spent, said)
    return _added_up(responses)


def _added_up(responses: dict[tuple[str, str], tuple[int, int, int]]) -> _Counts:
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for (session, _), counts in responses.items():
        for number, count in enumerate(counts):
            sums[session][number] += count
    return {session: (each[0], each[1], each[2]) for session, each in sums.items()}


def test_each_response_of_gemini_is_counted_once(tmp_path: Path) -> None:
    expected = _gemini_oracle(_CHATS)

    assert len(expected) >= 8
    assert _counted(_CHATS) == _counted(_CHATS[::-1]) == expected
    shutil.copytree(_CHATS[0].parent, tmp_path / "copy")
    copies = sorted((tmp_path / "copy").glob("*.disk*.jsonl"))
    assert _counted([*_CHATS, *copies]) == expected


def test_a_stream_that_was_completed_from_its_chat_adds_nothing_to_it() -> None:
    completed = [path for path in _STREAMS if "bare" not in path.name]

    assert _counted([*_CHATS, *completed]) == _gemini_oracle(_CHATS)


def _copilot_oracle(path: Path) -> _Counts:
    """What Copilot itself says, when the session is closed."""
    rows = _rows(path)
    main = rows[0]["data"]["sessionId"]
    for row in rows:
        if row["type"] == "session.shutdown":
            agents = row["data"].get("accountingSnapshot", {}).get("agentMetrics", {})
            spent = {main if name == "main" else name: each for name, each in agents.items()}
            return {
                name: (_sum(each, "inputTokens"), _sum(each, "cacheReadTokens"), _sum(each, "outputTokens"))
                for name, each in spent.items()
                if _sum(each, "outputTokens")
            }  # fmt: skip
    return {}


def _sum(agent: dict[str, Any], name: str) -> int:
    return sum(each["usage"][name] for each in agent["modelMetrics"].values())


@pytest.mark.parametrize("path", _EVENTS, ids=lambda path: path.stem)
def test_the_ledger_agrees_with_copilots_own_account(path: Path) -> None:
    assert _counted([path]) == _copilot_oracle(path)


def test_most_recordings_have_such_an_account() -> None:
    assert sum(bool(_copilot_oracle(path)) for path in _EVENTS) >= 5
