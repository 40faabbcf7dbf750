"""Rules about damaged streams: nothing raises, nothing is lost, and noise changes nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from random import Random
from typing import Any

from msgspec import structs

from dragoman.export import FORMATS
from dragoman.export.base import Options
from dragoman.harnesses.contract.reading import Dialect
from dragoman.model.messages import Malformed, Message, Unknown, decode, encode
from dragoman.model.turns import fold
from dragoman.testing.conformance.accounting import accounting_problems
from dragoman.testing.conformance.check import BUGS, ConformanceRule, described
from dragoman.testing.conformance.corpus import Corpus, RecordedFile, read_as
from dragoman.testing.conformance.feeding import fed_in_chunks
from dragoman.testing.mutations import mutated
from dragoman.wire.lines import LineSplitter

_SMALL = 64_000
"""Larger recordings are not damaged: it would take long and show the same."""
_IDS = {"turn_id", "call_id", "message_id", "item_id", "approval_id", "response_id"}
_NEW = b'{"type":"a type of another world","payload":{"of":"sheep"}}\n'
_BROKEN = b'{"type":"broken in the mid\n'


def no_input_raises(corpus: Corpus) -> Iterator[str]:
    """Recordings are damaged at random; each must still be read, with an account of every line."""
    by_dialect: dict[str, list[RecordedFile]] = {}
    for recorded, dialect in corpus.recordings:
        if sum(map(len, recorded.lines)) <= _SMALL:
            by_dialect.setdefault(dialect.name, []).append(recorded)
    strangers = [line for known in by_dialect.values() for line in known[0].lines[:20]]
    for seed in range(corpus.mutations):
        random = Random(seed)
        recorded = random.choice(by_dialect[random.choice(sorted(by_dialect))])
        dialect = random.choice(
            [recorded.dialect or corpus.harness.dialects[0]] * 3 + [*corpus.harness.dialects]
        )
        lines = mutated(random, [line.rstrip(b"\n") for line in recorded.lines], strangers)
        problem = problem_with(dialect, b"".join(line + b"\n" for line in lines), random)
        if problem is not None:
            yield f"{recorded} as {dialect.name}, damaged with seed {seed}: {problem}"


def problem_with(dialect: Dialect, data: bytes, random: Random) -> str | None:
    """Read a stream in every way; return what went wrong, if anything did."""
    splitter = LineSplitter()
    lines = [
        line for line in (*splitter.receive(data), *splitter.finish()) if isinstance(line, bytes)
    ]
    try:
        messages = read_as(dialect, lines)
        if [decode(encode(message)) for message in messages] != messages:
            return "messages do not survive being written"
        fold(messages)
        for each in FORMATS:
            exporter = each.make(Options())
            exporter.export(messages)
            exporter.finish()
        size = random.choice((13, 200, 4096))
        chunks = [data[at : at + size] for at in range(0, len(data), size)]
        if fed_in_chunks(dialect, chunks) != messages:
            return f"other messages in chunks of {size} bytes"
        return next(accounting_problems(dialect, lines), None)
    except BUGS as problem:
        return described(problem)


def noise_changes_nothing_else(corpus: Corpus) -> Iterator[str]:
    """A line that is new or broken makes one message of its own, in its place; the others stay as they were."""
    random = Random(0)
    for recorded, dialect in corpus.recordings:
        if not dialect.has_own_lines or len(recorded.lines) < 2:
            continue
        at = random.randint(1, len(recorded.lines))
        lines = [*recorded.lines[:at], _NEW, _BROKEN, *recorded.lines[at:]]
        if not recorded.lines[at - 1].endswith(b"\n"):
            lines[at - 1] += b"\n"
        messages = read_as(dialect, lines)
        own = [each for each in messages if each.line in (at + 1, at + 2) and _is_noise(each)]
        if [type(message) for message in own] != [Unknown, Malformed]:
            yield f"{recorded}: {own} for a new and a broken line after line {at}"
            continue
        rest = [message for message in messages if message not in own]
        for one, other in zip_longest(_comparable(rest, at), _comparable(recorded.messages)):
            if one != other:
                yield f"{recorded}: with a new and a broken line after line {at}: {one}, not {other}"
                break


def _is_noise(message: Message) -> bool:
    return isinstance(message, Unknown | Malformed)


def _comparable(messages: Sequence[Message], after: int | None = None) -> Iterator[dict[str, Any]]:
    """Return messages with the numbers that two lines more, after this one, do not change.

    Ids may be made of line numbers, so they are replaced by the order in which they appear.
    """
    seen: dict[str, str] = {}
    for message in messages:
        fields: dict[str, Any] = {"type": type(message).__name__, **structs.asdict(message)}
        if after is not None and message.line > after:
            fields["line"] -= 2
        for name in _IDS & fields.keys():
            if fields[name] is not None:
                fields[name] = seen.setdefault(fields[name], f"id {len(seen)}")
        yield fields


RULES: tuple[ConformanceRule, ...] = (no_input_raises, noise_changes_nothing_else)
