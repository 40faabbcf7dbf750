"""What ``qwen -o stream-json PROMPT`` prints, from messages of any dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from dragoman.harnesses.contract.playback import TimedLine, TimedMessage
from dragoman.harnesses.qwen.playback.turns import QwenTurnWriter
from dragoman.harnesses.stream_json.playback.recorded import recorded


def write_print(cues: Iterable[TimedMessage]) -> Iterator[TimedLine]:
    """The lines of a run. What was asked in the recording is not asked: no one could answer."""
    script = recorded(list(cues))
    writer = QwenTurnWriter(script.started, script.own, script.session_id)
    if not script.turns:
        yield TimedLine(0.0, msgspec.json.encode(writer.init()))
    for turn in script.turns:
        for step in writer.write(turn):
            if not step.asks:
                yield TimedLine(step.after, msgspec.json.encode(step.line))
