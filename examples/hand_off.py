"""Hand a recorded session off to Claude Code, and print what the new session has and what it lacks."""

import sys
import tempfile
from pathlib import Path

import dragoman

recording = Path(__file__).parent / "recordings" / "fix-the-test.rollout.jsonl"

with (
    tempfile.TemporaryDirectory() as home,
    dragoman.archive(paths=[recording], cache=Path(home, "cache")) as archive,
):
    done = archive.hand_off(archive.last(), to="claude", cwd=home, home=home)
    sys.stdout.write(f"{done.turns} turns, {done.tool_calls} tool calls\n")
    for loss in done.losses:
        sys.stdout.write(f"{loss.count} {loss.kind}: {loss.sentence}\n")
    written = list(dragoman.read(done.path))

prompts = [message.text for message in written if isinstance(message, dragoman.Prompt)]
sys.stdout.write(f"begins with: {prompts[0]}\n")
