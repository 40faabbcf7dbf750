"""Playing Gemini CLI from a recording: what it says over ACP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from dragoman.harnesses.acp.playback.alone import play_as
from dragoman.harnesses.acp.playback.server import AcpServer
from dragoman.harnesses.contract.playback import Performance, TimedLine, TimedMessage

_MODES: Final = (
    ("default", "Default"),
    ("autoEdit", "Auto Edit"),
    ("yolo", "YOLO"),
    ("plan", "Plan"),
)
_server: Final = partial(AcpServer, agent="gemini-cli", modes=_MODES)


def serve(cues: Sequence[TimedMessage]) -> Performance:
    """A server whose turns are those of a recording."""
    return _server(cues)


def play_alone(cues: Iterable[TimedMessage]) -> Iterator[TimedLine]:
    """Yield what it says to a host that only listens."""
    return play_as(_server, cues)
