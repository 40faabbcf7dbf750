"""Gemini CLI played from a recording, for a host that only listens."""

from __future__ import annotations

from pathlib import Path

import dragoman
from dragoman.harnesses.acp.parser import AcpParser
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.gemini.playback import play_alone
from dragoman.model.messages import SessionStarted, Text, ToolCall

_DATA = Path(__file__).parents[2] / "data" / "gemini" / "gemini-acp"


def test_what_is_played_is_what_was_recorded() -> None:
    recorded = list(dragoman.read(_DATA / "edits" / "wire.jsonl"))
    parser = AcpParser(harness="gemini")
    for _, line in play_alone([TimedMessage(0.0, each) for each in recorded]):
        parser.receive_line(line)
    parser.receive_eof()

    played = parser.messages()
    for kind in (SessionStarted, ToolCall, Text):
        made = [each for each in played if isinstance(each, kind)]
        assert len(made) == len([each for each in recorded if isinstance(each, kind)]) > 0
    assert [each.harness for each in played if isinstance(each, SessionStarted)] == ["gemini"]
