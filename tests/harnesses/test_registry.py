from __future__ import annotations

import pytest

from dragoman import harnesses
from dragoman.harnesses.contract.reading import Dialect
from dragoman.model.messages import Malformed
from dragoman.wire.lines import LongLine

DIALECTS = harnesses.dialects()
ODD_LINES = [
    b"",
    b"   \r",
    b"warning: low disk",
    b"{",
    b"{}",
    b"[]",
    b"null",
    b'"words"',
    b"5",
    b'{"type":5}',
    b'{"type":"brand_new"}',
    b'{"method":"brand/new","params":{}}',
    b'{"msg":{"type":"brand_new"}}',
    b'{"type":"event_msg","payload":{"type":"brand_new"}}',
    b'{"type":"response_item","payload":{"type":"brand_new"}}',
    b'{"type":"item.completed","item":{"type":"brand_new"}}',
    b'{"dir":"recv","msg":{"method":"brand/new"}}',
    b'{"dir":"recv"',
    b"\xff\xfe\x00",
    b'{"text":"\\ud83d"}',
    b'{"a":' * 3000,
]
every_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=[each.name for each in DIALECTS])


def test_each_dialect_is_named_once_and_found_by_its_name() -> None:
    names = [dialect.name for dialect in DIALECTS]

    assert len(set(names)) == len(names)
    assert [harnesses.find_dialect(name) for name in names] == DIALECTS
    assert harnesses.find_dialect("klingon") is None


def test_codex_is_known_with_all_that_it_has_spoken() -> None:
    names = [harness.name for harness in harnesses.HARNESSES]
    assert names[:2] == ["codex", "claude"], "the usual one first"
    assert len(set(names)) == len(names)
    assert {dialect.name for dialect in DIALECTS} >= {"codex-exec", "codex-rollout"}


def test_limits_are_about_dialects_that_exist() -> None:
    for harness in harnesses.HARNESSES:
        for limit in harness.limits:
            assert harness.dialect(limit.dialect) is not None, limit
            assert limit.why


@every_dialect
def test_a_dialect_can_be_shown_to_people(dialect: Dialect) -> None:
    assert dialect.summary
    assert dialect.releases


@every_dialect
def test_a_stream_of_nothing_says_nothing(dialect: Dialect) -> None:
    parser = dialect.make_parser(only=None, audit=True)
    parser.receive_eof()

    assert parser.messages() == []
    assert parser.duplicates() == []


@every_dialect
def test_every_odd_line_is_accounted_for(dialect: Dialect) -> None:
    """Each made a message or is spoken for: nothing raises and nothing is lost."""
    parser = dialect.make_parser(only=None, audit=True)
    for line in ODD_LINES:
        parser.receive_line(line)
    parser.receive_eof()

    told = {message.line for message in parser.messages()}
    spoken_for = {duplicate.line for duplicate in parser.duplicates()}
    assert told | spoken_for == set(range(1, len(ODD_LINES) + 1))


@every_dialect
def test_lines_in_a_batch_say_what_they_say_one_by_one(dialect: Dialect) -> None:
    one_by_one = dialect.make_parser(only=None, audit=True)
    for line in ODD_LINES:
        one_by_one.receive_line(line)
    one_by_one.receive_eof()
    batch = dialect.make_parser(only=None, audit=True)
    batch.receive_lines(ODD_LINES)
    batch.receive_eof()

    assert batch.messages() == one_by_one.messages()
    assert batch.duplicates() == one_by_one.duplicates()


@every_dialect
def test_a_line_too_long_to_keep_is_malformed_and_counted(dialect: Dialect) -> None:
    parser = dialect.make_parser(only=None, audit=True)
    parser.receive_line(b"noise")
    parser.receive_long_line(LongLine(length=99, head=b'{"a', tail=b'z"}'))
    parser.receive_eof()

    noise, long = parser.messages()
    assert isinstance(noise, Malformed)
    assert isinstance(long, Malformed)
    assert (long.line, long.raw) == (2, '{"a … z"}')


@every_dialect
def test_what_was_drained_is_not_said_again(dialect: Dialect) -> None:
    parser = dialect.make_parser(only=None, audit=True)
    parser.receive_line(b"noise")
    parser.receive_line(b"")
    parser.receive_eof()
    parser.messages()
    parser.duplicates()

    assert parser.messages() == []
    assert parser.duplicates() == []


def test_a_stream_is_detected_by_the_harness_that_knows_it() -> None:
    found = harnesses.sniff_dialect(
        [b'{"type":"session_meta","payload":{"id":"s"},"timestamp":"2026-01-01T00:00:00Z"}']
    )

    assert found == "codex-rollout"
    assert harnesses.sniff_dialect([b"no agent says this"]) is None
    assert harnesses.settle_dialect([b"no agent says this"]) is None
