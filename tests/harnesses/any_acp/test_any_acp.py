"""The harness of any program that speaks ACP: its command is the caller's, its sessions are ours to keep."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.errors import Unsupported
from dragoman.harnesses import driven, driven_harness
from dragoman.harnesses.any_acp import ANY_ACP
from dragoman.harnesses.any_acp.capabilities import capabilities
from dragoman.harnesses.any_acp.history import ACP_HISTORY, identify, name_in
from dragoman.harnesses.any_acp.transports import ACP_PROGRAM, ACP_TRANSPORTS, parse_release
from dragoman.harnesses.contract.capabilities import resolve_access
from dragoman.model.intents import OpenSession


def _row(way: str, **line: Any) -> bytes:
    return json.dumps({"dir": way, "t": 1, "msg": line}, separators=(",", ":")).encode()


def test_it_is_driven_by_a_command_and_not_offered_without_one() -> None:
    assert driven_harness("acp") is ANY_ACP
    assert ANY_ACP not in driven()
    assert ACP_PROGRAM.command == ""


def test_the_program_is_started_where_the_session_works() -> None:
    (transport,) = ACP_TRANSPORTS
    launch = transport.launch("/opt/agent", None, OpenSession(cwd="/w"))  # pyright: ignore[reportArgumentType]

    assert (launch.argv, launch.cwd) == (("/opt/agent",), "/w")
    with pytest.raises(Unsupported):
        transport.launch("/opt/agent", None, None)  # pyright: ignore[reportArgumentType]


def test_a_release_has_three_numbers() -> None:
    assert parse_release("my-agent v1.22.3 (x)") == (1, 22, 3)
    assert parse_release("none") is None


@pytest.mark.parametrize(
    ("level", "value"), [("read", "read"), ("write", "default"), ("full", "full")]
)
def test_each_level_is_a_choice(level: str, value: str) -> None:
    assert resolve_access(capabilities(None), level).value == value


def test_a_journal_is_identified_by_the_session_that_it_opens() -> None:
    asked = _row("send", id=2, method="session/new", params={"cwd": "/w"})
    opened = _row("recv", id=2, result={"sessionId": "s-1"})
    fork = _row("send", id=2, method="session/fork", params={"sessionId": "s-1"})
    forked = _row("recv", id=2, result={"sessionId": "s-2"})

    assert identify("x.jsonl", []) is None
    new, branch = (
        identify("x.jsonl", [b"noise", asked, opened]),
        identify("x.jsonl", [fork, forked]),
    )
    assert new is not None
    assert branch is not None
    assert (new.session_id, new.kind) == ("s-1", None)
    assert (branch.session_id, branch.kind, branch.parent_session_id) == ("s-2", "fork", "s-1")


def test_a_session_is_named_after_its_agent_until_it_has_a_title() -> None:
    prompt = {
        "sessionId": "s",
        "prompt": [{"type": "text", "text": "Fix it.\nNow."}],
        "_meta": {"dragoman": {"turnId": "t", "agent": "my-agent"}},
    }
    update = {"sessionUpdate": "session_info_update", "title": "A fix"}
    titled = _row("recv", method="session/update", params={"sessionId": "s", "update": update})
    later = {**prompt, "_meta": {"dragoman": {"turnId": "t2"}}}

    assert name_in(_row("send", method="session/prompt", params=prompt)) == (1, "my-agent: Fix it.")
    assert name_in(_row("send", method="session/prompt", params=later)) is None
    assert name_in(titled) == (2, "A fix")
    assert name_in(b'{"dir":"send","msg":"session/prompt') is None


def test_its_sessions_are_below_the_data_folder() -> None:
    assert ACP_HISTORY.home({"HOME": "/h"}) == "/h/.local/share/dragoman"
    assert ACP_HISTORY.home({"HOME": "/h", "XDG_DATA_HOME": "/d"}) == "/d/dragoman"
