from __future__ import annotations

import pytest

from dragoman.harnesses.writing.words import (
    NO_RESULT,
    call_in_words,
    has_failed,
    is_unfinished,
    output_of,
    was_declined,
)
from dragoman.model.messages import ToolCall
from dragoman.model.turns import Use
from support.handoff import use

_OPEN = Use(ToolCall(call_id="c", tool="Bash", native_tool="sh", input={"command": "ls"}))


@pytest.mark.parametrize(
    ("output", "code", "expected"),
    [
        ("Exit code 3\none", 3, "one"),
        ("Exit code 3", 3, ""),
        ("one", 3, "one"),
        ("Exit code 3\none", None, "Exit code 3\none"),
        ("Exit code 4\none", 3, "Exit code 4\none"),
    ],
)
def test_an_exit_code_in_front_of_an_output_is_not_repeated(
    output: str, code: int | None, expected: str
) -> None:
    assert output_of(use("Bash", {}, output, exit_code=code)) == expected


def test_what_became_of_a_call() -> None:
    good = use("Bash", {}, "ok")
    failed = use("Bash", {}, "no", is_error=True, status="failed")
    declined = use("Bash", {}, "no", is_error=True, status="declined")
    abandoned = use("Bash", {}, "half", status="abandoned")

    assert [has_failed(each) for each in (good, failed, declined, abandoned, _OPEN)] == [
        False, True, True, True, True,
    ]  # fmt: skip
    assert [was_declined(each) for each in (good, failed, declined, _OPEN)] == [
        False, False, True, False,
    ]  # fmt: skip
    assert [is_unfinished(each) for each in (good, failed, abandoned, _OPEN)] == [
        False, False, True, True,
    ]  # fmt: skip
    assert output_of(abandoned) == f"half\n{NO_RESULT}"
    assert output_of(_OPEN) == NO_RESULT


def test_a_call_in_words_has_its_input_and_its_result() -> None:
    assert call_in_words(use("update_topic", {"title": "T"}, "done")) == (
        '[Earlier call of the tool update_topic]\ninput: {"title":"T"}\nresult: done'
    )
    assert call_in_words(use("x", {}, "", is_error=True, status="declined")).endswith(
        "declined: (no output)"
    )
    assert call_in_words(use("x", {}, "why", is_error=True, status="failed")).endswith(
        "failed: why"
    )
