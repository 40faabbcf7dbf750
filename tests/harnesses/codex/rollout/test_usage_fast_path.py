"""Where the quick reader does not give up, it tells what the parser tells."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dragoman
from dragoman.harnesses.codex.dialects import plain_rollout
from dragoman.model.messages import Message, UsageReport

_ONLY = {"usage", "session_started", "turn_started"}
_DATA = Path(__file__).parents[3] / "data" / "codex"
_FOLDER = str(Path(__file__).parents[4] / "benchmarks")
sys.path.insert(0, _FOLDER)
try:
    corpus: Any = importlib.import_module("corpus")
    sessions: Any = importlib.import_module("corpus_session")
    traps: Any = importlib.import_module("corpus_traps")
finally:
    sys.path.remove(_FOLDER)


def read_quickly(lines: list[bytes], batch: int = 7) -> list[Message] | None:
    """What the quick reader tells; None if it gives up."""
    reader = plain_rollout(b"".join(lines)[:4096])
    if reader is None:
        return None
    told: list[Message] = []
    for start in range(0, len(lines), batch):
        if not reader.receive_lines(lines[start : start + batch]):
            return None
        told += reader.messages()
    reader.receive_eof()
    return told + reader.messages()


def check(lines: list[bytes]) -> bool:
    """Whether these lines are plain. If they are, both ways must tell the same."""
    told = read_quickly(lines)
    if told is None:
        return False
    assert told == list(dragoman.read([b"".join(lines)], only=_ONLY))
    return True


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_every_recording_is_told_alike_or_left_to_the_parser() -> None:
    plain = [path for path in _DATA.rglob("*.jsonl") if check(lines_of(path))]

    assert len(plain) > 40
    assert {path for path in plain if "rollout" not in str(path)} == set()


def test_nearly_every_file_of_today_is_plain(runs: Path) -> None:
    paths = sorted(runs.glob("0.166.0/*rollout*.jsonl"))
    left = [path.name for path in paths if not check(lines_of(path))]

    assert len(paths) > 10
    assert left == ["review.rollout1.jsonl"]


def _trap_files(folder: Path) -> Iterator[Path]:
    for hour, make in enumerate(traps.TRAPS):
        traps.write(folder, make, hour)
    yield from folder.rglob("*.jsonl")


def test_traps_are_told_alike_or_left_to_the_parser(tmp_path: Path) -> None:
    plain = [check(lines_of(path)) for path in _trap_files(tmp_path)]

    assert plain.count(True) > plain.count(False) > 0  # forks that copy are the parser's


def _session(seed: int, rows: int) -> list[bytes]:
    session = sessions.Session(seed, corpus.bodies(), paginated=seed % 2 == 1)
    return [row for row, _ in zip(session.rows(), range(rows), strict=False)]


@pytest.fixture(scope="module", params=[2, 3])
def session(request: pytest.FixtureRequest) -> list[bytes]:
    return _session(request.param, 400)


def test_a_made_session_is_plain(session: list[bytes]) -> None:
    assert check(session)


_CHANGES: list[Callable[[bytes], bytes]] = [
    lambda row: b"",
    lambda row: b"\n",
    lambda row: row + row,
    lambda row: row[: len(row) // 2] + b"\n",
    lambda row: row.replace(b'","', b'", "'),
    lambda row: row.replace(b'":', b'" : '),
    lambda row: row.replace(b'"timestamp":"20', b'"timestamp":"19', 1),
    lambda row: row.replace(b'Z","', b'","', 1),
    lambda row: row.replace(b"_tokens", b"_tokenz", 1),
    lambda row: row.replace(b'"type":"', b'"type":"new_', 1),
    lambda row: row.replace(b'"payload":{"type":"', b'"payload":{"type":"new_', 1),
    lambda row: row.replace(b'"payload":{"type":"token_count', b'"payload":{"type":"token_count_2'),
    lambda row: row.replace(b"01a1e150-b415", b"01a1e150-c415"),
    lambda row: row.replace(b"gpt-5.5", b"gpt-9"),
    lambda row: row.replace(b'"input_tokens":', b'"input_tokens":9'),
    lambda row: row.replace(b'"turn_id":"', b'"turn_it":"', 1),
    lambda row: b'{"type":"turn_context","payload":{"model":"short"}}\n' + row,
    lambda row: b'{"type":"event_msg","payload":{"type":"user_message","message":"x"}}\n' + row,
]


@given(
    seed=st.sampled_from([2, 3]),
    changes=st.lists(
        st.tuples(st.integers(0, 159), st.sampled_from(range(len(_CHANGES)))),
        min_size=1,
        max_size=6,
    ),
    cut=st.integers(1, 160),
)
def test_a_changed_session_is_told_alike_or_left_to_the_parser(
    seed: int, changes: list[tuple[int, int]], cut: int
) -> None:
    rows = list(_SHORT[seed])
    for place, change in changes:
        if rows[place].count(b"\n") == 1:
            rows[place] = _CHANGES[change](rows[place])
    check(b"".join(rows[:cut]).splitlines(keepends=True))


_SHORT = {seed: _session(seed, 160) for seed in (2, 3)}


def _rows(*payloads: tuple[str, dict[str, Any]]) -> list[bytes]:
    return [
        json.dumps(
            {"timestamp": "2026-11-16T02:05:10.229Z", "type": kind, "payload": payload},
            separators=(",", ":"),
        ).encode()
        + b"\n"
        for kind, payload in payloads
    ]


_META = ("session_meta", {"id": "s", "cwd": "/work", "cli_version": "0.142.0"})
_TURN = ("event_msg", {"type": "task_started", "turn_id": "t"})


def _count(total: int, last: int) -> tuple[str, dict[str, Any]]:
    info = {
        "total_token_usage": {"input_tokens": total},
        "last_token_usage": {"input_tokens": last},
    }
    return "event_msg", {"type": "token_count", "info": info}


def test_counts_are_told_once_also_between_turns() -> None:
    ended = ("event_msg", {"type": "task_complete", "turn_id": "t"})
    lines = _rows(_META, _TURN, _count(5, 5), _count(5, 5), ended, _count(9, 4), _count(0, 0))

    assert check(lines)
    told = [each for each in read_quickly(lines) or () if isinstance(each, UsageReport)]
    assert [(each.line, each.turn_id) for each in told] == [(3, "t"), (6, None), (7, None)]


def test_the_start_of_a_session_waits_for_its_model() -> None:
    named = ("turn_context", {"model": "gpt-5.5", "cwd": "/work"})
    other = ("world_state", {"full": True})
    for before in (0, 10, 37, 38, 39, 60):
        assert check(_rows(_META, _TURN, *[other] * before, named, _count(5, 5)))


@pytest.mark.parametrize(
    "row",
    [
        ("session_meta", {"id": "other", "cwd": "/work"}),
        ("event_msg", {"type": "entered_review_mode"}),
        ("event_msg", {"type": "token_count", "info": None, "input_tokens": 4}),
        ("event_msg", {"type": "token_count", "info": {"last_token_usage": {"input_tokens": 4}}}),
    ],
)
def test_what_is_not_plain_is_left_to_the_parser(row: tuple[str, dict[str, Any]]) -> None:
    assert read_quickly(_rows(_META, _TURN, row)) is None


@pytest.mark.parametrize(
    "row",
    [
        ("event_msg", {"type": "user_message", "message": "go"}),
        ("event_msg", {"type": "agent_message", "message": "done"}),
        ("response_item", {"type": "function_call", "name": "shell", "call_id": "c"}),
        ("response_item", {"type": "message", "role": "assistant", "content": []}),
        ("response_item", {"type": "message", "role": "user", "content": []}),
    ],
)
def test_what_would_begin_a_turn_is_left_to_the_parser(row: tuple[str, dict[str, Any]]) -> None:
    assert read_quickly(_rows(_META, row)) is None


def test_a_file_that_does_not_say_its_directory_is_left_to_the_parser() -> None:
    assert read_quickly(_rows(("session_meta", {"id": "s"}), _TURN)) is None
    assert plain_rollout(b'{"type":"session_meta","payload":{}}\n') is None
    assert plain_rollout(b"") is None
