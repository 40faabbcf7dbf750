from __future__ import annotations

from datetime import UTC, datetime

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.contract.reading import Duplicate
from dragoman.model.messages import Text, TurnStarted


def test_before_the_first_line_there_is_no_line_and_no_time() -> None:
    out = Output(audit=True)
    out.duplicate("nothing read yet")

    assert out.take_duplicates() == [Duplicate(0, "nothing read yet")]
    assert out.at is None


def test_messages_are_taken_once() -> None:
    out = Output(audit=False)
    out.messages.append(TurnStarted(line=1))

    assert out.take_messages() == [TurnStarted(line=1)]
    assert out.take_messages() == []


def test_what_was_taken_is_not_changed_by_what_comes_after() -> None:
    out = Output(audit=True)
    out.messages.append(TurnStarted(line=1))
    out.duplicate("blank line")
    messages, duplicates = out.take_messages(), out.take_duplicates()

    out.messages.append(TurnStarted(line=2))
    out.duplicate("blank line")

    assert len(messages) == len(duplicates) == 1


def test_a_duplicate_names_the_line_being_read() -> None:
    out = Output(audit=True)
    out.line = 3
    out.duplicate("blank line")
    out.line = 4
    out.duplicate("turn: started before")

    assert out.take_duplicates() == [
        Duplicate(3, "blank line"),
        Duplicate(4, "turn: started before"),
    ]
    assert out.take_duplicates() == []


def test_a_line_that_was_held_back_is_named_as_itself() -> None:
    out = Output(audit=True)
    out.line = 9
    out.duplicate_of_line(2, "code mode: its tools speak for themselves")

    assert out.take_duplicates() == [Duplicate(2, "code mode: its tools speak for themselves")]


def test_without_an_audit_nothing_is_noted() -> None:
    out = Output(audit=False)
    out.duplicate("blank line")
    out.duplicate_of_line(1, "blank line")

    assert out.take_duplicates() == []


def test_the_sessions_of_one_stream_keep_one_order() -> None:
    out = Output(audit=False)
    mother, child = (
        SessionAssembler(out, "codex", "mother"),
        SessionAssembler(out, "codex", "child"),
    )
    out.at = datetime(2026, 1, 2, tzinfo=UTC)
    for line, (session, text) in enumerate([(mother, "one"), (child, "two"), (mother, "three")], 1):
        out.line = line
        session.text("event", text)

    texts = [message for message in out.take_messages() if isinstance(message, Text)]

    assert [(text.session_id, text.line, text.text) for text in texts] == [
        ("mother", 1, "one"),
        ("child", 2, "two"),
        ("mother", 3, "three"),
    ]
    assert {text.at for text in texts} == {out.at}
