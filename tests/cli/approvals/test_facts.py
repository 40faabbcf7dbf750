from __future__ import annotations

from typing import Any

import pytest

from dragoman.cli.approvals.facts import Fact, facts
from dragoman.model.messages import AlwaysAllow, ApprovalRequested


def asked(**given: Any) -> ApprovalRequested:
    fields: dict[str, Any] = {"approval_id": "a", "kind": "command", **given}
    return ApprovalRequested(**fields)


PLACES = {
    "/ws": Fact("directory", ". (the session's directory)"),
    "/ws/": Fact("directory", ". (the session's directory)"),
    "/ws/a/b": Fact("directory", "a/b"),
    "/ws/../etc": Fact("directory", "/etc (outside the session's directory)", is_odd=True),
    "/wsx": Fact("directory", "/wsx (outside the session's directory)", is_odd=True),
    "/ws/a\x1b[2J\n": Fact("directory", "a␛[2J␊"),
}


@pytest.mark.parametrize(("cwd", "fact"), PLACES.items(), ids=map(repr, PLACES))
def test_the_directory_is_seen_from_the_session(cwd: str, fact: Fact) -> None:
    assert facts(asked(cwd=cwd), "/ws", {}) == [fact]
    assert facts(asked(detail={"cwd": cwd}), "/ws", {}) == [fact]


def test_a_command_that_names_no_directory_runs_in_the_sessions_own() -> None:
    assert facts(asked(), "/ws", {}) == [Fact("directory", "the session's directory")]


def test_an_odd_shell_stands_first() -> None:
    found = facts(asked(shell="/tmp/bash -lc", cwd="/ws"), None, {})

    assert found == [Fact("shell", "/tmp/bash -lc", is_odd=True), Fact("directory", "/ws")]


def test_from_now_on_names_the_exact_prefix_and_the_file() -> None:
    rule = AlwaysAllow(prefix=["git", "push to"], stored_in="/h/rules")
    request = asked(always=rule, choices=["allow", "allow_always"])

    assert facts(request, None, {})[-1] == Fact(
        "from now on", "commands that start with: git 'push to' (stored in /h/rules)"
    )
    assert len(facts(asked(always=rule, choices=["allow"]), None, {})) == 1
    host = asked(always=AlwaysAllow(host="example.com"), choices=["allow_always"])
    assert facts(host, None, {})[-1] == Fact("from now on", "connections to example.com")
    other = asked(always=AlwaysAllow(stored_in="/h/config.toml"), choices=["allow_always"])
    assert facts(other, None, {})[-1] == Fact("from now on", "this (stored in /h/config.toml)")
    unknown = asked(always=AlwaysAllow(), choices=["allow_always"])
    assert "from now on" not in [fact.label for fact in facts(unknown, None, {})]


def test_an_address_is_shown_whole() -> None:
    request = asked(kind="elicitation", url="https://a.example/b", detail={"server": "shop"})

    assert facts(request, "/ws", {}) == [
        Fact("from", "the MCP server shop"),
        Fact("address", "https://a.example/b (not opened)"),
    ]
