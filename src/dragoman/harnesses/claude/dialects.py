"""The dialects of Claude Code. Their parsers are imported when a stream or a file is in their dialect."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.claude import sniff
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.reading import Dialect


@on_use
def _stream():
    from dragoman.harnesses.claude.stream.parser import StreamJsonParser

    return StreamJsonParser


@on_use
def _transcript():
    from dragoman.harnesses.claude.transcript.parser import TranscriptParser

    return TranscriptParser


@on_use
def values():
    from dragoman.harnesses.claude.audit.values import values

    return values


DIALECTS: Final = (
    Dialect(
        name=sniff.STREAM,
        summary="claude -p --output-format stream-json",
        releases="2.1 to today",
        make_parser=_stream,
    ),
    Dialect(
        name=sniff.TRANSCRIPT,
        summary="session files, a sub-agent's each in one of its own",
        releases="2.1 to today",
        make_parser=_transcript,
    ),
)
