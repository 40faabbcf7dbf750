from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.gemini_tools.results import CallResult, call_result, exit_code

_FAILED = "Output: bad\nExit Code: 3\nProcess Group PGID: 16023"
_QWEN = "Command: x\nDirectory: (root)\nOutput: a\nb\nError: (none)\nExit Code: 0\nSignal: (none)"


def of(text: str, *, key: str = "output") -> dict[str, Any]:
    return {"response": {key: text}}


@pytest.mark.parametrize(
    ("response", "status", "display", "result"),
    [
        (of(_FAILED), "success", "bad", CallResult("bad", True, 3, "failed")),
        (of(_FAILED), "success", "", CallResult("bad", True, 3, "failed")),
        (
            of(f"<untrusted_context>\n{_FAILED}\n</untrusted_context>"),
            "success",
            None,
            CallResult("bad", True, 3, "failed"),
        ),
        (of(_QWEN), None, None, CallResult("a\nb", False, 0, "completed")),
        (of("Output: (empty)"), None, None, CallResult("", False, None, "completed")),
        (of("not run", key="error"), "error", None, CallResult("not run", True, None, "failed")),
        (
            of("[Operation Cancelled] Reason: User denied execution.", key="error"),
            "cancelled",
            None,
            CallResult(
                "[Operation Cancelled] Reason: User denied execution.", True, None, "declined"
            ),
        ),
        (
            of("[Operation Cancelled] Reason: the turn is over", key="error"),
            "cancelled",
            None,
            CallResult("[Operation Cancelled] Reason: the turn is over", True, None, "failed"),
        ),
        ({}, "success", None, CallResult("", False, None, "completed")),
        ("odd", None, ["odd"], CallResult("", False, None, "completed")),
    ],
)
def test_the_result_of_a_command(
    response: Any, status: str | None, display: Any, result: CallResult
) -> None:
    assert call_result("Bash", response, status=status, display=display) == result


def test_the_result_of_another_tool_is_what_the_model_is_given() -> None:
    given = {"response": {"content": [{"type": "text", "text": "a"}, {"type": "image"}]}}

    assert call_result("Read", given, status="success").output == "a\n[image]"
    assert call_result("Read", of("no file", key="error"), status=None).is_error
    assert call_result("Read", of("Exit Code: 3"), status="success").exit_code is None


def test_the_exit_code_that_is_kept_apart_comes_first() -> None:
    assert exit_code("Exit Code: 1", {"exitCode": 2}) == 2
    assert exit_code("said: Exit Code: 1") is None
