"""Rules about how lines arrive and which messages are wanted: neither changes what is emitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

from dragoman.harnesses.contract.reading import Dialect
from dragoman.model.messages import MESSAGE_TYPES, Message, TurnEnded, decode, encode, type_of
from dragoman.testing.conformance.check import ConformanceRule
from dragoman.testing.conformance.corpus import Corpus, finished, read_as
from dragoman.wire.lines import LineSplitter, LongLine

_SMALL = 16_000
"""Streams up to this size are also cut into single bytes."""
_CHOICES = (
    *(frozenset((name,)) for name in MESSAGE_TYPES),
    frozenset(("usage", "turn_started", "turn_ended", "session_started")),
    frozenset(("prompt", "text", "tool_call", "tool_result")),
    frozenset(("unknown", "malformed")),
)
_PLAIN = frozenset(("usage", "turn_started", "session_started"))


def chunks_make_no_difference(corpus: Corpus) -> Iterator[str]:
    """Bytes may be cut anywhere, and messages taken at any time."""
    random = Random(0)
    for recorded, dialect in corpus.recordings:
        data = b"".join(recorded.lines)
        cuts = sorted(random.randint(0, len(data)) for _ in range(20))
        ways = {
            "at random": [data[a:b] for a, b in pairwise([0, *cuts, len(data)])],
            "after each line": recorded.lines,
        }
        if len(data) <= _SMALL:
            ways["into single bytes"] = [data[at : at + 1] for at in range(len(data))]
        for way, chunks in ways.items():
            if fed_in_chunks(dialect, chunks) != recorded.messages:
                yield f"{recorded}: other messages if it is cut {way}"


def fed_in_chunks(dialect: Dialect, chunks: Sequence[bytes]) -> list[Message]:
    """Read chunks as they come, line by line, and take the messages after each chunk."""
    parser = dialect.make_parser(only=None, audit=False)
    splitter = LineSplitter()
    messages: list[Message] = []

    def take(lines: list[bytes | LongLine]) -> None:
        for line in lines:
            if isinstance(line, bytes):
                parser.receive_line(line)
            else:
                parser.receive_long_line(line)
        messages.extend(parser.messages())

    for chunk in chunks:
        take(splitter.receive(chunk))
    take(splitter.finish())
    return messages + finished(parser)


def reading_some_types_is_reading_all_and_choosing(corpus: Corpus) -> Iterator[str]:
    """A parser may skip what is not wanted, if that does not change the rest."""
    for recorded, dialect in corpus.recordings:
        for only in _CHOICES:
            read = _chosen(read_as(dialect, recorded.lines, only=only), only)
            if read != _chosen(recorded.messages, only):
                yield f"{recorded}: other messages if only {', '.join(sorted(only))} are wanted"


def _chosen(messages: list[Message], only: frozenset[str]) -> list[Message]:
    return [message for message in messages if type_of(type(message)) in only]


def an_open_turn_is_not_ended(corpus: Corpus) -> Iterator[str]:
    """An end is emitted only when it is known: a stream that may still grow leaves its last turn open."""
    random = Random(0)
    for recorded, dialect in corpus.recordings:
        known = {_end(message) for message in recorded.messages if isinstance(message, TurnEnded)}
        lengths = range(1, len(recorded.lines))
        for length in sorted(random.sample(lengths, min(12, len(lengths)))):
            part = read_as(dialect, recorded.lines[:length], ending="growing")
            ends = [message for message in part if isinstance(message, TurnEnded)]
            if invented := [end for end in ends if _end(end) not in known]:
                yield f"{recorded}: after {length} lines that may be more: {invented[0]}"
                break


def _end(message: TurnEnded) -> tuple[int, str]:
    return message.line, message.outcome


def messages_survive_being_written(corpus: Corpus) -> Iterator[str]:
    """The format ``messages`` is lossless."""
    for recorded, _ in corpus.recordings:
        for message in recorded.messages:
            if decode(encode(message)) != message:
                yield f"{recorded}: line {message.line}: {encode(message)!r}"


def the_quick_reader_agrees(corpus: Corpus) -> Iterator[str]:
    """Where the plain reader does not give up, it emits what the parser does."""
    for recorded, dialect in corpus.recordings:
        plain = corpus.harness.plain(recorded.lines[0]) if corpus.harness.plain else None
        if plain is None or not plain.receive_lines(recorded.lines):
            continue
        plain.receive_eof()
        expected = read_as(dialect, recorded.lines, ending="left", only=_PLAIN)
        if _chosen(plain.messages(), _PLAIN) != _chosen(expected, _PLAIN):
            yield f"{recorded}: the plain reader emits other messages"


RULES: tuple[ConformanceRule, ...] = (
    chunks_make_no_difference,
    reading_some_types_is_reading_all_and_choosing,
    an_open_turn_is_not_ended,
    messages_survive_being_written,
    the_quick_reader_agrees,
)
