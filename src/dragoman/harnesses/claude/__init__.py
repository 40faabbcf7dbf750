"""Anthropic's Claude Code: its stream, and the session files it keeps.

What reads, drives, plays and repairs is imported when it is used (:mod:`~dragoman.harnesses.contract.lazy`).
"""

from __future__ import annotations

from dragoman.harnesses.claude import sniff
from dragoman.harnesses.claude.care import CLAUDE_CARE
from dragoman.harnesses.claude.dialects import DIALECTS, plain_transcript, values
from dragoman.harnesses.claude.driving.transports import (
    CLAUDE_PROGRAM,
    CLAUDE_TRANSPORTS,
    capabilities,
)
from dragoman.harnesses.claude.history import CLAUDE_HISTORY
from dragoman.harnesses.claude.limits import LIMITS
from dragoman.harnesses.claude.playback.claude import CLAUDE_PLAYBACK
from dragoman.harnesses.claude.writing import CLAUDE_WRITER
from dragoman.harnesses.contract.harness import Harness

CLAUDE = Harness(
    name="claude",
    title="Claude Code",
    sniff=sniff.sniff,
    settle=sniff.settle,
    capabilities=capabilities,
    program=CLAUDE_PROGRAM,
    transports=CLAUDE_TRANSPORTS,
    playback=CLAUDE_PLAYBACK,
    values=values,
    plain=plain_transcript,
    limits=LIMITS,
    history=CLAUDE_HISTORY,
    care=CLAUDE_CARE,
    dialects=DIALECTS,
    writer=CLAUDE_WRITER,
)
