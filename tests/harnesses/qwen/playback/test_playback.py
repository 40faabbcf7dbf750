"""A recording played as Qwen Code reads as the recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.qwen.playback.printing import write_print
from dragoman.harnesses.qwen.playback.server import QwenServer
from dragoman.harnesses.qwen.stream.parser import QwenStreamParser
from dragoman.model.messages import Message, Text, TurnEnded, TurnStarted
from dragoman.model.turns import fold
from dragoman.testing.likeness import differences
from support.qwen import of

_RUNS = Path(__file__).parents[3] / "data" / "qwen" / "0.24.4"


def _read(lines: list[bytes]) -> list[Message]:
    parser = QwenStreamParser()
    parser.receive_lines(lines)
    parser.receive_eof()
    return parser.messages()


def _recorded(name: str) -> list[Message]:
    return _read((_RUNS / f"{name}.live.jsonl").read_bytes().splitlines(keepends=True))


@pytest.mark.parametrize(
    "name", ["work", "approvals", "interrupted", "refused-key", "agent-interrupted", "memory"]
)
def test_what_is_printed_reads_as_what_was_recorded(name: str) -> None:
    recorded = _recorded(name)
    printed = [line for _, line in write_print(TimedMessage(0.0, each) for each in recorded)]
    one, other = fold(_read(printed)), fold(recorded)
    for turn in other:
        turn.prompts.clear()
    for turn in one:
        turn.prompts.clear()

    assert [str(each) for each in differences(one, other)] == []


class _Client:
    """Sends lines to a server, and reads what it says."""

    def __init__(self, messages: list[Message]) -> None:
        self.server = QwenServer([TimedMessage(0.0, each) for each in messages])

    def send(self, line: dict[str, Any]) -> list[dict[str, Any]]:
        self.server.receive_line(json.dumps(line).encode(), 0.0)
        return [json.loads(each) for each in self.server.lines_to_send(1.0)]

    def ask(self, subtype: str, **more: Any) -> dict[str, Any]:
        request = {"subtype": subtype, **more}
        lines = self.send({"type": "control_request", "request_id": "r", "request": request})
        return lines[0]["response"]


def _turns() -> list[Message]:
    return [
        TurnStarted(session_id="s", turn_id="1"),
        Text(session_id="s", turn_id="1", text="One."),
        TurnEnded(session_id="s", turn_id="1", outcome="completed"),
    ]


def test_control_requests_are_answered_in_the_programs_words() -> None:
    client = _Client(_turns())

    assert client.ask("initialize")["response"]["session_id"] == "s"
    assert client.ask("set_permission_mode", mode="yolo")["response"]["mode"] == "yolo"
    assert "Invalid permission mode" in client.ask("set_permission_mode", mode="x")["error"]
    assert client.ask("nonsense")["error"] == "Unknown control request subtype: nonsense"
    assert client.ask("get_available_models")["response"]["models"]
    for subtype in ("set_model", "set_effort", "mcp_server_status", "supported_commands"):
        assert client.ask(subtype)["subtype"] == "success"


def test_a_prompt_gets_the_next_turn_and_then_a_reason() -> None:
    client = _Client(_turns())
    prompt = {"type": "user", "message": {"role": "user", "content": "hi"}, "uuid": "u"}
    first, second = client.send(prompt), client.send(prompt)

    assert [each["type"] for each in first] == ["system", "assistant", "result"]
    assert "no further turn" in second[-1]["error"]["message"]
    (ended,) = of(TurnEnded, _read([json.dumps(each).encode() for each in second]))
    assert ended.outcome == "failed"
