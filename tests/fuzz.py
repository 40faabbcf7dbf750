"""Looks for input that breaks a rule: ``python tests/fuzz.py --minutes 10 [--seed N]``.

Bundled recordings are damaged at random and read, converted and audited (see
``support/mutations.py`` and ``support/rules.py``). Each way in which that fails is printed once, with the smallest
input that still fails. Exit code 1 if there was any.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random, SystemRandom
from typing import Any, TypeAlias

from dragoman.testing.mutations import places
from support.mutations import DIALECTS, mutated, recordings
from support.rules import assert_rules_hold

Key: TypeAlias = tuple[str, str]
_PATIENCE = 3000
"""How many smaller inputs are tried for one failure."""


@dataclass(frozen=True)
class Case:
    """One stream to try, and how."""

    lines: tuple[bytes, ...]
    dialect: str | None
    size: int

    @classmethod
    def random(cls, random: Random) -> Case:
        home = random.choice(DIALECTS)
        _, lines = random.choice(recordings()[home])
        return cls(
            lines=tuple(mutated(random, lines)),
            dialect=random.choice((home, home, None, random.choice(DIALECTS))),
            size=random.choice((13, 200, 4096)),
        )

    def with_lines(self, lines: tuple[bytes, ...]) -> Case:
        return Case(lines, self.dialect, self.size)

    @cached_property
    def failure(self) -> tuple[Key, str] | None:
        """What went wrong, if anything did: a name for it, and the end of its traceback."""
        data = b"".join(line + b"\n" for line in self.lines)
        try:
            assert_rules_hold(data, self.dialect, size=self.size)
        except Exception as problem:
            last = traceback.extract_tb(problem.__traceback__)[-1]
            where = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
            said = str(problem) if isinstance(problem, AssertionError) else where
            return (type(problem).__name__, said), "".join(traceback.format_exception(problem)[-4:])
        return None


def smaller(case: Case, key: Key) -> Case:
    """The smallest case that can be found that fails in the same way."""
    tries = 0
    while True:
        for candidate in _candidates(case):
            tries += 1
            if tries > _PATIENCE:
                return case
            if candidate.failure is not None and candidate.failure[0] == key:
                case = candidate
                break
        else:
            return case


def _candidates(case: Case) -> Iterator[Case]:
    """Cases with fewer lines, then with less in a line: the boldest first."""
    lines, step = case.lines, len(case.lines) // 2
    while step:
        for at in range(0, len(lines), step):
            yield case.with_lines(lines[:at] + lines[at + step :])
        step //= 2
    for at, line in enumerate(lines):
        for less in _less(line):
            yield case.with_lines((*lines[:at], less, *lines[at + 1 :]))


def _less(line: bytes) -> Iterator[bytes]:
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        step = len(line) // 2
        while step:
            yield from (line[:at] + line[at + step :] for at in range(0, len(line), step))
            step //= 2
        return
    for number in range(sum(1 for _ in places(value))):
        copy: Any = json.loads(line)
        holder, key = list(places(copy))[number]
        del holder[key]
        yield json.dumps(copy, separators=(",", ":")).encode()


def main() -> int:
    arguments = argparse.ArgumentParser(description="Look for input that breaks a rule.")
    arguments.add_argument("--minutes", type=float, default=10)
    arguments.add_argument("--seed", type=int, default=SystemRandom().getrandbits(32))
    given = arguments.parse_args()
    random, found, tried = Random(given.seed), Counter[Key](), 0
    say(f"seed {given.seed}, {given.minutes:g} minutes")
    end = time.monotonic() + given.minutes * 60
    while time.monotonic() < end:
        tried += 1
        case = Case.random(random)
        if case.failure is None:
            continue
        key, _ = case.failure
        found[key] += 1
        if found[key] == 1:
            report(smaller(case, key))
    say(f"{tried} streams tried, {found.total()} failed, in {len(found)} ways")
    for (kind, what), count in found.most_common():
        say(f"  {count:>6} {kind}: {what}")
    return 1 if found else 0


def report(case: Case) -> None:
    assert case.failure is not None
    _, told = case.failure
    say(f"\nfailed: dialect={case.dialect} size={case.size}")
    for line in case.lines:
        say(f"  {line if len(line) < 600 else line[:300] + b' ... ' + line[-100:]!r}")
    say(told)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
