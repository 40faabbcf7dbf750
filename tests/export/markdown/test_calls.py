from __future__ import annotations

from typing import Any

import pytest

from dragoman.export.markdown.calls import OPEN_LINES, call_block, task_list
from dragoman.model.messages import PlanStep, ToolCall


def call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(call_id="c1", tool=tool, native_tool=tool, input=arguments)


def test_the_call_that_makes_a_plan_says_why() -> None:
    todo = call("TodoWrite", explanation="See <a>.", todos=[{"content": "x", "status": "pending"}])

    assert call_block(todo) == "**Plan**\n\nSee &lt;a>.\n\n- [ ] x"


def test_a_plan_of_words_alone_has_no_list() -> None:
    assert task_list([], "Later") == "**Plan**\n\nLater"


def test_a_step_is_one_line_without_tags() -> None:
    steps = [PlanStep("use `<b>`\nnot <i>", "in_progress")]

    assert task_list(steps, None) == "**Plan**\n\n- [ ] **use `<b>` not &lt;i>**"


LONG = "".join(f"{n}\n" for n in range(OPEN_LINES + 1))


@pytest.mark.parametrize(
    ("made", "begins"),
    [
        (call("Bash", command=LONG), "<details>\n<summary>81 lines</summary>\n\n```sh\n0\n"),
        (
            call("Write", file_path="a", content=LONG),
            "**Write** `a` (write)\n\n<details>\n<summary>81 lines</summary>\n\n```diff\n+0\n",
        ),
        (
            call("Grep", paths=[str(n) for n in range(OPEN_LINES)]),
            '**Grep**\n\n<details>\n<summary>84 lines</summary>\n\n```json\n{\n  "paths": [\n',
        ),
    ],
    ids=["command", "edit", "json"],
)
def test_a_very_long_call_is_folded(made: ToolCall, begins: str) -> None:
    shown = call_block(made)

    assert shown.startswith(begins)
    assert shown.endswith("\n```\n\n</details>")


def test_a_call_of_ordinary_length_is_open() -> None:
    assert call_block(call("Bash", command="make\nmake test")) == "```sh\nmake\nmake test\n```"


def test_a_tool_may_have_any_name() -> None:
    assert call_block(call("<b>")) == "**&lt;b>**"
