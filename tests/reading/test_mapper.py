from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.errors import UnknownDialect, UnknownFormat, UsageError
from dragoman.export import FORMATS
from dragoman.model.messages import Prompt, decode
from dragoman.reading.mapper import Mapper, SourceLines, make_exporter
from dragoman.reading.read import read

EXEC = (
    '{"type":"thread.started","thread_id":"s1"}\n'
    '{"type":"turn.started"}\n'
    '{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"hé\u2028llo"}}\n'
    '{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}\n'
)


def types(lines: list[str]) -> list[str]:
    return [json.loads(line)["type"] for line in lines]


def test_each_chunk_gives_the_lines_that_it_completes() -> None:
    mapper = Mapper("ndjson")
    first, second, third, last, _ = EXEC.split("\n")

    assert types(mapper.push(f"{first}\n")) == ["init"]
    assert types(mapper.push(f"{second}\n{third}")) == []
    assert types(mapper.push("\n")) == ["message"]
    assert types(mapper.push(last)) == []
    assert types(mapper.flush()) == ["result"]


@pytest.mark.parametrize("to", [each.name for each in FORMATS])
def test_every_format_comes_in_lines_with_their_newlines(to: str, runs: Path) -> None:
    mapper = Mapper(to)
    data = (runs / "0.142.0/plan.appserver.jsonl").read_bytes()

    lines = mapper.push(data) + mapper.flush()

    assert lines
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)


def test_text_and_bytes_may_be_pushed_in_turn() -> None:
    mapper = Mapper("messages")

    lines = mapper.push(EXEC[:50]) + mapper.push(EXEC[50:].encode()) + mapper.flush()

    assert [decode(line) for line in lines] == list(read(EXEC.encode()))


def test_text_that_no_encoding_can_carry_may_be_pushed() -> None:
    mapper = Mapper("messages")

    lines = mapper.push('{"a":"\ud800"}\n') + mapper.flush()

    assert types(lines) == ["malformed"]


def test_a_chunk_may_end_within_a_character() -> None:
    data = EXEC.encode()
    at = data.index("é".encode()) + 1
    mapper = Mapper("messages")

    lines = mapper.push(data[:at]) + mapper.push(data[at:]) + mapper.flush()

    assert [decode(line) for line in lines] == list(read(data))


def test_the_end_closes_what_is_open() -> None:
    mapper = Mapper("messages")
    mapper.push('{"type":"thread.started","thread_id":"s1"}\n{"type":"turn.started"}')

    assert types(mapper.flush()) == ["turn_started", "turn_ended"]


def test_a_dialect_may_be_named() -> None:
    [line] = Mapper("messages", dialect="codex-proto").push('{"type":"turn.started"}\n')

    assert json.loads(line)["type"] == "unknown"


def test_a_long_line_is_told_and_the_next_ones_are_read() -> None:
    mapper = Mapper("messages", max_line=100)

    lines = mapper.push("x" * 500 + "\n" + EXEC)

    assert types(lines)[:3] == ["malformed", "session_started", "turn_started"]
    assert [json.loads(line)["line"] for line in lines[:3]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("include", "expected"),
    [((), []), (("raw",), ["raw"]), (("deltas",), []), (("raw", "context", "deltas"), ["raw"])],
)
def test_more_than_the_conversation_is_shown_only_when_asked_for(
    include: tuple[str, ...], expected: list[str]
) -> None:
    mapper = Mapper("ndjson", dialect="codex-exec", include=include)

    lines = mapper.push('{"type":"new.thing"}\n')

    assert types(lines) == expected


def test_what_does_not_exist_is_refused_before_anything_is_read() -> None:
    with pytest.raises(UnknownFormat, match="no format 'yaml'; known: messages, claude, "):
        Mapper("yaml")
    with pytest.raises(UnknownDialect, match="no dialect 'codex-9'"):
        Mapper("text", dialect="codex-9")
    with pytest.raises(UsageError, match=r"cannot include 'all' \(known: context, deltas, raw\)"):
        Mapper("text", include=["context", "all"])


def test_the_unified_format_shows_the_line_that_each_message_came_from(runs: Path) -> None:
    data = (runs / "0.142.0/plan.rollout.jsonl").read_bytes()
    sources = [json.loads(line) for line in data.splitlines()]
    asked = next(message for message in read(data) if isinstance(message, Prompt))
    mapper = Mapper("unified")

    made = [json.loads(line) for line in mapper.push(data) + mapper.flush()]

    prompt = next(each for each in made if each["role"] == "user")
    assert prompt["_original"] == sources[asked.line - 1]
    assert len(made) > 5
    assert all(each["_original"] in sources for each in made)


def test_the_unified_format_has_its_source_lines_even_after_a_long_one() -> None:
    mapper = Mapper("unified", max_line=100)

    [line] = mapper.push("x" * 500 + "\n" + EXEC)

    assert json.loads(line)["_original"] == json.loads(EXEC.split("\n")[2])


@pytest.mark.parametrize(
    ("data", "dialect"),
    [
        (b'data: {"a":1}\n', "codex-responses"),
        (b'{"":"\xb9","":{"":{"":null}}}\n', "codex-app-server"),
        (b"oops\n", "codex-exec"),
    ],
    ids=["server-sent event", "not UTF-8", "a word"],
)
@pytest.mark.parametrize("to", ["messages", "claude", "unified", "ndjson", "orchestrator"])
def test_lines_are_json_even_when_the_raw_ones_in_them_are_not(
    data: bytes, dialect: str, to: str
) -> None:
    mapper = Mapper(to, dialect=dialect, include=["raw"])

    lines = mapper.push(data) + mapper.flush()

    assert all(isinstance(json.loads(line), dict) for line in lines)
    assert lines or to in ("unified", "orchestrator")


def test_source_lines_are_kept_for_a_while_and_no_longer() -> None:
    lines = SourceLines()

    for number in range(1, 201):
        lines.add(b"%d" % number)
    assert lines.get(1) == b"1"
    lines.forget()

    assert lines.get(136) is None
    assert [lines.get(number) for number in (137, 200, 201)] == [b"137", b"200", None]


def test_only_a_format_that_wants_source_lines_has_them_kept() -> None:
    assert make_exporter("unified")[1].is_wanted
    assert not make_exporter("text", ["raw"])[1].is_wanted


# A host's stdout mapper as it is documented: each of these is one of its tests, word for word.


def mapped(*events: object, end: str = "\n") -> list[object]:
    text = "\n".join(json.dumps(event) for event in events) + end
    return [json.loads(line) for line in Mapper("ndjson").push(text)]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (
            {"type": "session.created", "id": "sess_123", "model": "o4-mini"},
            {"type": "init", "session_id": "sess_123", "modelId": "o4-mini"},
        ),
        (
            {"type": "message.output_text.delta", "delta": "Hello"},
            {"type": "message", "role": "assistant", "content": "Hello", "delta": True},
        ),
        (
            {"type": "message.output_text.done", "text": "Hello world"},
            {"type": "message", "role": "assistant", "content": "Hello world", "delta": False},
        ),
        (
            {"type": "error", "message": "API rate limited"},
            {"type": "stderr", "content": "API rate limited"},
        ),
    ],
    ids=["init", "delta", "full", "stderr"],
)
def test_a_documented_event_maps_to_exactly_one_line(event: object, expected: object) -> None:
    assert mapped(event) == [expected]


@pytest.mark.parametrize(
    "event",
    [{"type": "response.completed", "usage": {}}, {"type": "some.unknown.event"}],
    ids=["completed", "unknown"],
)
def test_what_the_document_drops_makes_no_line(event: object) -> None:
    mapper = Mapper("ndjson")
    assert mapper.push(json.dumps(event) + "\n") == []
    assert mapper.flush() == []


def test_several_events_in_one_chunk_make_as_many_lines() -> None:
    session = {"type": "session.created", "id": "s1", "model": "o4-mini"}
    assert len(mapped(session, {"type": "message.output_text.delta", "delta": "Hi"})) == 2


def test_partial_lines_wait_for_the_rest() -> None:
    mapper = Mapper("ndjson")
    full = json.dumps({"type": "message.output_text.delta", "delta": "Hi"})
    assert mapper.push(full[:10]) == []
    [line] = mapper.push(full[10:] + "\n")
    assert json.loads(line)["content"] == "Hi"


def test_flush_gives_the_rest_of_the_buffer_and_nothing_else() -> None:
    mapper = Mapper("ndjson")
    assert mapper.push(json.dumps({"type": "message.output_text.delta", "delta": "end"})) == []
    [line] = mapper.flush()
    assert json.loads(line)["content"] == "end"


def test_flush_gives_nothing_when_nothing_was_pushed() -> None:
    assert Mapper("ndjson").flush() == []


def test_a_line_that_is_not_json_makes_none() -> None:
    mapper = Mapper("ndjson")
    assert mapper.push("not json\n") == []
    assert mapper.flush() == []


def test_flush_gives_a_result_only_for_a_turn_whose_end_was_said() -> None:
    lines = [f"{line}\n" for line in EXEC.split("\n")[:-1]]
    for said, expected in ((lines[:3], []), (lines, ["result"])):
        mapper = Mapper("ndjson")
        mapper.push("".join(said[:3]))
        assert types(mapper.push("".join(said[3:])) + mapper.flush()) == expected
