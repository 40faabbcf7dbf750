from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.export import find
from dragoman.export.base import Options
from dragoman.harnesses.messages.parser import MessagesParser
from dragoman.harnesses.messages.sniff import sniff
from dragoman.model.messages import MESSAGE_TYPES, Message, Prompt, Text, Unknown, encode
from dragoman.reading.audit import audit
from dragoman.reading.mapper import Mapper
from dragoman.reading.read import read


def written(messages: list[Message], name: str = "messages") -> bytes:
    made = find(name)
    assert made is not None
    exporter = made.make(Options())
    return exporter.export(messages) + exporter.finish()


@pytest.mark.parametrize("name", ["messages", "json"])
def test_what_was_written_is_read_again(data: Path, name: str) -> None:
    for path in sorted(data.glob("codex/*/*/wire.jsonl")):
        messages = [*read(path)]

        assert [*read([written(messages, name)])] == messages, path


_TEXT = st.text(max_size=20)
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=5,
)


@given(
    st.lists(
        st.builds(Text, text=_TEXT, session_id=st.none() | _TEXT, line=st.integers(0, 99))
        | st.builds(Prompt, text=_TEXT, images=st.lists(_TEXT, max_size=2))
        | st.builds(
            MESSAGE_TYPES["tool_call"],
            call_id=_TEXT,
            tool=_TEXT,
            native_tool=_TEXT,
            input=st.dictionaries(_TEXT, _VALUE, max_size=3),
        )
        | st.builds(Unknown, native_type=_TEXT, raw=_TEXT)
        | st.builds(MESSAGE_TYPES["malformed"], raw=_TEXT, problem=_TEXT),
        min_size=1,
        max_size=6,
    )
)
def test_encoding_and_reading_gives_equal_messages(messages: list[Any]) -> None:
    assert [*read([written(messages)])] == messages


def test_every_kind_of_message_is_recognised_by_itself() -> None:
    for name in MESSAGE_TYPES:
        line = json.dumps(
            {"type": name, "session_id": None, "turn_id": None, "at": None, "line": 1}
        )
        assert sniff([line.encode()]) == "messages"


def test_lines_of_agents_are_none(data: Path) -> None:
    for path in sorted(data.glob("codex/*/*/wire.jsonl")):
        assert sniff(path.read_bytes().split(b"\n")[:64]) is None, path


def test_lines_that_are_no_messages_are_kept() -> None:
    parser = MessagesParser()

    parser.receive_lines([b'{"type":"text"}\n', b"noise\n", b"\n", b'{"type":"of the future"}\n'])

    kinds = [(type(each).__name__, each.line) for each in parser.messages()]
    assert kinds == [("Unknown", 1), ("Malformed", 2), ("Unknown", 4)]


def test_every_line_is_accounted_for() -> None:
    messages: list[Message] = [Text(text="a", line=70), Text(text="b", line=7)]

    for name in ("messages", "json"):
        account = audit([written(messages, name) + b"\nnoise\n"], dialect="messages")
        assert account.is_whole
        assert account.told == 3


def test_a_source_line_of_another_file_is_not_shown() -> None:
    mapper = Mapper("unified")
    made = mapper.push(encode(Text(text="a", line=1)) + b"\n") + mapper.flush()

    assert json.loads(made[0])["_original"] is None


def test_a_turn_that_was_open_stays_open() -> None:
    parser = MessagesParser()
    parser.receive_line(msgspec.json.encode(MESSAGE_TYPES["turn_started"](turn_id="t")))
    parser.receive_eof()

    assert len(parser.messages()) == 1
