"""The dialects of Qwen Code. Their parsers are imported when a stream or a file is in their dialect."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.reading import Dialect
from dragoman.harnesses.qwen import sniff


@on_use
def _stream():
    from dragoman.harnesses.qwen.stream.parser import QwenStreamParser

    return QwenStreamParser


@on_use
def _chat():
    from dragoman.harnesses.qwen.chat.parser import QwenChatParser

    return QwenChatParser


@on_use
def values():
    from dragoman.harnesses.qwen.audit.values import values

    return values


DIALECTS: Final = (
    Dialect(
        name=sniff.STREAM,
        summary="qwen -o stream-json",
        releases="0.24 to today",
        make_parser=_stream,
    ),
    Dialect(
        name=sniff.CHAT,
        summary="chat files, a sub-agent's each in one of its own",
        releases="0.24 to today",
        make_parser=_chat,
    ),
)
