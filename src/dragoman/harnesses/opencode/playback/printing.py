"""What ``opencode run PROMPT --format json`` prints, from messages of any dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from dragoman.harnesses.contract.playback import TimedLine, TimedMessage
from dragoman.harnesses.opencode.playback.events import OpencodeEventWriter, ServerEvent
from dragoman.harnesses.opencode.playback.recorded import turns_in

_KINDS: Final = {"text": "text", "reasoning": "reasoning", "step-finish": "step_finish"}


def print_run(cues: Iterable[TimedMessage]) -> Iterator[TimedLine]:
    """The lines of a run. What was asked in the recording is not asked: no one could answer."""
    run = turns_in(cues)
    session_id = run.own or "ses_recorded"
    writer = OpencodeEventWriter(run.own, session_id, run.agents)
    for turn in run.turns:
        waited = 0.0
        for event in writer.turn(turn, None):
            waited += event.after
            if (line := _line(event, session_id, writer.now())) is not None:
                yield TimedLine(waited, msgspec.json.encode(line))
                waited = 0.0


def _line(event: ServerEvent, session_id: str, now: int) -> dict[str, Any] | None:
    """The line for an event; None for one that is not printed."""
    given = event.properties
    if given.get("sessionID") != session_id:
        return None
    if event.type == "session.error":
        return {"type": "error", "timestamp": now, "sessionID": session_id, "error": given["error"]}
    info = given.get("info", {})
    if event.type == "message.updated" and info.get("finish") == "stop":
        own = {"id": f"prt_{now:026x}", "messageID": info["id"], "sessionID": session_id}
        part = {"type": "step-finish", "reason": "stop", **own}
        return {"type": "step_finish", "timestamp": now, "sessionID": session_id, "part": part}
    part = given.get("part")
    if event.type != "message.part.updated" or part is None:
        return None
    kind = _KINDS.get(part["type"])
    if part["type"] == "tool" and part["state"]["status"] in ("completed", "error"):
        kind = "tool_use"
    is_whole = part["type"] not in ("text", "reasoning") or "end" in part.get("time", {})
    if kind is None or not is_whole:
        return None
    return {"type": kind, "timestamp": now, "sessionID": session_id, "part": part}
