"""The conformance suite: what every harness must do, checked with its recordings.

In a test of your harness::

    import pytest
    from dragoman.testing.conformance import Check, checks

    @pytest.mark.parametrize("check", checks(HARNESS, "tests/recordings"), ids=str)
    def test_conformance(check: Check) -> None:
        check()

or, without pytest, ``conformance(HARNESS, "tests/recordings")``, which raises :class:`NotConforming` with everything
that it found. The recordings are files of lines, at any depth; see :mod:`dragoman.testing.conformance.corpus` for
names that pair a live stream with the session file that the same run left.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from dragoman.harnesses.contract.harness import Harness
from dragoman.testing.conformance import (
    accounting,
    disturbing,
    feeding,
    live_and_disk,
    once,
    sniffing,
)
from dragoman.testing.conformance.check import (
    Check,
    ConformanceRule,
    Finding,
    NotConforming,
    raise_for,
)
from dragoman.testing.conformance.corpus import Corpus
from dragoman.testing.conformance.driving import conversing, offering, running
from dragoman.testing.conformance.pairs import LEAVES

__all__ = ["Check", "Finding", "NotConforming", "checks", "conformance"]

Recordings: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

READING: tuple[ConformanceRule, ...] = (
    *sniffing.RULES,
    *accounting.RULES,
    *once.RULES,
    *feeding.RULES,
    *disturbing.RULES,
    *live_and_disk.RULES,
)

DRIVING: tuple[ConformanceRule, ...] = (*offering.RULES, *conversing.RULES, *running.RULES)


def checks(
    harness: Harness,
    recordings: Recordings,
    *,
    leaves: Mapping[str, str] = LEAVES,
    others: Recordings = (),
    mutations: int = 200,
) -> list[Check]:
    """Return the checks of a harness, each with a name. Nothing is read before a check is called.

    ``recordings`` is a folder, a file, or several of them. ``leaves`` says which kind of session file a run of each
    kind leaves. ``others`` are recordings of other programs, beyond those that come with the suite: the harness must
    not claim them. ``mutations`` is the number of damaged recordings that are tried.
    """
    corpus = Corpus(harness, recordings, leaves=leaves, others=others, mutations=mutations)
    return [
        Check(f"{part}: {rule.__name__.replace('_', ' ')}", rule, corpus)
        for part, rules in (("reading", READING), ("driving", DRIVING))
        for rule in rules
    ]


def conformance(
    harness: Harness,
    recordings: Recordings,
    *,
    leaves: Mapping[str, str] = LEAVES,
    others: Recordings = (),
    mutations: int = 200,
) -> None:
    """Run all checks. Raises :class:`NotConforming` with the findings of all of them."""
    made = checks(harness, recordings, leaves=leaves, others=others, mutations=mutations)
    raise_for([finding for check in made for finding in check.findings()])
