"""Rules about lines: each makes a message, or repeats a line that does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Dialect, Twin
from dragoman.model.messages import Malformed, Message, Unknown
from dragoman.reading.evidence import Evidence
from dragoman.testing.conformance.check import Rule
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
    messages, twins = audited(dialect, lines)
    named = {message.line for message in messages} | {twin.line for twin in twins}
    for number in range(1, len(lines) + 1):
        if number not in named:
            line = jsonl.text_of(lines[number - 1])[:200]
            yield f"line {number} makes no message and is no duplicate: {line}"
    for number in sorted(named):
        if not 0 < number <= len(lines):
            yield f"a message names line {number} of {len(lines)}"


def audited(dialect: Dialect, lines: Sequence[bytes]) -> tuple[list[Message], list[Twin]]:
    """Read a stream; return its messages, and the lines that made none."""
    parser = dialect.make_parser(only=None, audit=True)
    parser.receive_lines(lines)
    messages = finished(parser)
    speaking = {message.line for message in messages}
    return messages, [twin for twin in parser.twins() if twin.line not in speaking]


def duplicates_hold_nothing_new(corpus: Corpus) -> Iterator[str]:
    """A line is dropped as a duplicate only if some message has each of its values."""
    for recorded, dialect in corpus.recordings:
        messages, twins = audited(dialect, recorded.lines)
        evidence = Evidence()
        for message in messages:
            evidence.add(message)
        for twin in twins:
            for lost in _values(corpus.harness, recorded.lines[twin.line - 1], twin, evidence):
                yield f"{recorded}: line {twin.line} ({twin.rule}): no message has {lost}"


def _values(harness: Harness, line: bytes, twin: Twin, evidence: Evidence) -> Iterator[str]:
    if harness.values is None:
        return
    for value in harness.values(line, twin.rule):
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
            line = recorded.lines[message.line - 1]
            # An envelope around the line is not kept: ``{"dir": "recv", "msg": {…}}``.
            if message.raw not in jsonl.text_of(line):
                yield f"{recorded}: line {message.line} is not kept whole: {message.raw[:200]}"
            if isinstance(message, Malformed) and _is_json(line):
                yield f"{recorded}: line {message.line} is JSON, and yet {message.problem}"


def _is_json(line: bytes) -> bool:
    try:
        jsonl.loads(line)
    except jsonl.NotJson:
        return False
    return True


RULES: tuple[Rule, ...] = (
    every_line_is_accounted_for,
    duplicates_hold_nothing_new,
    only_broken_lines_are_malformed,
)
