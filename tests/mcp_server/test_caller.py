from __future__ import annotations

from typing import Any

from dragoman.mcp_server.caller import session_ids


def test_an_agent_names_its_session_in_the_call() -> None:
    """As Codex does: flat, and in a value that has more about the turn."""
    meta = {"threadId": "t1", "x-codex-turn-metadata": {"session_id": "t2", "turn": 5}}

    assert {"t1", "t2"} <= session_ids(meta, {})


def test_an_agent_names_its_session_in_the_environment() -> None:
    """As Claude does, with the sessions that it was started from."""
    environment = {
        "CLAUDE_CODE_SESSION_ID": "c1",
        "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS": "c0, c1",
        "HOME": "/home/me",
    }

    assert session_ids({}, environment) == {"c0", "c1"}


def test_nested_nonsense_has_an_end() -> None:
    deep: dict[str, Any] = {}
    for _ in range(10_000):
        deep = {"a": [deep]}

    assert session_ids(deep, {}) == frozenset()
