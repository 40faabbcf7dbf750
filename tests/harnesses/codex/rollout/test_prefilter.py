from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.harnesses.codex.rollout.prefilter import Skipper
from dragoman.model.messages import SessionStarted, type_of

_USAGE = {"usage", "session_started", "turn_started"}


def _row(kind: str, payload: dict[str, Any]) -> bytes:
    row = {"timestamp": "2026-11-16T02:05:10.229Z", "type": kind, "payload": payload}
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def _skips(only: set[str], kind: str, payload: dict[str, Any]) -> bool:
    skipper = Skipper.for_types(frozenset(only))
    assert skipper is not None
    return skipper.can_skip(_row(kind, payload))


@pytest.mark.parametrize("extra", [set[str](), {"rate_limits"}, {"prompt", "text"}])
def test_what_the_ledger_needs_is_the_same_as_reading_all(runs: Path, extra: set[str]) -> None:
    only = _USAGE | extra
    for path in sorted(runs.glob("*/*rollout*.jsonl")):
        chosen = [each for each in dragoman.read(path) if type_of(type(each)) in only]
        assert list(dragoman.read(path, only=only)) == chosen, path


def test_a_message_that_may_tell_the_directory_is_read() -> None:
    def says(text: str) -> dict[str, Any]:
        return {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": text}],
        }

    assert _skips(_USAGE, "response_item", says("hello"))
    assert not _skips(_USAGE, "response_item", says("<cwd>/work</cwd>"))
    assert not _skips(_USAGE, "response_item", says("Current working directory: /work"))
    assert _skips({"usage"}, "response_item", says("<cwd>/work</cwd>"))
    assert not _skips(_USAGE | {"text"}, "response_item", says("hello"))


@pytest.mark.parametrize("cwd", ["<cwd>/told</cwd>", "\\u003ccwd>/told</cwd>"])
def test_a_directory_that_only_a_message_tells_is_told(cwd: str) -> None:
    context = _row(
        "response_item",
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "@"}]},
    ).replace(b"@", f"<environment_context>{cwd}</environment_context>".encode())
    rows = [
        _row("session_meta", {"id": "s", "cli_version": "0.142.0"}),
        _row("event_msg", {"type": "task_started", "turn_id": "t"}),
        context,
        _row("event_msg", {"type": "user_message", "message": "go"}),
        *(_row("turn_context", {"model": model}) for model in ("a", "b", "c")),
    ]
    everything = [each for each in dragoman.read(rows) if isinstance(each, SessionStarted)]

    assert list(dragoman.read(rows, only={"session_started"})) == everything


def test_token_counts_are_skipped_only_where_nobody_wants_limits() -> None:
    for only, may in (({"usage"}, True), (_USAGE, True), ({"usage", "rate_limits"}, False)):
        skipper = Skipper.for_types(frozenset(only))
        assert skipper is not None
        assert skipper.only_usage is may


def test_a_wanted_row_is_known_again_by_its_beginning() -> None:
    skipper = Skipper.for_types(frozenset({"usage"}))
    assert skipper is not None
    wanted = [
        _row("event_msg", {"type": "token_count", "info": None}),
        _row("token_usage_record", {"thread_id": "01a1e150", "usage": {}}),
    ]
    for row in wanted:
        assert not skipper.can_skip_this(row)
        assert row[skipper.place] in skipper.kept
        assert row[skipper.place] not in skipper.heads

    skipper.skip_token_counts()

    assert skipper.can_skip_this(wanted[0])
    assert not skipper.kept, "what was wanted before is judged again"


def test_rows_that_need_a_closer_look_and_odd_ones_are_not_remembered_without_end() -> None:
    skipper = Skipper.for_types(frozenset({"prompt"}))
    assert skipper is not None
    for kind in ("message", "item_completed"):
        skipper.can_skip(_row("response_item", {"type": kind}))
    assert not skipper.kept

    for number in range(200):
        assert not skipper.can_skip(_row(f"kind{number}", {}))
    assert len(skipper.kept) <= 64
