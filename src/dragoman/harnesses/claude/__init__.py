"""Anthropic's Claude Code: its stream, and the session files it keeps."""

from __future__ import annotations

from collections.abc import Iterable

from dragoman.harnesses.claude import sniff
from dragoman.harnesses.claude.capabilities import capabilities
from dragoman.harnesses.claude.care import CLAUDE_CARE
from dragoman.harnesses.claude.driving.transports import CLAUDE_PROGRAM, CLAUDE_TRANSPORTS
from dragoman.harnesses.claude.history import CLAUDE_HISTORY
from dragoman.harnesses.claude.limits import LIMITS
from dragoman.harnesses.claude.playback.claude import CLAUDE_PLAYBACK
from dragoman.harnesses.claude.stream.parser import StreamJsonParser
from dragoman.harnesses.claude.transcript.parser import TranscriptParser
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Dialect, Value


def _values(line: bytes, rule: str) -> Iterable[Value]:
    # Only an audit needs them.
    from dragoman.harnesses.claude.audit.values import values

    return values(line, rule)


CLAUDE = Harness(
    name="claude",
    title="Claude Code",
    sniff=sniff.sniff,
    settle=sniff.settle,
    capabilities=capabilities,
    program=CLAUDE_PROGRAM,
    transports=CLAUDE_TRANSPORTS,
    playback=CLAUDE_PLAYBACK,
    values=_values,
    limits=LIMITS,
    history=CLAUDE_HISTORY,
    care=CLAUDE_CARE,
    dialects=(
        Dialect(
            name=sniff.STREAM,
            summary="claude -p --output-format stream-json",
            releases="2.1 to today",
            make_parser=StreamJsonParser,
        ),
        Dialect(
            name=sniff.TRANSCRIPT,
            summary="session files, a sub-agent's each in one of its own",
            releases="2.1 to today",
            make_parser=TranscriptParser,
        ),
    ),
)
