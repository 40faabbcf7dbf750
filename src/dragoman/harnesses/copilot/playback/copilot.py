"""How Copilot is played from a recording."""

from __future__ import annotations

from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.playback import Playback
from dragoman.harnesses.copilot.playback.release import RELEASE


@on_use
def _run():
    from dragoman.harnesses.copilot.playback.printing import write_output

    return write_output


@on_use
def _serve():
    from dragoman.harnesses.copilot.playback.server import CopilotServer

    return CopilotServer


COPILOT_PLAYBACK = Playback(run=_run, serve=_serve, version_line=f"GitHub Copilot CLI {RELEASE}.")
