"""What a dialect of Qwen Code cannot carry.

Everything else is the same in both dialects. Tests verify this over the recordings, with this table. A recording
needs each row.
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.reading import Limit
from dragoman.harnesses.qwen.sniff import CHAT, STREAM

LIMITS: Final = (
    Limit(
        dialect=STREAM,
        aspect="prompts",
        why="a prompt is in the stream only if it was recorded in both directions",
    ),
    Limit(
        dialect=STREAM,
        aspect="reasoning tokens",
        why="the counts of a response do not say how many of its tokens were thoughts",
    ),
    Limit(
        dialect=STREAM,
        aspect="agent usage",
        why="the lines of a sub-agent have no counts",
    ),
    Limit(
        dialect=STREAM,
        aspect="agent steps",
        why="of a sub-agent the stream has only its calls and its answer, and of one in the background nothing",
    ),
    Limit(
        dialect=STREAM,
        aspect="shown outputs",
        why="of some results the stream has what people are shown, such as 'Read lines 1-1000 of 4000'",
    ),
    Limit(dialect=CHAT, aspect="long outputs", why="a long output is cut"),
    Limit(
        dialect=CHAT,
        aspect="command turns",
        why="a command of the program itself, such as /stats, is not written",
    ),
    Limit(
        dialect=CHAT,
        aspect="failures",
        why="a request that failed has a row, but not whether it was given up, and by whom; after a turn "
        "that failed the program writes nothing more",
    ),
    Limit(
        dialect=CHAT,
        aspect="lost texts",
        why="what the agent was saying when a request failed is not written",
    ),
)
