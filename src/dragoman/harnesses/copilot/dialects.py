"""The dialects of Copilot. Their parsers are imported when a stream or a file is in their dialect."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.reading import Dialect
from dragoman.harnesses.copilot import sniff


@on_use
def _server():
    from dragoman.harnesses.copilot.server import CopilotServerParser

    return CopilotServerParser


@on_use
def _output():
    from dragoman.harnesses.copilot.output import CopilotOutputParser

    return CopilotOutputParser


@on_use
def _events():
    from dragoman.harnesses.copilot.reading import CopilotEventsParser

    return CopilotEventsParser


@on_use
def values():
    from dragoman.harnesses.copilot.values import values

    return values


DIALECTS: Final = (
    Dialect(
        name=sniff.SERVER,
        summary="copilot --headless --stdio, JSON-RPC",
        releases="1.0 to today",
        make_parser=_server,
    ),
    Dialect(
        name=sniff.OUTPUT,
        summary="copilot -p --output-format json",
        releases="1.0 to today",
        make_parser=_output,
    ),
    Dialect(
        name=sniff.EVENTS,
        summary="session files (events.jsonl), sub-agents in the same file",
        releases="1.0 to today",
        make_parser=_events,
    ),
)
