"""The dialects of Gemini CLI. Their parsers are imported when a stream or a file is in their dialect."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.reading import Dialect
from dragoman.harnesses.gemini import sniff


@on_use
def _stream():
    from dragoman.harnesses.gemini.stream.parser import GeminiStreamParser

    return GeminiStreamParser


@on_use
def _acp():
    from functools import partial

    from dragoman.harnesses.acp.parser import AcpParser
    from dragoman.harnesses.gemini.chat.following import GeminiFileReader

    return partial(AcpParser, harness="gemini", files=GeminiFileReader)


@on_use
def _chat():
    from dragoman.harnesses.gemini.chat.parser import GeminiChatParser

    return GeminiChatParser


@on_use
def values():
    from dragoman.harnesses.gemini.audit.values import values

    return values


DIALECTS: Final = (
    Dialect(
        name=sniff.ACP,
        summary="gemini --acp, in both directions or what the agent says",
        releases="0.61 to today",
        make_parser=_acp,
    ),
    Dialect(
        name=sniff.STREAM,
        summary="gemini -p PROMPT -o stream-json",
        releases="0.61 to today",
        make_parser=_stream,
    ),
    Dialect(
        name=sniff.CHAT,
        summary="chat files, a sub-agent's each in one of its own",
        releases="0.61 to today",
        make_parser=_chat,
    ),
)
