"""Rules about recognizing a stream: our own always, that of another program never."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from dragoman.testing.conformance.check import ConformanceRule
from dragoman.testing.conformance.corpus import Corpus, recognized

_PACKAGE = "dragoman.testing.conformance"
_LINES = 8
"""How many lines of another program's stream are looked at. What is claimed later is not read so."""


class FirstLines(NamedTuple):
    """The beginning of a recording of some program."""

    of: str
    """The program and the recording: ``gemini/02_bash.jsonl``."""
    dialect: str | None
    """The dialect that it is, if one of Dragoman's harnesses reads it."""
    lines: tuple[bytes, ...]


@cache
def first_lines() -> tuple[FirstLines, ...]:
    """Return the first lines of recordings of many programs, which come with the suite."""
    text = files(_PACKAGE).joinpath("first-lines.jsonl").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = [json.loads(row) for row in text.split("\n") if row]
    return tuple(
        FirstLines(row["of"], row["dialect"], tuple(line.encode() for line in row["lines"]))
        for row in rows
    )


def recordings_are_recognized(corpus: Corpus) -> Iterator[str]:
    """The dialect of each recording is known from its lines, and more lines do not change it."""
    for recorded in corpus.all:
        name = recognized(corpus.harness, recorded.lines)
        if name is None:
            yield f"{recorded}: not recognized"
        elif recorded.dialect is None:
            yield f"{recorded}: recognized as {name!r}, which is no dialect of the harness"
        elif (later := corpus.harness.sniff(recorded.lines)) not in (name, None):
            yield f"{recorded}: recognized as {name!r}, but as {later!r} from all of its lines"


def every_dialect_has_a_recording(corpus: Corpus) -> Iterator[str]:
    """A dialect without a recording is a claim that was never checked."""
    seen = {dialect.name for _, dialect in corpus.recordings}
    for dialect in corpus.harness.dialects:
        if dialect.name not in seen:
            yield f"no recording of {dialect.name}"


def no_other_program_is_claimed(corpus: Corpus) -> Iterator[str]:
    """A stream is claimed only by what is unique to its dialect."""
    own = {dialect.name for dialect in corpus.harness.dialects}
    strangers = [
        *first_lines(),
        *(FirstLines(each.name, None, tuple(each.lines[:_LINES])) for each in corpus.others),
    ]
    for of, dialect, lines in strangers:
        if dialect not in own and of.partition("/")[0] == corpus.harness.name:
            continue  # a recording of this program, from before the harness was there
        expected = (None, dialect) if dialect in own else (None,)
        for length in range(1, len(lines) + 1):
            claimed = corpus.harness.sniff(lines[:length])
            if claimed not in expected:
                yield f"{of}: claimed as {claimed!r} after {length} lines"
                break
        else:
            if dialect in own and corpus.harness.sniff(lines) != dialect:
                yield f"{of}: not recognized as {dialect!r}"


def no_other_harness_claims_ours(corpus: Corpus) -> Iterator[str]:
    """All harnesses are asked about each line, in any order."""
    for recorded, _ in corpus.recordings:
        for harness in corpus.harnesses:
            if harness.name == corpus.harness.name:
                continue
            if claimed := recognized(harness, recorded.lines):
                yield f"{recorded}: {harness.name} claims it as {claimed!r}"


RULES: tuple[ConformanceRule, ...] = (
    recordings_are_recognized,
    every_dialect_has_a_recording,
    no_other_program_is_claimed,
    no_other_harness_claims_ours,
)
