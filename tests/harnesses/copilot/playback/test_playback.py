"""Copilot played from a recording: what it prints, and what its server says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dragoman
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.copilot import COPILOT
from dragoman.harnesses.copilot.output import CopilotOutputParser
from dragoman.harnesses.copilot.playback.printing import write_output
from dragoman.harnesses.copilot.playback.recorded import run_in
from dragoman.harnesses.copilot.playback.server import CopilotServer
from dragoman.model.messages import Message, Text, ToolCall, ToolResult, TurnEnded

_DATA = Path(__file__).parents[3] / "data" / "copilot" / "1.0.102"


def _essence(messages: list[Message]) -> list[object]:
    found: list[object] = []
    for each in messages:
        match each:
            case Text():
                found.append(each.text)
            case ToolCall():
                found.append((each.tool, each.input))
            case ToolResult():
                found.append((each.output, each.is_error, each.exit_code))
            case TurnEnded():
                found.append(each.outcome)
            case _:
                pass
    return found


@pytest.mark.parametrize("case", ["run", "files", "fail"])
def test_what_is_printed_is_what_was_recorded(case: str) -> None:
    recorded = list(dragoman.read(_DATA / f"{case}.disk.jsonl"))
    parser = CopilotOutputParser()
    for _, line in write_output([TimedMessage(0.0, each) for each in recorded]):
        parser.receive_line(line)
    parser.receive_eof()

    assert _essence(parser.messages()) == _essence(recorded)
    assert len(_essence(recorded)) > 1


def test_a_recording_is_one_session_with_turns_that_end() -> None:
    recorded = list(dragoman.read(_DATA / "run.disk.jsonl"))
    run = run_in([TimedMessage(0.0, each) for each in recorded])

    assert run.session_id == recorded[0].session_id
    assert [sum(isinstance(cue.message, TurnEnded) for cue in turn) for turn in run.turns] == [1]


def test_the_server_answers_what_it_is_asked_and_refuses_the_rest() -> None:
    server = CopilotServer([])
    for number, method in enumerate(("connect", "session.create", "nonsense"), 1):
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"sessionId": "s"}}
        server.receive_line(json.dumps(request).encode(), 0.0)
    answers = {row["id"]: row for row in map(json.loads, server.lines_to_send(0.0)) if "id" in row}

    assert "result" in answers[1]
    assert "result" in answers[2]
    assert "error" in answers[3]
    assert COPILOT.playback is not None
    assert "1.0.102" in COPILOT.playback.version_line
