"""How Qwen Code is played from a recording, as 0.24.4 speaks."""

from __future__ import annotations

from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.playback import Playback
from dragoman.harnesses.qwen.playback.release import RELEASE


@on_use
def _run():
    from dragoman.harnesses.qwen.playback.printing import write_print

    return write_print


@on_use
def _serve():
    from dragoman.harnesses.qwen.playback.server import QwenServer

    return QwenServer


QWEN_PLAYBACK = Playback(run=_run, serve=_serve, version_line=RELEASE)
