"""What a dialect of Gemini CLI cannot carry.

Everything else is the same in both dialects. Tests verify this over the recordings, with this table. A recording
needs each row.
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.reading import Limit
from dragoman.harnesses.gemini.sniff import CHAT, STREAM

LIMITS: Final = (
    Limit(dialect=STREAM, aspect="thinking", why="the stream leaves out what the model thinks"),
    Limit(
        dialect=STREAM,
        aspect="shown outputs",
        why="the stream has what people are shown of a result, such as 'Found 1 match', or nothing",
    ),
    Limit(
        dialect=STREAM,
        aspect="command errors",
        why="a command that fails is reported as a success, without its exit code",
    ),
    Limit(
        dialect=STREAM,
        aspect="usage",
        why="the stream counts the whole run, also sub-agents and requests that were made again",
    ),
    Limit(
        dialect=CHAT,
        aspect="failures",
        why="a turn that failed is taken back like one that was cancelled, without a word about why",
    ),
)
