"""Read a Codex session file and print the conversation.

python examples/read_a_session.py [ROLLOUT]
"""

import sys
from pathlib import Path

import dragoman

DEMO = Path(__file__).parent / "recordings" / "fix-the-test.rollout.jsonl"

for message in dragoman.read(sys.argv[1] if len(sys.argv) > 1 else DEMO):
    match message:
        case dragoman.Prompt(text=text):
            print("user: ", text)
        case dragoman.Text(text=text):
            print("agent:", text)
        case dragoman.ToolCall(tool=tool, input=given):
            print("tool: ", tool, given.get("command") or given.get("file_path") or "")
        case dragoman.ToolResult(exit_code=code) if code:
            print("       exit code", code)
        case dragoman.TurnEnded(outcome=outcome):
            print("turn: ", outcome)
        case _:
            pass
