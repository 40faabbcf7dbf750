"""Rules about lines: each makes a message, or repeats a line that does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Dialect, Duplicate
from dragoman.model.messages import Malformed, Message, Unknown
from dragoman.reading.audit import EMITTED
from dragoman.reading.evidence import Evidence
from dragoman.testing.conformance.check import ConformanceRule
from dragoman.testing.conformance.corpus import Corpus, finished
from dragoman.wire import jsonl


def every_line_is_accounted_for(corpus: Corpus) -> Iterator[str]:
    """A line makes a message, or the parser names it a duplicate. Nothing is dropped in silence."""
    for recorded, dialect in corpus.recordings:
        for problem in accounting_problems(dialect, recorded.lines):
            yield f"{recorded}: {problem}"


def accounting_problems(dialect: Dialect, lines: Sequence[bytes]) -> Iterator[str]:
    """Compare the lines of a stream with the lines that its messages and duplicates name."""
    if not dialect.has_own_lines:
        return
    messages, duplicates = read_for_audit(dialect, lines)
    named = {message.line for message in messages} | {duplicate.line for duplicate in duplicates}
    for number in range(1, len(lines) + 1):
        if number not in named:
            line = jsonl.text_of(lines[number - 1])[:200]
            yield f"line {number} makes no message and is no duplicate: {line}"
    for number in sorted(named):
        if not 0 < number <= len(lines):
            yield f"a message names line {number} of {len(lines)}"


def read_for_audit(
    dialect: Dialect, lines: Sequence[bytes]
) -> tuple[list[Message], list[Duplicate]]:
    """Read a stream; return its messages, and the lines that repeat others."""
    parser = dialect.make_parser(only=None, audit=True)
    parser.receive_lines(lines)
    return finished(parser), parser.duplicates()


def duplicates_hold_nothing_new(corpus: Corpus) -> Iterator[str]:
    """A line is dropped as a duplicate only if some message has each of its values."""
    for recorded, dialect in corpus.recordings:
        messages, duplicates = read_for_audit(dialect, recorded.lines)
        evidence = _evidence(messages)
        speaking = {message.line for message in messages}
        for number, reason in duplicates:
            if number in speaking:
                continue
            line = recorded.lines[number - 1]
            for lost in _lost(corpus.harness, line, reason, evidence):
                yield f"{recorded}: line {number} ({reason}): no message has {lost}"


def emitting_lines_lose_nothing(corpus: Corpus) -> Iterator[str]:
    """A line that makes a message loses none of its values: some message has each of them."""
    for recorded, dialect in corpus.recordings:
        if not dialect.has_own_lines:
            continue
        messages, duplicates = read_for_audit(dialect, recorded.lines)
        evidence = _evidence(messages)
        # a line may repeat another and still bring out what waited for it
        reasons = dict(duplicates)
        for number in sorted({message.line for message in messages}):
            if 0 < number <= len(recorded.lines):
                line, reason = recorded.lines[number - 1], reasons.get(number, EMITTED)
                for lost in _lost(corpus.harness, line, reason, evidence):
                    yield f"{recorded}: line {number}: no message has {lost}"


def _evidence(messages: Sequence[Message]) -> Evidence:
    evidence = Evidence()
    for message in messages:
        evidence.add(message)
    return evidence


def _lost(harness: Harness, line: bytes, reason: str, evidence: Evidence) -> Iterator[str]:
    if harness.values is None:
        return
    for value in harness.values(line, reason):
        if not evidence.holds(value):
            yield f"{value.place}: {str(value.value)[:200]}"


def only_broken_lines_are_malformed(corpus: Corpus) -> Iterator[str]:
    """A line that is JSON becomes at worst ``unknown``, and both keep the line as it was."""
    for recorded, dialect in corpus.recordings:
        if not dialect.has_own_lines:
            continue
        for message in recorded.messages:
            if not isinstance(message, Unknown | Malformed) or message.line < 1:
                continue
            if not _holds(recorded.lines[message.line - 1], message.raw):
                yield f"{recorded}: line {message.line} is not kept whole: {message.raw[:200]}"
            if isinstance(message, Malformed) and _value(message.raw.encode()) is not None:
                yield f"{recorded}: line {message.line} is JSON, and yet {message.problem}"


def _holds(line: bytes, raw: str) -> bool:
    """Whether this is the line, or what its envelope has: ``{"dir": "recv", "msg": {…}}``, also as a text."""
    if raw in jsonl.text_of(line):
        return True
    value = _value(line)
    return isinstance(value, dict) and raw in cast("dict[str, Any]", value).values()


def _value(line: bytes) -> Any:
    try:
        return jsonl.loads(line)
    except jsonl.NotJson:
        return None


RULES: tuple[ConformanceRule, ...] = (
    every_line_is_accounted_for,
    duplicates_hold_nothing_new,
    emitting_lines_lose_nothing,
    only_broken_lines_are_malformed,
)
