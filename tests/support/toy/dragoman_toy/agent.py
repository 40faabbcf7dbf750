"""The toy agent: JSON lines in and out, one session. Run as ``toy-agent --serve``.

A prompt is answered with its own words. ``run X`` asks for approval first, ``wait`` works until it is
stopped, ``crash`` ends the process, and after ``later`` it starts a turn by itself. A session is a file in
``TOY_HOME``, so that it can be resumed.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

HOME = Path(os.environ.get("TOY_HOME") or Path.home() / ".toy")


def say(**words: Any) -> None:
    sys.stdout.write(json.dumps(words, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def hear() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def turn(session: str, turn_id: str, text: str) -> None:
    say(**{"is": "turn", "session": session, "turn": turn_id, "prompt": text})
    outcome, answer = "completed", f"You said: {text}"
    if text == "crash":
        sys.exit(3)
    if text == "wait":
        while hear().get("do") != "stop":
            pass
        outcome, answer = "interrupted", "Stopped."
    if text.startswith("run "):
        say(
            **{
                "is": "approve",
                "session": session,
                "turn": turn_id,
                "id": f"a{turn_id}",
                "command": text[4:],
            }
        )
        while (told := hear()).get("do") not in ("decide", "stop"):
            pass
        is_allowed = bool(told.get("yes"))
        say(
            **{
                "is": "decided",
                "session": session,
                "turn": turn_id,
                "id": f"a{turn_id}",
                "yes": is_allowed,
            }
        )
        answer = f"Ran {text[4:]}." if is_allowed else f"Did not run {text[4:]}."
        outcome = "interrupted" if told["do"] == "stop" else outcome
    say(**{"is": "text", "session": session, "turn": turn_id, "text": answer})
    say(**{"is": "end", "session": session, "turn": turn_id, "outcome": outcome})


def report(session: str, turn_id: str) -> None:
    """A turn without a prompt, after a while."""
    say(**{"is": "turn", "session": session, "turn": turn_id, "own": True})
    say(**{"is": "text", "session": session, "turn": turn_id, "text": "It is later."})
    say(**{"is": "end", "session": session, "turn": turn_id, "outcome": "completed"})


def main() -> None:
    if "--version" in sys.argv:
        sys.stdout.write("toy-agent 1.2.3\n")
        return
    session, turns = "", 0
    while True:
        told = hear()
        if told["do"] == "hello":
            say(**{"is": "hello", "version": "1.2.3", "models": ["small", "large"]})
        elif told["do"] == "open":
            session, file = told["session"], HOME / told["session"]
            if told["resume"] and not file.exists():
                say(**{"is": "refused", "why": f"there is no session {session}"})
                continue
            HOME.mkdir(parents=True, exist_ok=True)
            turns = int(file.read_text()) if told["resume"] else 0
            say(**{"is": "open", "session": session, "access": told["access"], "cwd": os.getcwd()})
        elif told["do"] == "ask":
            turns += 1
            (HOME / session).write_text(str(turns))
            turn(session, str(turns), told["text"])
            if told["text"] == "later":
                report(session, f"{turns}-later")


if __name__ == "__main__":
    main()
