"""The output and the exit code of a call, wherever an agent puts them."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.acp.outputs import output_of, terminal_news


def _text(text: str) -> list[Any]:
    return [{"type": "content", "content": {"type": "text", "text": text}}]


@pytest.mark.parametrize(
    ("raw", "content", "text", "code"),
    [
        ({"output": "bad\n", "metadata": {"exit": 3}}, _text("bad\n"), "bad\n", 3),
        ({"type": "shell_result", "output": "bad", "exitCode": 3}, _text("Command: x"), "bad", 3),
        (
            {"content": "a\n<shellId: 0 completed with exit code 3>",
             "contents": [{"type": "shell_exit", "exitCode": 3}]},
            [], "a\n", 3,
        ),
        ({"content": "<shellId: 0 completed with exit code 0>"}, [], "", 0),
        ("Exit code 3\nbad", _text("```\nExit code 3\nbad\n```"), "Exit code 3\nbad", 3),
        (None, _text("Command: x\nOutput: a\nb\nError: (none)\nExit Code: 3\nSignal: (none)"), "a\nb", 3),
        ([{"type": "text", "text": "a"}], [], "a", None),
        ({"error": "boom"}, [], "boom", None),
        ({"error": {"message": "boom"}}, [], "boom", None),
        (None, [], "", None),
    ],
)  # fmt: skip
def test_an_exit_code_is_found_wherever_it_hides(
    raw: Any, content: list[Any], text: str, code: int | None
) -> None:
    assert output_of(raw, content, is_command=True) == (text, code)


def test_only_a_command_has_an_exit_code_in_its_text() -> None:
    assert output_of("Exit code 3\nbad", [], is_command=False) == ("Exit code 3\nbad", None)


def test_a_terminal_of_the_agents_own_has_output_and_exit_code_aside() -> None:
    meta = {"terminal_output_delta": {"data": "before\n"}, "terminal_exit": {"exit_code": 3}}

    assert terminal_news({"_meta": meta}) == ("before\n", 3)
    assert terminal_news({"_meta": {"terminal_output": {"data": "one"}}}) == ("one", None)
    assert terminal_news({"_meta": {"terminal_output": 7}}) == ("", None)


def test_the_answer_of_an_mcp_server_is_inside_the_raw_output() -> None:
    raw = {"result": {"content": [{"type": "text", "text": "the door"}]}, "error": None}

    assert output_of(raw, [], is_command=False) == ("the door", None)
