"""The dialects of Claude Code. Their parsers are imported when a stream or a file is in their dialect."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.claude import sniff
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.reading import Dialect, PlainReader


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


_STARTS: Final = (b'{"parentUuid":null,"isSidechain":false,', b'{"type":"queue-operation",')
"""How files begin that may be plain; those of sub-agents never are."""


def plain_transcript(head: bytes) -> PlainReader | None:
    """A quick reader for the file that begins with these bytes, if it looks like a plain transcript."""
    if not head.startswith(_STARTS) or b'"sessionId":"' not in head or b'"userType":"' not in head:
        return None
    from dragoman.harnesses.claude.transcript.usage_fast_path import PlainTranscript

    return PlainTranscript()


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
