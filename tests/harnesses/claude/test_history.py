from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.harnesses.claude.history import CLAUDE_HISTORY, identify, name_in
from support.claude.homes import AGENT, DATA, FORK, PARENT, STORY

_UUID = "01234567-89ab-4cde-8f01-23456789abcd"


def line(**row: Any) -> bytes:
    return json.dumps(row).encode()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (f"/h/projects/-w/{_UUID}.jsonl", (_UUID, None, None)),
        (f"C:\\h\\projects\\-w\\{_UUID}.jsonl", (_UUID, None, None)),
        (f"/h/projects/-w/{_UUID}/subagents/agent-a1b2.jsonl", ("a1b2", "sub-agent", _UUID)),
        (f"/{_UUID}/subagents/workflows/x/agent-a1.jsonl", ("a1", "sub-agent", _UUID)),
        ("/h/projects/-w/agent-a1b2.jsonl", ("a1b2", "sub-agent", None)),
        (f"{_UUID}.jsonl.gz", (_UUID, None, None)),
        ("/h/history.jsonl", None),
        (f"/h/projects/-w/{_UUID}.txt", None),
        (f"/h/projects/-w/x{_UUID}.jsonl", None),
    ],
)
def test_what_a_path_says(path: str, found: tuple[str, str | None, str | None] | None) -> None:
    origin = identify(path, ())

    assert (origin and (origin.session_id, origin.kind, origin.parent_session_id)) == found


@pytest.mark.parametrize(
    ("case", "found"),
    [
        ("story", (STORY, None, None)),
        ("fork", (FORK, "fork", STORY)),
        ("agent-in-background", (PARENT, None, None)),
        ("agent", (AGENT, "sub-agent", PARENT)),
    ],
)
def test_what_the_first_rows_say(case: str, found: tuple[str, str | None, str | None]) -> None:
    lines = (DATA / case / "wire.jsonl").read_bytes().splitlines(keepends=True)

    origin = identify("/elsewhere/recording.jsonl", lines)

    assert origin is not None
    assert (origin.session_id, origin.kind, origin.parent_session_id) == found


def test_rows_of_another_session_do_not_make_the_file_its_own() -> None:
    lines = [line(sessionId="other", type="summary"), line(sessionId=_UUID, type="user")]

    assert getattr(identify(f"/p/{_UUID}.jsonl", lines), "session_id", None) == _UUID
    assert getattr(identify("/p/x.jsonl", lines), "session_id", None) == "other"


def test_a_branch_names_the_session_it_was_branched_from() -> None:
    forked = {"sessionId": "nearest", "messageUuid": "m"}
    rows = [line(sessionId=_UUID, requestSessionId="first", forkedFrom=forked, type="assistant")]

    origin = identify("x", rows)

    assert origin is not None
    assert (origin.kind, origin.parent_session_id) == ("fork", "nearest")


def test_damaged_lines_say_nothing() -> None:
    lines = [b"\0\0", b"[]", b"torn {", line(sessionId=7), line(type="mode")]

    assert identify("x.jsonl", lines) is None
    assert getattr(identify(f"{_UUID}.jsonl", lines), "session_id", None) == _UUID


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"type": "custom-title", "customTitle": "Mine"}, (3, "Mine")),
        ({"type": "ai-title", "aiTitle": "Guessed"}, (2, "Guessed")),
        ({"type": "summary", "summary": "Summed up", "leafUuid": "x"}, (1, "Summed up")),
        ({"type": "custom-title", "customTitle": ""}, (3, "")),
        ({"type": "custom-title", "customTitle": 1}, None),
        ({"type": "mode"}, None),
    ],
)
def test_titles(row: dict[str, Any], name: tuple[int, str] | None) -> None:
    assert name_in(line(**row)) == name


def test_where_the_home_is() -> None:
    assert CLAUDE_HISTORY.home({"HOME": "/me"}) == "/me/.claude"
    assert CLAUDE_HISTORY.home({"HOME": "/me", "CLAUDE_CONFIG_DIR": "~/alt"}) == "/me/alt"
