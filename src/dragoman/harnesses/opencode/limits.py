"""What a dialect of opencode cannot carry. A recording needs each row."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.reading import Limit
from dragoman.harnesses.opencode.sniff import OUTPUT

LIMITS: Final = (
    Limit(
        dialect=OUTPUT,
        aspect="prompts",
        why="the prompt is not in the output",
    ),
)
