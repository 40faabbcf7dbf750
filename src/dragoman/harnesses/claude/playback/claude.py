"""How Claude Code is played from a recording, as 2.1.327 speaks."""

from __future__ import annotations

from dragoman.harnesses.claude.playback.release import RELEASE
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.playback import Playback


@on_use
def _run():
    from dragoman.harnesses.claude.playback.printing import write_print

    return write_print


@on_use
def _serve():
    from dragoman.harnesses.claude.playback.server import ClaudeServer

    return ClaudeServer


CLAUDE_PLAYBACK = Playback(run=_run, serve=_serve, version_line=f"{RELEASE} (Claude Code)")
