"""How Codex is played from a recording: its ``exec`` and its app-server, as 0.166 speaks them."""

from __future__ import annotations

from dragoman.harnesses.acting import Acting
from dragoman.harnesses.codex.acting_exec import write_exec
from dragoman.harnesses.codex.acting_server import Server
from dragoman.harnesses.codex.acting_words import RELEASE

CODEX_ACTING = Acting(run=write_exec, serve=Server, stage_name=f"codex-cli {RELEASE}")
