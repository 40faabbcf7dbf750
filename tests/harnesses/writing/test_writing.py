"""Properties of every writer, on every saved session among the bundled recordings."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dragoman.harnesses import HARNESSES
from dragoman.harnesses.contract.conversation import Release
from dragoman.model.messages import Malformed, Notice, SessionStarted, Unknown, UsageReport
from dragoman.reading.audit import audit
from dragoman.reading.read import read
from dragoman.wire.loose import as_dict, as_list
from support.handoff import AT, DATA, handed, messages_in, outline, recordings, write

_TARGETS: list[tuple[str, Release | None]] = [
    ("claude", None),
    ("codex", None),
    ("codex", (0, 44, 0)),
    ("codex", (0, 66, 0)),
    ("codex", (0, 120, 0)),
]
_SESSIONS = recordings()


def test_there_are_sessions_of_every_harness_that_keeps_any() -> None:
    assert len(_SESSIONS) > 30
    assert {name for name, _ in _SESSIONS} == {"codex", "claude", "gemini", "copilot", "opencode"}


def test_every_writer_is_tried() -> None:
    assert {each.name for each in HARNESSES if each.writer is not None} == {
        name for name, _ in _TARGETS
    }


@pytest.mark.parametrize(("to", "release"), _TARGETS, ids=str)
@pytest.mark.parametrize(
    ("name", "path"), _SESSIONS, ids=lambda each: str(each).removeprefix(str(DATA))
)
def test_a_written_session_reads_as_the_same_conversation_but_for_the_losses(
    name: str, path: Path, to: str, release: Release | None
) -> None:
    source, _ = handed(read(path), name)
    written = write(to, source, release, source=name)
    messages = messages_in(written)
    again, _ = handed(messages, to)

    expected = outline(source, written.losses)
    found = outline(again, written.losses)
    if release is not None and release < (0, 100):
        # Such a rollout has no row where a turn begins: each prompt begins one, and a turn without a prompt is
        # part of the one before.
        expected, found = _flat(expected), _flat(found)
    assert found == expected


def _flat(outlined: list[Any]) -> list[Any]:
    """The parts of all turns without their ends."""
    return [part for said, edits, _ in outlined[1:] for part in (*said, *edits)]


@pytest.mark.parametrize(("to", "release"), _TARGETS, ids=str)
@pytest.mark.parametrize(
    ("name", "path"), _SESSIONS, ids=lambda each: str(each).removeprefix(str(DATA))
)
def test_a_written_session_is_accounted_for_names_its_source_and_spends_nothing(
    name: str, path: Path, to: str, release: Release | None
) -> None:
    written = write(to, handed(read(path), name)[0], release, source=name)
    account = audit(b"".join(line + b"\n" for line in written.lines))
    messages = messages_in(written)

    assert account.unaccounted == []
    assert [each for each in messages if isinstance(each, Unknown | Malformed | UsageReport)] == []
    [started] = [each for each in messages if isinstance(each, SessionStarted)]
    assert (started.harness, started.parent_session_id, started.cwd, started.at) == (
        to, "source-1", "/workspace", AT,
    )  # fmt: skip
    last = messages[-1]
    assert isinstance(last, Notice)
    assert last.text == f"handed off from {name} session source-1"
    assert last.at == AT


@pytest.mark.parametrize(("to", "release"), _TARGETS, ids=str)
@pytest.mark.parametrize(
    ("name", "path"), _SESSIONS, ids=lambda each: str(each).removeprefix(str(DATA))
)
def test_every_call_has_an_id_of_its_own_and_one_result(
    name: str, path: Path, to: str, release: Release | None
) -> None:
    written = write(to, handed(read(path), name)[0], release, source=name)
    calls, results = _ids(written.lines)

    assert len(set(calls)) == len(calls)
    assert results == calls
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", each) for each in calls)


def _ids(lines: Sequence[bytes]) -> tuple[list[str], list[str]]:
    """The ids of calls and of results, in both programs' words."""
    calls: list[str] = []
    results: list[str] = []
    for line in lines:
        row: dict[str, Any] = json.loads(line)
        for item in [as_dict(row.get("payload")), *_blocks(row)]:
            kind = item.get("type")
            if kind in ("function_call", "custom_tool_call"):
                calls.append(item["call_id"])
            elif kind == "tool_use":
                calls.append(item["id"])
            elif kind in ("function_call_output", "custom_tool_call_output"):
                results.append(item["call_id"])
            elif kind == "tool_result":
                results.append(item["tool_use_id"])
    return calls, results


def _blocks(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [as_dict(each) for each in as_list(as_dict(row.get("message")).get("content"))]
