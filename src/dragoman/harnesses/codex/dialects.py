"""The dialects of Codex. Their parsers are imported when a stream or a file is in their dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dragoman.harnesses.codex import sniff
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.reading import Dialect

if TYPE_CHECKING:
    from dragoman.harnesses.codex.rollout.usage_fast_path import PlainRollout

_START: Final = b'{"timestamp":"'
_HEADER: Final = b'"type":"session_meta",'


@on_use
def _exec():
    from dragoman.harnesses.codex.exec.parser import ExecParser

    return ExecParser


@on_use
def _events():
    from dragoman.harnesses.codex.events.parser import EventsParser

    return EventsParser


@on_use
def _app_server():
    from dragoman.harnesses.codex.app_server.parser import AppServerParser

    return AppServerParser


@on_use
def _rollout():
    from dragoman.harnesses.codex.rollout.parser import RolloutParser

    return RolloutParser


@on_use
def _marking_rollout():
    from dragoman.harnesses.codex.rollout.marks import MarkingRolloutParser

    return MarkingRolloutParser


@on_use
def _resume():
    from dragoman.harnesses.codex.rollout.marks import resume

    return resume


@on_use
def _responses():
    from dragoman.harnesses.codex.responses.parser import ResponsesParser

    return ResponsesParser


@on_use
def values():
    from dragoman.harnesses.codex.audit.values import values

    return values


def plain_rollout(head: bytes) -> PlainRollout | None:
    """A quick reader for the file that begins with these bytes, if it looks like a plain rollout."""
    if not head.startswith(_START) or head.find(_HEADER, 30, 90) < 0:
        return None
    from dragoman.harnesses.codex.rollout.usage_fast_path import PlainRollout

    return PlainRollout()


DIALECTS: Final = (
    Dialect(
        name=sniff.EXEC,
        summary="codex exec --json",
        releases="0.44.0 to today",
        make_parser=_exec,
    ),
    Dialect(
        name=sniff.EXEC_EXPERIMENTAL,
        summary="codex exec --experimental-json",
        releases="0.42.0",
        make_parser=_exec,
    ),
    Dialect(
        name=sniff.EXEC_OLD,
        summary="codex exec --json, core events",
        releases="up to 0.42.0",
        make_parser=_events,
    ),
    Dialect(
        name=sniff.PROTO,
        summary="codex proto",
        releases="up to 0.42.0",
        make_parser=_events,
    ),
    Dialect(
        name=sniff.MCP_SERVER,
        summary="codex mcp-server, MCP with codex/event notifications",
        releases="up to 0.153.0",
        make_parser=_app_server,
    ),
    Dialect(
        name=sniff.APP_SERVER_V1,
        summary="codex app-server, conversations",
        releases="0.22.0 to 0.107.0",
        make_parser=_app_server,
    ),
    Dialect(
        name=sniff.APP_SERVER,
        summary="codex app-server, threads",
        releases="0.57.0 to today",
        make_parser=_app_server,
    ),
    Dialect(
        name=sniff.ROLLOUT,
        summary="session files, legacy and paginated",
        releases="0.34.0 to today",
        make_parser=_rollout,
        mark=_marking_rollout,
        resume=_resume,
    ),
    Dialect(
        name=sniff.ROLLOUT_FLAT,
        summary="session files, flat",
        releases="up to 0.29.0",
        make_parser=_rollout,
        mark=_marking_rollout,
        resume=_resume,
    ),
    Dialect(
        name=sniff.RESPONSES,
        summary="Responses API events, as JSON lines or server-sent events",
        releases="any",
        make_parser=_responses,
    ),
)
