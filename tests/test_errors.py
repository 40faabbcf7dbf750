from __future__ import annotations

import pytest

from dragoman.errors import (
    DragomanError,
    ProtocolError,
    UnknownDialect,
    UnknownFormat,
    UnreadableSource,
    UsageError,
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
