"""How Codex is played from a recording: its ``exec`` and its app-server, as 0.166 speaks them."""

from __future__ import annotations

from dragoman.harnesses.codex.playback.exec import write_exec
from dragoman.harnesses.codex.playback.server import Server
from dragoman.harnesses.codex.playback.shapes import RELEASE
from dragoman.harnesses.contract.playback import Acting

CODEX_ACTING = Acting(run=write_exec, serve=Server, stage_name=f"codex-cli {RELEASE}")
