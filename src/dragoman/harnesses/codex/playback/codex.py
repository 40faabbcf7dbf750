"""How Codex is played from a recording: its ``exec`` and its app-server, like release 0.166."""

from __future__ import annotations

from dragoman.harnesses.codex.playback.release import RELEASE
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.playback import Playback


@on_use
def _run():
    from dragoman.harnesses.codex.playback.exec import write_exec

    return write_exec


@on_use
def _serve():
    from dragoman.harnesses.codex.playback.server import Server

    return Server


CODEX_PLAYBACK = Playback(run=_run, serve=_serve, version_line=f"codex-cli {RELEASE}")
