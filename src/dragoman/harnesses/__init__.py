"""The workshop: one folder for each agent program, and the one place that names them all."""

from __future__ import annotations

from dragoman.harnesses.claude import CLAUDE
from dragoman.harnesses.codex import CODEX
from dragoman.harnesses.contract.reading import Dialect, Harness
from dragoman.harnesses.messages import MESSAGES

HARNESSES: tuple[Harness, ...] = (CODEX, CLAUDE, MESSAGES)


def dialects() -> list[Dialect]:
    """Every dialect of every harness."""
    return [dialect for harness in HARNESSES for dialect in harness.dialects]


def find_dialect(name: str) -> Dialect | None:
    return next((dialect for dialect in dialects() if dialect.name == name), None)
