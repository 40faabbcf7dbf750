from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.harnesses.contract.reading import Duplicate, Parser
from dragoman.model.messages import Malformed, Message, Notice, SessionStarted, Unknown
from dragoman.reading.read import make_parser
from dragoman.reading.sniffing import SniffingParser
from dragoman.wire.lines import LongLine

ONE_OF_EACH = {
    "codex-exec": "0.44.0/plan.exec.jsonl",
    "codex-exec-experimental": "0.42.0/plan_experimental.exec.jsonl",
    "codex-exec-old": "0.20.0/plan.exec.jsonl",
    "codex-proto": "0.29.0/plan.proto.jsonl",
    "codex-mcp-server": "0.42.0/approval_cmd_denied.mcpserver.jsonl",
    "codex-app-server-v1": "0.28.0/plan.appserver-v1.jsonl",
    "codex-app-server": "0.142.0/plan.appserver.jsonl",
    "codex-rollout": "0.142.0/plan.rollout.jsonl",
    "codex-rollout-flat": "0.20.0/plan.exec-rollout.jsonl",
}
STARTED = b'{"type":"thread.started","thread_id":"s1"}'


def told(parser: Parser, lines: list[bytes]) -> list[Message]:
    messages: list[Message] = []
    for line in lines:
        parser.receive_line(line)
        messages += parser.messages()
    parser.receive_eof()
    return messages + parser.messages()


@pytest.mark.parametrize(("dialect", "name"), ONE_OF_EACH.items(), ids=ONE_OF_EACH)
def test_a_found_dialect_is_read_as_if_it_had_been_named(
    dialect: str, name: str, runs: Path
) -> None:
    lines = (runs / name).read_bytes().splitlines()
    parser = SniffingParser(audit=True)
    named = make_parser(dialect, audit=True)

    assert told(parser, lines) == told(named, lines)
    assert parser.dialect is not None
    assert parser.dialect.name == dialect
    assert parser.duplicates() == named.duplicates()


def test_many_lines_at_once_are_read_like_one_after_the_other(runs: Path) -> None:
    lines = [b"warning: low disk", *(runs / ONE_OF_EACH["codex-exec"]).read_bytes().splitlines()]
    at_once = SniffingParser()

    at_once.receive_lines(lines[:1])
    at_once.receive_lines(iter(lines[1:]))
    at_once.receive_lines([])
    at_once.receive_eof()

    assert at_once.messages() == told(SniffingParser(), lines)


def test_lines_are_held_until_one_is_decisive_and_then_keep_their_numbers() -> None:
    parser = SniffingParser()

    parser.receive_line(b"warning: low disk")
    parser.receive_line(b'{"jsonrpc":"2.0"}')
    assert (parser.messages(), parser.dialect) == ([], None)
    parser.receive_line(STARTED)

    noise, strange, started = parser.messages()
    assert isinstance(noise, Malformed)
    assert isinstance(strange, Unknown)
    assert isinstance(started, SessionStarted)
    assert [noise.line, strange.line, started.line] == [1, 2, 3]


def test_a_stream_that_is_never_recognised_is_kept_whole() -> None:
    parser = SniffingParser(audit=True)

    messages = told(parser, [b'{"a":1}', b"", b"oops", b'{"a":', b"  \r\n"])

    assert messages == [
        Unknown(line=1, native_type="no known dialect", raw='{"a":1}'),
        Malformed(line=3, raw="oops", problem="not JSON"),
        Malformed(line=4, raw='{"a":', problem="broken JSON: input data was truncated"),
    ]
    assert parser.duplicates() == [Duplicate(2, "blank line"), Duplicate(5, "blank line")]
    assert parser.dialect is None


def test_not_too_many_lines_are_held() -> None:
    parser = SniffingParser(audit=True)

    for number in range(100):
        parser.receive_line(b"" if number % 2 else b"noise")
    given_up = parser.messages()

    assert [message.line for message in given_up] == list(range(1, 37, 2))
    assert [duplicate.line for duplicate in parser.duplicates()] == list(range(2, 37, 2))


def test_numbers_are_right_after_lines_were_given_up() -> None:
    noise = [b"noise"] * 80

    messages = told(SniffingParser(), [*noise, STARTED])

    assert [message.line for message in messages] == list(range(1, 82))
    assert isinstance(messages[-1], SessionStarted)


def test_each_line_is_accounted_for_once_when_a_dialect_is_found_late() -> None:
    parser = SniffingParser(audit=True)

    messages = told(parser, [b"", b"noise"] * 40 + [STARTED])

    lines = [message.line for message in messages] + [
        duplicate.line for duplicate in parser.duplicates()
    ]
    assert sorted(lines) == list(range(1, 82))


def test_a_long_line_is_kept_in_its_place() -> None:
    parser = SniffingParser()
    long = LongLine(head=b"{", tail=b"}", length=9999)

    parser.receive_line(b"noise")
    parser.receive_long_line(long)
    parser.receive_line(STARTED)
    parser.receive_long_line(long)
    parser.receive_line(b'{"type":"error","message":"gone"}')
    noise, first, started, second, said = parser.messages()

    assert [each.line for each in (noise, first, started, second, said)] == [1, 2, 3, 4, 5]
    assert isinstance(first, Malformed)
    assert isinstance(second, Malformed)
    assert first.problem == second.problem
    assert "9999 bytes" in first.problem
    assert isinstance(said, Notice)


def test_what_is_wanted_is_passed_on_to_the_parser_that_is_found(runs: Path) -> None:
    lines = (runs / "0.142.0/plan.rollout.jsonl").read_bytes().splitlines()
    wanted = frozenset({"usage"})

    assert told(SniffingParser(only=wanted), lines) == told(
        make_parser("codex-rollout", only=wanted), lines
    )


def test_while_the_source_grows_nothing_is_decided() -> None:
    parser = SniffingParser()
    parser.receive_line(b'{"odd":1}')

    parser.receive_eof("growing")
    assert parser.messages() == []
    parser.receive_line(STARTED)
    parser.receive_eof("over")

    assert parser.dialect is not None
    assert [type(message) for message in parser.messages()] == [Unknown, SessionStarted]
