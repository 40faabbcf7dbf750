"""The dialects of opencode. Their parsers are imported when a stream or a file is in their dialect."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.reading import Dialect
from dragoman.harnesses.opencode import sniff


@on_use
def _server():
    from dragoman.harnesses.opencode.reading.server import OpencodeServerParser

    return OpencodeServerParser


@on_use
def _output():
    from dragoman.harnesses.opencode.reading.output import OpencodeOutputParser

    return OpencodeOutputParser


@on_use
def _store():
    from dragoman.harnesses.opencode.reading.store import StoreParser

    return StoreParser


@on_use
def values():
    from dragoman.harnesses.opencode.values import values

    return values


DIALECTS: Final = (
    Dialect(
        name=sniff.SERVER,
        summary="opencode serve: requests, responses and events",
        releases="1.18 to today",
        make_parser=_server,
    ),
    Dialect(
        name=sniff.OUTPUT,
        summary="opencode run --format json",
        releases="1.18 to today",
        make_parser=_output,
    ),
    Dialect(
        name=sniff.STORE,
        summary="sessions in opencode.db, row by row",
        releases="1.18 to today",
        make_parser=_store,
    ),
)
