"""Drive a session: run a prompt, decide approvals with rules, send a follow-up.

This runs against the stand-in model and needs no API key. To use the real model, drop ``rehearsing``.
"""

import asyncio
import sys
from pathlib import Path

import dragoman
from rehearsing import workspace

POLICY = dragoman.Rules(
    [
        dragoman.rule("allow", command=["python3 -m unittest", "cat"]),
        dragoman.rule("allow", kind="edit", path="**/*.py"),
    ],
    default="deny",
)


async def main() -> None:
    with workspace() as (repo, env):
        async with dragoman.connect("codex", env=env, policy=POLICY) as codex:
            session = await codex.start(
                cwd=repo, sandbox="danger-full-access", approvals="untrusted"
            )
            async for message in session.run("Fix the failing test"):
                match message:
                    case dragoman.ToolCall(tool="Bash", input={"command": command}):
                        print("$", command)
                    case dragoman.ApprovalRequested(kind=kind, summary=summary):
                        print("may I?", kind, Path(summary).name)
                    case dragoman.ApprovalSettled(decision=decision):
                        print("decided:", decision)
                    case dragoman.TurnEnded(outcome=outcome):
                        print("turn:", outcome)
                    case _:
                        continue
            result = await session.run("Good, thank you.")
            print("answer:", result.text)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
