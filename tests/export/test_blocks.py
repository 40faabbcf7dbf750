from __future__ import annotations

import pytest

from dragoman.export.blocks import (
    Base64Source,
    Block,
    ImageBlock,
    MessageTokens,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UrlSource,
    plan_blocks,
    prompt_blocks,
    tokens,
)
from dragoman.model.messages import Plan, PlanStep, Prompt
from dragoman.model.usage import Usage


@pytest.mark.parametrize(
    ("image", "block"),
    [
        ("data:image/png;base64,iVBO", ImageBlock(Base64Source("image/png", "iVBO"))),
        ("https://example.com/a.png", ImageBlock(UrlSource("https://example.com/a.png"))),
        ("http://example.com/a.png", ImageBlock(UrlSource("http://example.com/a.png"))),
        ("/tmp/a.png", TextBlock("[image: /tmp/a.png]")),
        ("data:image/svg+xml,<svg/>", TextBlock("[image: data:image/svg+xml,<svg/>]")),
    ],
)
def test_an_image_follows_the_text_in_the_form_it_came_in(image: str, block: Block) -> None:
    assert prompt_blocks(Prompt(text="see", images=[image])) == [TextBlock("see"), block]


def test_an_image_without_words_has_no_empty_text_block() -> None:
    prompt = Prompt(text="", images=["/tmp/a.png"])

    assert prompt_blocks(prompt) == [TextBlock("[image: /tmp/a.png]")]


def test_an_empty_prompt_is_still_a_block() -> None:
    assert prompt_blocks(Prompt(text="")) == [TextBlock("")]


def test_a_plan_is_the_call_that_writes_todos_and_its_result() -> None:
    plan = Plan(line=7, steps=[PlanStep("look", "completed"), PlanStep("leap")])

    assert plan_blocks(plan) == (
        ToolUseBlock(
            "plan_7",
            "TodoWrite",
            {
                "todos": [
                    {"content": "look", "status": "completed", "activeForm": "look"},
                    {"content": "leap", "status": "pending", "activeForm": "leap"},
                ]
            },
        ),
        ToolResultBlock("plan_7", "Todos updated", is_error=False),
    )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Usage(100, 60, 10, 5, 3), MessageTokens(30, 10, 60, 5)),
        (Usage(100, 90, 20, 5), MessageTokens(0, 20, 90, 5)),
        (Usage(), MessageTokens()),
    ],
)
def test_fresh_input_leaves_out_the_cache_and_is_never_negative(
    ours: Usage, theirs: MessageTokens
) -> None:
    assert tokens(ours) == theirs
