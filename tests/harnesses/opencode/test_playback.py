"""opencode played from messages: what it prints, and a server whose turns are those of a recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.harnesses.contract.playback import Playback, TimedMessage
from dragoman.harnesses.opencode import OPENCODE
from dragoman.model.messages import Message, SessionStarted, TurnEnded, TurnStarted
from dragoman.testing.likeness import differences

_DATA = Path(__file__).parents[2] / "data" / "opencode" / "1.18.33"


def _playback() -> Playback:
    assert OPENCODE.playback is not None
    return OPENCODE.playback


def _parsed(lines: list[bytes]) -> list[Message]:
    dialect = OPENCODE.dialect(OPENCODE.sniff(lines) or "")
    assert dialect is not None
    parser = dialect.make_parser(only=None, audit=False)
    parser.receive_lines(lines)
    parser.receive_eof("over")
    return parser.messages()


def _own(messages: list[Message]) -> list[Message]:
    """The session that a recording begins with."""
    first = next(each.session_id for each in messages if isinstance(each, SessionStarted))
    return [each for each in messages if each.session_id == first]


@pytest.mark.parametrize("name", ["hello", "run", "ofiles", "otodo", "fail", "unauth"])
def test_what_is_printed_reads_as_what_was_recorded(name: str) -> None:
    recorded = _own(list(dragoman.read(_DATA / f"{name}.live.jsonl")))
    printed = [line for _, line in _playback().run([TimedMessage(0.0, m) for m in recorded])]
    limits = [limit for limit in OPENCODE.limits if limit.dialect == "opencode-json"]

    live, again = dragoman.fold(recorded), dragoman.fold(_parsed(printed))
    assert [str(each) for each in differences(live, again, limits)] == []


def _request(number: int, method: str, path: str, body: Any = None) -> bytes:
    return json.dumps({"id": number, "method": method, "path": path, "body": body}).encode()


def test_a_served_recording_plays_its_sub_agents_and_ends_after_its_last_turn() -> None:
    recorded = list(dragoman.read(_DATA / "story.live.jsonl"))
    server = _playback().serve([TimedMessage(0.0, each) for each in recorded])
    own = _own(recorded)
    turns = len([each for each in own if isinstance(each, TurnStarted)])
    lines: list[bytes] = []
    server.receive_line(_request(1, "POST", "/session?directory=/w", {}), 0.0)
    lines += server.lines_to_send(0.0)
    session = json.loads(lines[0])["body"]["id"]
    for number in range(turns + 1):
        parts = [{"type": "text", "text": f"prompt {number}"}]
        path = f"/session/{session}/prompt_async"
        server.receive_line(_request(2 + number, "POST", path, {"parts": parts}), 0.0)
        for _ in range(20):
            news = server.lines_to_send(0.0)
            lines += news
            asked = [json.loads(line) for line in news if b'"permission.asked"' in line]
            for each in asked:
                path = f"/permission/{each['properties']['id']}/reply"
                server.receive_line(_request(99, "POST", path, {"reply": "once"}), 0.0)
    messages = _parsed([line for line in lines if b'"type"' in line])
    ends = [each for each in messages if isinstance(each, TurnEnded)]
    mine = [each for each in ends if each.session_id == session]

    assert len(mine) == turns + 1
    assert mine[-1].error is not None
    assert "no further turn" in mine[-1].error.message
    started = [each for each in messages if isinstance(each, SessionStarted)]
    assert any(each.parent_session_id == session for each in started)


def test_an_unknown_path_is_not_found() -> None:
    server = _playback().serve([])
    server.receive_line(b"not json", 0.0)
    server.receive_line(_request(7, "DELETE", "/session/x"), 0.0)

    (line,) = server.lines_to_send(0.0)
    assert json.loads(line)["status"] == 404
