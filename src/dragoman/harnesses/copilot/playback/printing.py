"""What ``copilot -p PROMPT --output-format json`` prints, from messages of any dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from dragoman.harnesses.contract.playback import TimedLine, TimedMessage
from dragoman.harnesses.copilot.playback.events import EventWriter, made_up_id
from dragoman.harnesses.copilot.playback.recorded import run_in

_SERVER_ONLY: Final = frozenset(("assistant.usage", "session.idle", "permission.requested"))


def write_output(cues: Iterable[TimedMessage]) -> Iterator[TimedLine]:
    """The lines of a run. What was asked in the recording is not asked: no one could answer."""
    run = run_in(cues)
    writer = EventWriter(run.own)
    failed = False
    for number, turn in enumerate(run.turns, 1):
        waited = 0.0
        for event in writer.turn(turn, made_up_id(number << 16)):
            waited += event.after
            failed = failed or event.type == "session.error"
            if event.type not in _SERVER_ONLY:
                yield TimedLine(waited, msgspec.json.encode(writer.envelope(event)))
                waited = 0.0
    result = {
        "type": "result",
        "timestamp": "2027-01-15T08:00:00.000Z",
        "sessionId": run.session_id,
        "exitCode": 1 if failed else 0,
        "usage": {"premiumRequests": 0},
    }
    yield TimedLine(0.0, msgspec.json.encode(result))
