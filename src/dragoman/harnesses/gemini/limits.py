"""What a dialect of Gemini CLI cannot carry.

Everything else is the same in both dialects. Tests verify this over the recordings, with this table. A recording
needs each row.
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.reading import Limit
from dragoman.harnesses.gemini.sniff import ACP, CHAT, STREAM

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
        dialect=ACP,
        aspect="shown inputs",
        why="a call has a title and no input; Dragoman takes the input from the chat file while it drives Gemini",
    ),
    Limit(
        dialect=ACP,
        aspect="command outputs",
        why="what a command prints is left out; from the chat file, too",
    ),
    Limit(
        dialect=ACP,
        aspect="command errors",
        why="a command that fails is reported as completed, without its exit code; from the chat file, too",
    ),
    Limit(
        dialect=ACP,
        aspect="shown outputs",
        why="a result has what people are shown of it, or nothing; from the chat file, too",
    ),
    Limit(dialect=ACP, aspect="plans", why="a plan has no steps; from the chat file, too"),
    Limit(
        dialect=ACP,
        aspect="usage",
        why="tokens are counted without thoughts and without what came from the cache; from the chat file, too",
    ),
    Limit(
        dialect=CHAT,
        aspect="refused calls",
        why="a call that was denied over ACP is not written down",
    ),
    Limit(
        dialect=CHAT,
        aspect="failures",
        why="a turn that failed is taken back like one that was cancelled, without a word about why",
    ),
)
