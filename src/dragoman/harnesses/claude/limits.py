"""What a dialect of Claude Code cannot carry.

Everything else is the same in both dialects. Tests verify this over the recordings, with this table. A recording
needs each row.
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.claude.sniff import STREAM
from dragoman.harnesses.contract.reading import Limit

LIMITS: Final = (
    Limit(
        dialect=STREAM,
        aspect="prompts",
        why="a prompt is in the stream only if it was recorded in both directions, or is repeated "
        "(--replay-user-messages, --session-mirror)",
    ),
    Limit(
        dialect=STREAM,
        aspect="agent usage",
        why="the lines of a sub-agent have the counts of each response's beginning, not its final ones",
    ),
)
