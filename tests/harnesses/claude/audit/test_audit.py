from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.harnesses.claude.audit.omissions import OMISSIONS, is_unsaid, reason
from dragoman.harnesses.claude.audit.values import values
from support.claude.lines import SID, assistant, call, init, output, result, text, user


def places(line: dict[str, Any], rule: str = "text: emitted before") -> dict[str, Any]:
    return {value.place: value.value for value in values(json.dumps(line).encode(), rule)}


def lost(*lines: dict[str, Any]) -> list[str]:
    stream = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    account = dragoman.audit(stream, dialect="claude-stream-json")
    return [each.place for each in (*account.lost, *account.unread)]


def test_what_a_line_says_about_itself_is_left_out() -> None:
    assert places(user("hello", uuid="u", timestamp="t", parent_tool_use_id="c")) == {
        "user.message.content": "hello"
    }


def test_a_value_is_found_in_the_wrapper_of_a_journal() -> None:
    line = user("hello")

    assert places({"dir": "out", "raw": json.dumps(line)}) == places(line)
    assert places({"dir": "recv", "t": 1.0, "msg": line}) == places(line)


def test_a_setting_may_be_lost_and_the_model_may_not() -> None:
    assert places(init(tools=["Bash"], slash_commands=["cost"])) == {"system/init.model": "m"}


@pytest.mark.parametrize(
    "rule", ["bookkeeping", "state: status", "control: the host asked for set_model"]
)
def test_some_rules_are_about_something_else(rule: str) -> None:
    assert is_unsaid(rule)
    assert places(user("hello"), rule) == {}


def test_each_omission_has_a_reason_and_places() -> None:
    for omission in OMISSIONS:
        assert omission.why
        assert all(omission.places)
    assert reason("user.message.content[].text") is None


def test_a_duplicate_that_says_more_than_any_message_is_detected() -> None:
    empty = assistant("m1", surprise="something new")

    assert lost(init(), empty, result()) == ["assistant.surprise"]


def test_a_usual_stream_loses_nothing() -> None:
    assert (
        lost(
            init(),
            assistant("m1", text("one")),
            assistant("m1", call("c1", "Bash", command="ls")),
            user([output("c1", "x")], tool_use_result={"stdout": "x"}),
            {"type": "system", "subtype": "status", "status": "requesting", "session_id": SID},
            result(result="one"),
        )
        == []
    )
