"""A recording that is played over ACP reads as the same conversation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import dragoman
from dragoman.harnesses.acp.parser import AcpParser
from dragoman.harnesses.acp.playback.alone import play_alone
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model.messages import (
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
)

_DATA = Path(__file__).parents[3] / "data" / "acp" / "acp"
_SAME = (TurnStarted, Text, Thinking, ToolCall, ToolResult, TurnEnded)


def _essence(messages: Sequence[Message]) -> list[object]:
    """What is said and done, without ids, lines and what only a known agent says."""
    found: list[object] = []
    for each in messages:
        match each:
            case Text() | Thinking():
                found.append(each.text)
            case ToolCall():
                found.append((each.tool, each.input))
            case ToolResult():
                found.append((each.output, each.is_error, each.exit_code))
            case TurnEnded():
                found.append((each.outcome, each.usage))
            case TurnStarted():
                found.append("turn")
            case _:
                pass
    return found


@pytest.mark.parametrize("case", ["opencode-story", "qwen-story", "claude-story"])
def test_what_is_played_is_what_was_recorded(case: str) -> None:
    messages = list(dragoman.read(_DATA / case / "wire.jsonl"))
    # A prompt that fails before the agent says anything leaves no trace in what the agent alone says.
    failed = {each.turn_id for each in messages if isinstance(each, TurnEnded) and each.error}
    recorded = [
        each
        for each in messages
        if each.session_id == messages[0].session_id and each.turn_id not in failed
    ]
    parser = AcpParser()
    for _, line in play_alone([TimedMessage(0.0, each) for each in recorded]):
        parser.receive_line(line)
    parser.receive_eof()

    played = [each for each in parser.messages() if isinstance(each, _SAME)]
    assert _essence(played) == _essence([each for each in recorded if isinstance(each, _SAME)])
