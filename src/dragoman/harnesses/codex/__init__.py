"""OpenAI's Codex CLI: everything it has ever said, in ten dialects."""

from __future__ import annotations

from collections.abc import Iterable

from dragoman.harnesses.codex import sniff
from dragoman.harnesses.codex.app_server.parser import AppServerParser
from dragoman.harnesses.codex.capabilities import capabilities
from dragoman.harnesses.codex.care import CODEX_CARE
from dragoman.harnesses.codex.events.parser import EventsParser
from dragoman.harnesses.codex.exec.parser import ExecParser
from dragoman.harnesses.codex.home.history import CODEX_HISTORY
from dragoman.harnesses.codex.limits import LIMITS
from dragoman.harnesses.codex.playback.codex import CODEX_PLAYBACK
from dragoman.harnesses.codex.responses.parser import ResponsesParser
from dragoman.harnesses.codex.rollout.marks import MarkingRolloutParser, resume
from dragoman.harnesses.codex.rollout.parser import RolloutParser
from dragoman.harnesses.codex.rollout.usage_fast_path import plain_rollout
from dragoman.harnesses.codex.transports import CODEX_PROGRAM, CODEX_TRANSPORTS
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Dialect, Value


def _values(line: bytes, rule: str) -> Iterable[Value]:
    # Only an audit needs them.
    from dragoman.harnesses.codex.audit.values import values

    return values(line, rule)


CODEX = Harness(
    name="codex",
    title="Codex CLI",
    sniff=sniff.sniff,
    settle=sniff.settle,
    values=_values,
    plain=plain_rollout,
    limits=LIMITS,
    capabilities=capabilities,
    program=CODEX_PROGRAM,
    transports=CODEX_TRANSPORTS,
    playback=CODEX_PLAYBACK,
    care=CODEX_CARE,
    history=CODEX_HISTORY,
    dialects=(
        Dialect(
            name=sniff.EXEC,
            summary="codex exec --json",
            releases="0.44.0 to today",
            make_parser=ExecParser,
        ),
        Dialect(
            name=sniff.EXEC_EXPERIMENTAL,
            summary="codex exec --experimental-json",
            releases="0.42.0",
            make_parser=ExecParser,
        ),
        Dialect(
            name=sniff.EXEC_OLD,
            summary="codex exec --json, core events",
            releases="up to 0.42.0",
            make_parser=EventsParser,
        ),
        Dialect(
            name=sniff.PROTO,
            summary="codex proto",
            releases="up to 0.42.0",
            make_parser=EventsParser,
        ),
        Dialect(
            name=sniff.MCP_SERVER,
            summary="codex mcp-server, MCP with codex/event notifications",
            releases="up to 0.153.0",
            make_parser=AppServerParser,
        ),
        Dialect(
            name=sniff.APP_SERVER_V1,
            summary="codex app-server, conversations",
            releases="0.22.0 to 0.107.0",
            make_parser=AppServerParser,
        ),
        Dialect(
            name=sniff.APP_SERVER,
            summary="codex app-server, threads",
            releases="0.57.0 to today",
            make_parser=AppServerParser,
        ),
        Dialect(
            name=sniff.ROLLOUT,
            summary="session files, legacy and paginated",
            releases="0.34.0 to today",
            make_parser=RolloutParser,
            mark=MarkingRolloutParser,
            resume=resume,
        ),
        Dialect(
            name=sniff.ROLLOUT_FLAT,
            summary="session files, flat",
            releases="up to 0.29.0",
            make_parser=RolloutParser,
            mark=MarkingRolloutParser,
            resume=resume,
        ),
        Dialect(
            name=sniff.RESPONSES,
            summary="Responses API events, as JSON lines or server-sent events",
            releases="any",
            make_parser=ResponsesParser,
        ),
    ),
)
