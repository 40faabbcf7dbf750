"""How Codex is played from a recording: its ``exec`` and its app-server, as 0.166 speaks them."""

from __future__ import annotations

from dragoman.harnesses.codex.playback.exec import write_exec
from dragoman.harnesses.codex.playback.server import Server
from dragoman.harnesses.codex.playback.shapes import RELEASE
from dragoman.harnesses.contract.playback import Playback

CODEX_PLAYBACK = Playback(run=write_exec, serve=Server, version_line=f"codex-cli {RELEASE}")
