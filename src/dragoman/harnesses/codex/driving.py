"""How Codex is started and talked to."""

from __future__ import annotations

from dragoman.harnesses.codex.app_server_conversation import AppServerConversation
from dragoman.harnesses.codex.app_server_features import APP_SERVER
from dragoman.harnesses.codex.exec_launch import exec_launch
from dragoman.harnesses.codex.exec_run import ExecRun
from dragoman.harnesses.codex.sniff import EXEC
from dragoman.harnesses.codex.versions import need, parse_version
from dragoman.harnesses.driving import Clock, Conversation, Driving, Launch, Release


def serve(program: str, release: Release | None) -> Launch:
    """``codex app-server``: one process for many sessions, one JSON object a line."""
    need(release, APP_SERVER)
    return Launch(argv=(program, "app-server"))


def make_conversation(release: Release | None, now: Clock | None = None) -> Conversation:
    return AppServerConversation(release, now=now)


CODEX_DRIVING = Driving(
    command="codex",
    bundled=("codex_cli_bin", "bundled_codex_path"),
    parse_release=parse_version,
    serve=serve,
    make_conversation=make_conversation,
    run_once=exec_launch,
    make_run=ExecRun,
    one_shot_dialect=EXEC,
    key_names=("CODEX_API_KEY", "OPENAI_API_KEY"),
)
