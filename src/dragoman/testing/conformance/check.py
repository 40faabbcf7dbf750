"""A check: a rule that every harness must follow, and the harness and recordings that it is applied to."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import msgspec

from dragoman.testing.conformance.corpus import Corpus

_MOST = 20
"""How many findings of one check are reported. A rule that is broken is often broken everywhere."""


class ConformanceRule(Protocol):
    """A function named after what must hold; its docstring says why. It yields what does not hold."""

    __name__: str

    def __call__(self, corpus: Corpus, /) -> Iterator[str]: ...


BUGS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    RuntimeError,
    TypeError,
    ValueError,
    msgspec.MsgspecError,
)
"""What a harness with a bug raises. Anything else, such as Ctrl-C or a full disk, ends the suite."""


def described(problem: BaseException) -> str:
    """Return an exception in one line, with the place that raised it."""
    where = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{type(problem).__name__}: {problem} ({where.filename}:{where.lineno})"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a check found."""

    check: str
    text: str

    def __str__(self) -> str:
        return f"{self.check}: {self.text}"


class NotConforming(AssertionError):
    """A harness breaks a rule."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__(findings)
        self.findings = list(findings)

    def __str__(self) -> str:
        return "\n".join(["", *map(str, self.findings)])


@dataclass(frozen=True, slots=True)
class Check:
    """One rule for one harness. Call it, or ask it for its findings."""

    name: str
    rule: Callable[[Corpus], Iterator[str]]
    corpus: Corpus

    def __str__(self) -> str:
        return self.name

    def findings(self) -> list[Finding]:
        """Return what the check found, at most twenty of it."""
        found: list[Finding] = []
        try:
            for text in islice(self.rule(self.corpus), _MOST):
                found.append(Finding(self.name, text))  # noqa: PERF401  kept if the rule then raises
        except BUGS as problem:
            found.append(Finding(self.name, described(problem)))
        return found

    def __call__(self) -> None:
        """Raise :class:`NotConforming` if the check finds anything."""
        raise_for(self.findings())


def raise_for(findings: Sequence[Finding]) -> None:
    """Raise :class:`NotConforming` if there are findings."""
    if findings:
        raise NotConforming(findings)
