from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from dragoman.errors import UnknownDialect, UnreadableSource
from dragoman.model.messages import type_of
from dragoman.reading.audit import Account, audit
from dragoman.reading.read import read

STREAM = (
    b"warning: low disk\n"
    b'{"type":"thread.started","thread_id":"s1"}\n'
    b"\n"
    b'{"type":"turn.started"}\n'
    b'{"type":"new.thing"}\n'
    b'{"type":"new.thing"}\n'
    b'{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls","status":"in_progress"}}\n'
    b'{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls","status":"in_progress"}}\n'
    b'{"type":"turn.completed"'
)


def test_every_line_emits_a_message_or_duplicates_one_that_does() -> None:
    account = audit(STREAM)

    assert account.dialect == "codex-exec"
    assert account.lines == 9
    assert account.emitting == 7
    assert account.duplicates.total() == 2
    assert account.duplicates["blank line"] == 1
    assert account.unaccounted == []
    assert account.is_whole


def test_messages_are_counted_by_type() -> None:
    account = audit(STREAM)

    assert account.messages == Counter(type_of(type(message)) for message in read(STREAM))
    assert account.messages["unknown"] == 2
    assert account.unknown == Counter({"new.thing": 2})
    assert account.malformed == [
        (1, "not JSON"),
        (9, "broken JSON: input data was truncated"),
    ]


def test_a_stream_of_no_known_dialect_is_accounted_for_too() -> None:
    account = audit(b"one\n{}\n\n")

    assert (account.dialect, account.lines, account.emitting) == (None, 3, 2)
    assert account.duplicates == Counter({"blank line": 1})
    assert account.is_whole


def test_nothing_at_all_is_whole() -> None:
    assert audit(b"") == Account()


def test_a_named_dialect_is_used_and_named() -> None:
    account = audit(STREAM, dialect="codex-proto")

    assert account.dialect == "codex-proto"
    assert account.lines == 9
    assert account.unaccounted == []


def test_a_damaged_source_is_not_whole() -> None:
    account = audit(gzip.compress(STREAM)[:-2])

    assert account.damage == "compressed data ends early"
    assert account.lines == 9
    assert account.unaccounted == []
    assert not account.is_whole


def test_a_lost_line_is_not_whole() -> None:
    assert not Account(lines=2, unaccounted=[2]).is_whole


def test_a_value_that_an_emitting_line_drops_is_listed() -> None:
    """It may be a field of a later release: the line itself is not lost."""
    data = b'{"type":"thread.started","thread_id":"t"}\n{"type":"turn.started","surprise":"Zq7"}\n'

    account = audit(data)

    assert [(each.line, each.reason, each.value) for each in account.unread] == [(2, "", "Zq7")]
    assert account.lost == []
    assert account.is_whole


def test_a_long_line_is_accounted_for() -> None:
    account = audit(STREAM, max_line=60)

    assert account.lines == 9
    assert [line for line, problem in account.malformed if "longer than the limit" in problem] == [
        7,
        8,
    ]
    assert account.is_whole


def test_what_cannot_be_read_raises(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource):
        audit(tmp_path)
    with pytest.raises(UnknownDialect):
        audit(STREAM, dialect="codex-9")


@pytest.mark.parametrize("size", [1, 50])
def test_chunks_do_not_change_the_account(size: int) -> None:
    chunks = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]

    assert audit(chunks) == audit(STREAM)
