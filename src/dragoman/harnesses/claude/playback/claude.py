"""How Claude Code is played from a recording, as 2.1.327 speaks."""

from __future__ import annotations

from dragoman.harnesses.claude.playback.printing import write_print
from dragoman.harnesses.claude.playback.server import StreamJsonServer
from dragoman.harnesses.claude.playback.shapes import RELEASE
from dragoman.harnesses.contract.playback import Playback

CLAUDE_PLAYBACK = Playback(
    run=write_print, serve=StreamJsonServer, version_line=f"{RELEASE} (Claude Code)"
)
