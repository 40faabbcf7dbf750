from __future__ import annotations

import errno

import pytest

from dragoman.errors import (
    DragomanError,
    ProcessExited,
    ProtocolError,
    ResponseError,
    UnknownDialect,
    UnknownFormat,
    UnreadableSource,
    UsageError,
    reason_of,
)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (UnknownDialect("morse", ["a", "b"]), "there is no dialect 'morse'; known: a, b"),
        (UnknownFormat("vinyl", ["x"]), "there is no format 'vinyl'; known: x"),
        (
            UnreadableSource("f.jsonl", "there is no such file"),
            "cannot read f.jsonl: there is no such file",
        ),
    ],
)
def test_what_a_user_asked_for_in_vain_is_said_in_one_sentence(
    error: UsageError, sentence: str
) -> None:
    assert str(error) == sentence
    assert isinstance(error, UsageError)


def test_one_root_catches_everything_of_ours() -> None:
    for error in (UsageError, UnknownDialect, UnknownFormat, UnreadableSource, ProtocolError):
        assert issubclass(error, DragomanError)


def test_the_sentence_of_an_error_has_the_last_lines_of_the_process_and_not_all_of_them() -> None:
    lines = [f"line {number} " + "x" * 90 for number in range(20)]
    error = ProcessExited("the process is gone", stderr="\n".join(lines))

    assert str(error) == f"the process is gone ({' '.join(lines[-4:])})"
    assert error.stderr.startswith("line 0 ")


def test_only_the_reason_is_quoted_from_standard_error() -> None:
    stderr = (
        "WARNING: proceeding, even though we could not create PATH aliases\n"
        "2026-11-18T13:00:00.000000Z  WARN codex_core: slow disk\n"
        "Error: no such profile\n\nStack backtrace:\n   0: <unknown>\n   1: <unknown>\n"
    )

    assert str(ProcessExited("gone", stderr=stderr)) == "gone (Error: no such profile)"
    assert str(ResponseError("thread/start: no such model", stderr=stderr)) == (
        "thread/start: no such model"
    )


def test_the_reason_of_the_system_has_no_number() -> None:
    assert reason_of(FileNotFoundError(2, "No such file or directory", "/x")) == (
        "no such file or directory"
    )
    assert reason_of(OSError("odd")) == "odd"
    asyncio_says = "error while attempting to bind on address ('127.0.0.1', 1): "
    for said in ("[errno 98] address already in use", "address already in use"):  # 3.13 and 3.11
        assert reason_of(OSError(errno.EADDRINUSE, asyncio_says + said)) == "address already in use"


def test_of_a_last_line_that_is_too_long_the_beginning_is_told() -> None:
    error = ProcessExited("gone", stderr="before\nwhy: " + "x" * 5000)

    assert str(error).startswith("gone (why: xxx")
    assert str(error).endswith("x…)")
    assert len(str(error)) == len("gone ()") + 400
