"""One run of ``claude -p PROMPT``: one prompt, one end."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman.harnesses.claude.stream.parser import StreamJsonParser
from dragoman.harnesses.contract.transport import OneShot
from dragoman.harnesses.stream_json.driving.run import PrintRun
from dragoman.model.messages import Prompt, Text, TurnEnded, TurnError, TurnStarted
from harnesses.claude.driving.scripted import SESSION


def _run(*lines: dict[str, Any]) -> PrintRun:
    run = PrintRun(OneShot(prompt="do it", cwd="/w"), StreamJsonParser, "claude")
    for line in lines:
        run.receive_line(msgspec.json.encode({"session_id": SESSION, **line}))
    return run


_INIT = {"type": "system", "subtype": "init", "cwd": "/w", "model": "m"}
_TEXT = {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "Hi."}]}}
_RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "Hi."}


def _told(run: PrintRun) -> list[Any]:
    return [m for m in run.messages() if isinstance(m, Prompt | Text | TurnStarted | TurnEnded)]


def test_a_run_has_its_prompt_and_its_end() -> None:
    run = _run(_INIT, _TEXT, _RESULT)
    run.receive_exit(0)
    told = _told(run)
    assert [type(each).__name__ for each in told] == ["TurnStarted", "Prompt", "Text", "TurnEnded"]
    assert (told[1].text, told[3].outcome) == ("do it", "completed")
    assert len({each.turn_id for each in told}) == 1


@pytest.mark.parametrize(
    ("lines", "code", "stopped", "outcome", "kind"),
    [
        ([], 1, False, "failed", "response_error"),
        ([_INIT, _TEXT], 1, False, "failed", "port_exit"),
        ([_INIT, _TEXT], -9, False, "failed", "port_exit"),
        ([_INIT, _TEXT], None, False, "failed", "port_exit"),
        ([_INIT, _TEXT], 0, False, "interrupted", None),
        ([_INIT, _TEXT], -15, True, "interrupted", None),
    ],
)
def test_without_a_result_the_exit_says_how_it_ended(
    lines: list[dict[str, Any]], code: int | None, stopped: bool, outcome: str, kind: str | None
) -> None:
    run = _run(*lines)
    run.receive_exit(code, stopped=stopped, stderr_tail="Something is wrong.\n")
    told = _told(run)
    assert [m.text for m in told if isinstance(m, Prompt)] == ["do it"]
    (ended,) = [m for m in told if isinstance(m, TurnEnded)]
    assert ended.outcome == outcome
    assert (ended.error.kind if ended.error else None) == kind
    if ended.error is not None:
        assert "Something is wrong." in ended.error.message


def test_what_comes_after_the_end_belongs_to_the_same_turn() -> None:
    run = _run(_INIT, _TEXT, _RESULT, _INIT, _TEXT | {"uuid": "x"}, _RESULT)
    run.receive_exit(0)
    told = _told(run)
    assert len([m for m in told if isinstance(m, TurnEnded)]) == 1
    assert len({m.turn_id for m in told}) == 1

    run = _run(_INIT)
    run.end_turn("failed", TurnError("turn_timeout", "too long", retryable=True))
    run.receive_line(msgspec.json.encode({"session_id": SESSION, **_TEXT}))
    run.receive_exit(-9, stopped=True)
    told = _told(run)
    assert [m.outcome for m in told if isinstance(m, TurnEnded)] == ["failed"]
    assert [m.text for m in told if isinstance(m, Text)] == ["Hi."]
