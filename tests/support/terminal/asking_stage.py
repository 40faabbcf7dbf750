"""A program that puts one question to the person at the terminal while an agent goes on working.

It is the view, the keyboard and the asker of ``dragoman run``, without an agent: every kind of question
can be asked, of any length. The decision is printed as JSON.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Final

import msgspec

from dragoman.cli.approvals.asker import Asker
from dragoman.cli.live.keys import keyboard_of
from dragoman.cli.live.live import view_for
from dragoman.cli.live.loop import live_screen, run_async
from dragoman.model.messages import (
    AlwaysAllow,
    ApprovalRequested,
    ApprovalSettled,
    Delta,
    Plan,
    PlanStep,
    Prompt,
    SessionStarted,
    Text,
    TurnStarted,
)

_S: Final[dict[str, Any]] = {"session_id": "s1", "turn_id": "t1"}
_USUAL: Final = ["allow", "allow_for_session", "allow_always", "deny", "cancel"]
_LINE: Final = (
    "rm -rf build && find . -name '*.pyc' -delete && echo 'clean 👨‍👩‍👧‍👦 ❤️ 👍🏽 漢字 now'"
)
_DIFF: Final = (
    "@@ -1,2 +1,2 @@\n def greet(name):\n-    return 1\n+    return " + "2 + " * 30 + "2\n"
)
FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "title": "Full name",
            "minLength": 2,
            "description": "As in your passport.",
        },
        "age": {"type": "integer", "minimum": 18},
        "colour": {"type": "string", "enum": ["red", "green"], "default": "green"},
        "news": {"type": "boolean"},
        "mail": {"type": "string", "format": "email"},
    },
    "required": ["name", "age", "news"],
}


def request(kind: str) -> ApprovalRequested:
    """A question of this kind."""
    asked: dict[str, Any] = {"approval_id": "a1", **_S, "choices": _USUAL}
    command: dict[str, Any] = {
        "kind": "command",
        "shell": "/tmp/evil/bash -lc",
        "cwd": "/ws/sub/folder",
    }
    rule = AlwaysAllow(prefix=["rm", "-rf"], stored_in="/home/u/.agent/rules/default.rules")
    match kind:
        case "command":
            return ApprovalRequested(
                **asked,
                **command,
                summary=_LINE,
                detail={"command": _LINE, "reason": "The folder is owned by another user."},
                always=rule,
            )
        case "long":
            lines = "\n".join(f"echo line {number}" for number in range(1, 400))
            script = f"cat <<FIRST\n{lines}\nrm -rf LAST"
            return ApprovalRequested(
                **asked, **command, summary=script, detail={"reason": "because " * 400}, always=rule
            )
        case "edit":
            change = {"path": "/ws/src/deep/folder/greet.py", "kind": "update", "diff": _DIFF}
            return ApprovalRequested(
                **asked, kind="edit", summary="update greet.py", detail={"changes": [change]}
            )
        case "permissions":
            wanted = {"network": {"enabled": True}, "fileSystem": {"write": ["/var/lib/something"]}}
            return ApprovalRequested(
                **asked, kind="permissions", summary="to install", detail={"permissions": wanted}
            )
        case "tool":
            return ApprovalRequested(
                **asked,
                kind="tool",
                tool="mcp__db__drop",
                summary='Allow the db MCP server to run tool "drop"?',
                detail={"server": "db", "arguments": {"table": "customers", "cascade": True}},
            )
        case "question":
            options = [
                {"label": "Blue", "description": "The colour of the sky on a clear day in summer."},
                {"label": "Red", "description": "The other one."},
            ]
            one = {
                "id": "colour",
                "question": "Which colour should the button have?",
                "options": options,
            }
            two = {"id": "why", "question": "And why that one?"}
            return ApprovalRequested(
                **_but(asked, choices=[]), kind="question", detail={"questions": [one, two]}
            )
        case "form":
            return ApprovalRequested(
                **_but(asked, choices=["allow", "deny", "cancel"]),
                kind="elicitation",
                summary="Please tell me who you are.",
                detail={"server": "shop"},
                form=FORM,
            )
        case "url":
            return ApprovalRequested(
                **_but(asked, choices=["allow", "deny", "cancel"]),
                kind="elicitation",
                summary="Please sign in to the shop.",
                detail={"server": "shop"},
                url="https://shop.example.com/authorize?client=" + "abc" * 12 + "&state=END",
            )
        case _:
            raise ValueError(kind)


def _but(asked: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {**asked, **other}


async def _ask(kind: str) -> int:
    view = view_for(sys.stdout)
    keyboard = keyboard_of()
    assert keyboard is not None
    clock = asyncio.get_running_loop().time
    asked = request(kind)
    with live_screen(view), keyboard.listening(marks=view.animate, lost=view.lose):
        view.show(SessionStarted(session_id="s1", harness="stage", cwd="/ws"))
        view.show(TurnStarted(**_S))
        view.show(Prompt(**_S, text="clean up"))
        steps = [PlanStep(f"step {number} of a plan", "pending") for number in range(12)]
        view.show(Plan(**_S, steps=steps))
        view.show(asked)
        async with asyncio.TaskGroup() as tasks:
            noise = tasks.create_task(_work(view))
            decision = await Asker(view, keyboard, clock)(asked)
            noise.cancel()
        settled = ApprovalSettled(**_S, approval_id="a1", decision=decision.word)
        view.show(settled)
        view.write_rows([f"decided: {msgspec.json.encode(decision).decode()}"])
    return 0


async def _work(view: Any) -> None:
    """A sub-agent that goes on talking, so that there is always something to paint."""
    view.show(TurnStarted(session_id="s2", turn_id="u1"))
    for number in range(10_000):
        name = f"m{number}"
        view.show(Delta(session_id="s2", of="text", message_id=name, text="I am still "))
        await asyncio.sleep(0.05)
        view.show(Text(session_id="s2", message_id=name, text=f"I am still here: {number} ❤️ 👍🏽"))


if __name__ == "__main__":
    sys.exit(run_async(lambda: _ask(sys.argv[1])))
