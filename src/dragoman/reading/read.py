"""Read a stream or a file: lines of any dialect in, messages out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from io import BufferedReader
from itertools import chain, islice
from typing import cast

from dragoman.errors import UnknownDialect
from dragoman.harnesses import dialects, find_dialect
from dragoman.harnesses.contract.reading import Parser
from dragoman.model.messages import MESSAGE_TYPES, Malformed, Message
from dragoman.reading.sniffing import SniffingParser
from dragoman.reading.sources import (
    STEP,
    Damage,
    Line,
    Source,
    batches,
    ending_of,
    open_plain,
)
from dragoman.wire.lines import DEFAULT_MAX_LINE, LongLine


def make_parser(
    dialect: str | None = None, *, only: frozenset[str] | None = None, audit: bool = False
) -> Parser:
    """Return a parser for the named dialect, or one that detects the dialect."""
    if dialect is None:
        return SniffingParser(only=only, audit=audit)
    found = find_dialect(dialect)
    if found is None:
        raise UnknownDialect(dialect, [known.name for known in dialects()])
    return found.make_parser(only=only, audit=audit)


def has_own_lines(parser: Parser | None) -> bool:
    """Whether the line numbers in this parser's messages refer to the source it reads."""
    if isinstance(parser, SniffingParser):
        return parser.dialect is None or parser.dialect.has_own_lines
    from dragoman.harnesses.messages.parser import MessagesParser  # rarely asked

    return not isinstance(parser, MessagesParser)


def read(
    source: Source,
    *,
    dialect: str | None = None,
    only: Collection[str] | None = None,
    max_line: int = DEFAULT_MAX_LINE,
    follow: bool = False,
) -> Iterator[Message]:
    """Yield every message of a session file, a recording or a live stream.

    ``source`` is a path, a file object, an iterable of ``bytes`` chunks or of ``str`` lines; gzip and
    Zstandard are decompressed. ``only`` selects message types (``{"usage"}``); reading fewer types is
    much faster. Lines longer than ``max_line`` become ``malformed`` messages. The content of a line
    never raises.

    A turn gets an end only if that end is known: in a file that another program is writing, or that
    stops in the middle of a turn, the last turn stays open. ``follow`` keeps reading as the file
    grows.
    """
    kinds = _kinds(only)
    wanted = frozenset(only) if only is not None else None
    parser = make_parser(dialect, only=wanted)
    plain = None if follow else open_plain(source, max_line)
    if plain is not None:
        yield from _of_plain(plain, parser, kinds)
    else:
        yield from _of_batches(source, parser, kinds, max_line, follow=follow)
    parser.receive_eof(ending_of(source))
    yield from _chosen(parser.messages(), kinds)


def _of_plain(
    file: BufferedReader, parser: Parser, kinds: tuple[type, ...] | None
) -> Iterator[Message]:
    with file:
        while (first := next(file, None)) is not None:
            parser.receive_lines(chain((first,), islice(file, STEP - 1)))
            yield from _chosen(parser.messages(), kinds)


def _of_batches(
    source: Source,
    parser: Parser,
    kinds: tuple[type, ...] | None,
    max_line: int,
    *,
    follow: bool,
) -> Iterator[Message]:
    for batch in batches(source, max_line=max_line, follow=follow):
        feed(parser, batch)
        yield from _chosen(parser.messages(), kinds)
        if batch and isinstance(batch[-1], Damage):
            yield from _chosen([damage(batch[-1])], kinds)


def feed(parser: Parser, batch: list[Line]) -> None:
    """Pass a batch of lines to a parser."""
    if set(map(type, batch)) <= {bytes}:
        parser.receive_lines(cast("list[bytes]", batch))
        return
    for line in batch:
        if isinstance(line, bytes):
            parser.receive_line(line)
        elif isinstance(line, LongLine):
            parser.receive_long_line(line)


def damage(problem: Damage) -> Malformed:
    """Return the message to emit where a source could not be read any further."""
    return Malformed(raw="", problem=problem.problem)


def _kinds(only: Collection[str] | None) -> tuple[type, ...] | None:
    if only is None:
        return None
    unknown = [name for name in only if name not in MESSAGE_TYPES]
    if unknown:
        known = ", ".join(MESSAGE_TYPES)
        raise ValueError(f"unknown message type {unknown[0]!r} (known: {known})")
    return tuple(MESSAGE_TYPES[name] for name in only)


def _chosen(messages: list[Message], kinds: tuple[type, ...] | None) -> Iterable[Message]:
    if kinds is None:
        return messages
    return [message for message in messages if isinstance(message, kinds)]
