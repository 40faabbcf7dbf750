from __future__ import annotations

import pytest

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.model.messages import (
    ResultStatus,
    ToolCall,
    ToolResult,
)
from dragoman.model.usage import Usage
from support.assembling import reasons

ONE, TWO = Usage(120, 40, 0, 20), Usage(260, 90, 0, 50)


def test_a_call_and_its_result_are_told_once_each(out: Output, session: SessionAssembler) -> None:
    for _ in range(2):
        session.call("c", "Bash", "shell", {"command": "ls"})
    for output in ("a", "b"):
        session.result("c", output, exit_code=0, duration_ms=12)

    assert out.take_messages() == [
        ToolCall(
            session_id="s",
            turn_id="t",
            call_id="c",
            tool="Bash",
            native_tool="shell",
            input={"command": "ls"},
        ),
        ToolResult(
            session_id="s", turn_id="t", call_id="c", output="a", exit_code=0, duration_ms=12
        ),
    ]
    assert reasons(out) == ["tool call: emitted before", "tool result: emitted before"]


@pytest.mark.parametrize(
    ("is_error", "status", "told"),
    [
        (False, None, "completed"),
        (True, None, "failed"),
        (True, "declined", "declined"),
        (True, "abandoned", "abandoned"),
    ],
)
def test_a_result_without_a_status_has_one_by_its_error(
    out: Output,
    session: SessionAssembler,
    is_error: bool,
    status: ResultStatus | None,
    told: ResultStatus,
) -> None:
    session.call("c", "Bash", "shell", {})
    session.result("c", is_error=is_error, status=status)

    result = out.take_messages()[-1]
    assert isinstance(result, ToolResult)
    assert (result.is_error, result.status) == (is_error, told)


def test_what_a_call_was_given_is_known_while_it_is_open(session: SessionAssembler) -> None:
    session.call("c", "Edit", "file_change", {"changes": []})

    assert session.input_of("c") == {"changes": []}
    session.result("c")
    assert session.input_of("c") == {}
