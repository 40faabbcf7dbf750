"""The values that a line must not take with it."""

from __future__ import annotations

import json
from typing import Any

from dragoman.harnesses.qwen.audit.values import values
from support.qwen import init, prompted, said, text


def _values(line: Any, rule: str = "") -> dict[str, Any]:
    return {each.place: each.value for each in values(json.dumps(line).encode(), rule)}


def test_what_is_said_counts_and_what_a_line_says_about_itself_does_not() -> None:
    assert _values(said(text("Hi."))) == {
        "assistant.message.model": "m",
        "assistant.message.content[].text": "Hi.",
    }
    assert _values(init()) == {"system/init.model": "m"}
    assert _values(prompted("hi", "p")) == {"user.message.parts[].text": "hi"}


def test_bookkeeping_and_states_hold_nothing() -> None:
    assert _values(prompted("hi", "p"), "bookkeeping") == {}
    assert _values(prompted("hi", "p"), "state: goal state") == {}
    assert [*values(b"no json", "")] == []


def test_a_line_of_a_journal_is_looked_into() -> None:
    line = {"dir": "recv", "t": 1.0, "msg": said(text("Hi."))}

    assert "Hi." in _values(line).values()
