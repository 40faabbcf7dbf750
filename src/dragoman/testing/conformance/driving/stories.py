"""The story that the fake agent plays: two turns, the first of which asks before it runs a command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Prompt,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
)
from dragoman.model.usage import Usage

SESSION = "01a1e22f-0000-7000-8000-000000000001"
TURNS = ("01a1e22f-0000-7000-8000-00000000000a", "01a1e22f-0000-7000-8000-00000000000b")
CALL = "call_000001"
COMMAND = "touch made.txt"
FIRST, LAST, AGAIN = "I will make the file.", "The file is made.", "Nothing is left to do."
_SPENT = Usage(input_tokens=100, output_tokens=20)


def story(harness: str, version: str, *, asks: bool) -> list[Message]:
    """Return the messages of a session with two turns."""
    first, second = TURNS
    return [
        SessionStarted(session_id=SESSION, harness=harness, version=version, model="m", cwd="/w"),
        *_turn(first, "Make the file.", list(_work(first, asks=asks))),
        *_turn(second, "And now?", [_text(second, AGAIN)]),
    ]


def cues(messages: Sequence[Message], pause: float = 0.0) -> list[TimedMessage]:
    """Return the messages with a pause before each of them."""
    return [TimedMessage(pause, message) for message in messages]


def _turn(turn_id: str, prompt: str, steps: list[Message]) -> Iterator[Message]:
    yield TurnStarted(session_id=SESSION, turn_id=turn_id)
    yield Prompt(session_id=SESSION, turn_id=turn_id, text=prompt)
    yield from steps
    yield UsageReport(session_id=SESSION, turn_id=turn_id, last=_SPENT)
    yield TurnEnded(session_id=SESSION, turn_id=turn_id, outcome="completed", usage=_SPENT)


def _work(turn_id: str, *, asks: bool) -> Iterator[Message]:
    yield _text(turn_id, FIRST)
    yield ToolCall(
        session_id=SESSION,
        turn_id=turn_id,
        call_id=CALL,
        tool="Bash",
        native_tool="Bash",
        input={"command": COMMAND},
    )
    if asks:
        yield ApprovalRequested(
            session_id=SESSION,
            turn_id=turn_id,
            approval_id=CALL,
            kind="command",
            tool="Bash",
            summary=COMMAND,
            detail={"command": COMMAND, "cwd": "/w"},
            choices=["allow", "deny", "cancel"],
            command=COMMAND,
        )
        yield ApprovalSettled(
            session_id=SESSION, turn_id=turn_id, approval_id=CALL, decision="allow"
        )
    yield ToolResult(
        session_id=SESSION, turn_id=turn_id, call_id=CALL, output="made\n", exit_code=0
    )
    yield _text(turn_id, LAST)


def _text(turn_id: str, text: str) -> Text:
    return Text(session_id=SESSION, turn_id=turn_id, text=text)
