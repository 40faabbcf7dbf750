"""How Codex is found, started and driven.

Programs that only read load this module, too, so it imports what drives when that is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dragoman.harnesses.codex.app_server.client.features import APP_SERVER
from dragoman.harnesses.codex.home.history import CODEX_HOME
from dragoman.harnesses.codex.home.remembered_rules import REMEMBERS
from dragoman.harnesses.codex.sniff import APP_SERVER as APP_SERVER_DIALECT
from dragoman.harnesses.codex.sniff import EXEC
from dragoman.harnesses.codex.versions import need, parse_version
from dragoman.harnesses.contract.conversation import Clock, Conversation, Release
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.program import Bundled, Program, Schema
from dragoman.harnesses.contract.sign_in import SignIn, SignInCheck
from dragoman.harnesses.contract.transport import (
    Launch,
    SessionTransport,
    Transport,
    TurnTransport,
)
from dragoman.model.intents import OpenSession


def launch_server(program: str, release: Release | None, opening: OpenSession | None) -> Launch:
    """``codex app-server``: one process for many sessions, one JSON object per line."""
    need(release, APP_SERVER)
    return Launch(argv=(program, "app-server"))


def make_conversation(release: Release | None, now: Clock | None = None) -> Conversation:
    from dragoman.harnesses.codex.app_server.client.conversation import AppServerConversation

    return AppServerConversation(release, now=now)


@on_use
def launch_turn():
    from dragoman.harnesses.codex.exec.launch import exec_launch

    return exec_launch


@on_use
def make_run():
    from dragoman.harnesses.codex.exec.run import ExecRun

    return ExecRun


@on_use
def capabilities():
    from dragoman.harnesses.codex.capabilities import capabilities

    return capabilities


def settings_file(env: Mapping[str, str]) -> str:
    """``config.toml`` in Codex's home."""
    return f"{CODEX_HOME.path(env)}/config.toml"


def sign_in_file(env: Mapping[str, str]) -> str:
    """``auth.json`` in Codex's home."""
    return f"{CODEX_HOME.path(env)}/auth.json"


@on_use
def is_trust_decided():
    from dragoman.harnesses.codex.home.trust import is_decided_in

    return is_decided_in


@on_use
def profile():
    from dragoman.harnesses.codex.home.profiles import profile_settings

    return profile_settings


@on_use
def check_profile():
    from dragoman.harnesses.codex.home.profiles import check_profile

    return check_profile


_SPEAKS: Final = (
    ("codex app-server, threads", (0, 57, 0), None),
    ("codex app-server, conversations", (0, 44, 0), (0, 107, 0)),
    ("codex exec --json", (0, 44, 0), None),
    ("codex exec --json, core events", (0, 0, 0), (0, 42, 0)),
    ("codex mcp-server", (0, 44, 0), (0, 153, 0)),
    ("codex proto", (0, 0, 0), (0, 42, 0)),
    ("session files, paginated", (0, 151, 0), None),
    ("session files, legacy", (0, 34, 0), (0, 150, 0)),
    ("session files, flat", (0, 0, 0), (0, 29, 0)),
)


def speaks(release: Release | None) -> list[str]:
    """The dialects of a release; without one, those of today's."""
    return [
        name
        for name, since, until in _SPEAKS
        if (until is None if release is None else since <= release <= (until or release))
    ]


@on_use
def find_drift():
    from dragoman.harnesses.codex.drift.comparing import drift

    return drift


_SCHEMA: Final = Schema(
    arguments=lambda folder: ("app-server", "generate-json-schema", "--out", folder),
    file="codex_app_server_protocol.schemas.json",
    drift=find_drift,
)


def sign_in(env: Mapping[str, str], contents: Sequence[bytes]) -> SignIn:
    from dragoman.harnesses.codex.home.sign_in import read_sign_in

    settings, auth = contents
    return read_sign_in(env, settings, auth)


CODEX_PROGRAM: Final = Program(
    command="codex",
    bundled=Bundled(package="codex_cli_bin", file="bin/codex"),
    parse_release=parse_version,
    install="pip install 'dragoman[codex]', or npm install -g @openai/codex",
    speaks=speaks,
    session_variable="CODEX_THREAD_ID",
    key_names=("CODEX_API_KEY", "OPENAI_API_KEY"),
    sign_in=SignInCheck(files=lambda env: (settings_file(env), sign_in_file(env)), read=sign_in),
    settings_file=settings_file,
    is_trust_decided=is_trust_decided,
    profile=profile,
    sandbox_trials=(("sandbox", "--"), ("sandbox", "linux", "--"), ("sandbox", "macos", "--")),
    schema=_SCHEMA,
    remembers=REMEMBERS,
)
CODEX_TRANSPORTS: Final[tuple[Transport, ...]] = (
    SessionTransport(
        name="app-server",
        dialect=APP_SERVER_DIALECT,
        launch=launch_server,
        conversation=make_conversation,
        sessions="many",
        has_address=True,
    ),
    TurnTransport(
        name="exec",
        dialect=EXEC,
        launch=launch_turn,
        make_run=make_run,
        check_profile=check_profile,
    ),
)
