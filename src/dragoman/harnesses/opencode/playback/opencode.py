"""How opencode is played from a recording."""

from __future__ import annotations

from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.playback import HttpPlayback, Playback
from dragoman.harnesses.opencode.playback.release import RELEASE


@on_use
def _run():
    from dragoman.harnesses.opencode.playback.printing import print_run

    return print_run


@on_use
def _serve():
    from dragoman.harnesses.opencode.playback.server import OpencodeServer

    return OpencodeServer


def _listening(address: str) -> str:
    return f"opencode server listening on {address}"


OPENCODE_PLAYBACK = Playback(
    run=_run,
    serve=_serve,
    http=HttpPlayback(
        listening=_listening, streams=("/event",), password="OPENCODE_SERVER_PASSWORD"
    ),
    version_line=RELEASE,
)
