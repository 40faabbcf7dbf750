"""What a dialect of Copilot cannot carry. A recording needs each row."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.reading import Limit
from dragoman.harnesses.copilot.sniff import OUTPUT

LIMITS: Final = (
    Limit(
        dialect=OUTPUT,
        aspect="usage",
        why="the output has no tokens; the session's file has them, one record for each response",
    ),
)
