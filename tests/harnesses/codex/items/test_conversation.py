from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.items.conversation import TELL
from dragoman.harnesses.codex.items.shape import ThreadItem
from dragoman.model.messages import (
    Compacted,
    Context,
    Delta,
    Message,
    Notice,
    Plan,
    PlanStep,
    Prompt,
    Text,
    Thinking,
    TurnEnded,
)
from support.codex.items import tell

REVIEW = (
    "Two problems were found.\n\nFull review comments:\n\n"
    "- [P1] Wrong greeting — /workspace/README.md:2-3\n"
    "  The greeting is **wrong** here.\n  Second line.\n\n"
    "- [P3] Nit — /workspace/added.txt:1-1\n  Trailing space."
)


def said(out: Output) -> list[Message]:
    """The messages, without their place in the stream."""
    return [
        msgspec.structs.replace(message, session_id=None, turn_id=None)
        for message in out.take_messages()
    ]


def test_every_item_that_is_words_is_told_by_its_type(
    out: Output, session: SessionAssembler
) -> None:
    for kind, tell_it in TELL.items():
        tell_it(session, "item", ThreadItem(type=kind, id=kind), True)

        assert out.take_messages() or out.take_duplicates()


@pytest.mark.parametrize(
    "kind",
    ["agentMessage", "reasoning", "hookPrompt", "plan", "contextCompaction", "exitedReviewMode"],
)
def test_an_item_that_is_whole_at_its_end_is_told_then(
    out: Output, session: SessionAssembler, kind: str
) -> None:
    tell(session, f'{{"type":"{kind}","id":"i"}}', done=False)

    assert out.take_messages() == []
    assert [duplicate.reason for duplicate in out.take_duplicates()] == ["item: its end carries it"]


@pytest.mark.parametrize(
    ("kind", "of"),
    [
        ("agentMessage", "text"),
        ("reasoning", "thinking"),
        ("plan", "plan"),
        ("exitedReviewMode", "text"),
    ],
)
def test_what_an_item_says_before_its_end_is_a_delta(
    out: Output, session: SessionAssembler, kind: str, of: str
) -> None:
    for text in ("hel", "hello"):
        line = f'{{"type":"{kind}","id":"i","text":"{text}","review":"{text}"}}'
        tell(session, line, done=False)

    assert [(each.of, each.text) for each in out.take_messages() if isinstance(each, Delta)] == [
        (of, "hel"),
        (of, "lo"),
    ]


@pytest.mark.parametrize(("kind", "made"), [("agentMessage", Text), ("reasoning", Thinking)])
def test_an_item_whose_end_never_comes_is_told_at_the_end_of_the_turn(
    out: Output, session: SessionAssembler, kind: str, made: type[Message]
) -> None:
    tell(session, f'{{"type":"{kind}","id":"i","text":"hello"}}', done=False)
    session.end_turn("interrupted")

    assert [type(each) for each in out.take_messages()] == [Delta, made, TurnEnded]


# Messages.


@pytest.mark.parametrize("done", [False, True])
def test_a_user_s_message_is_a_prompt_as_soon_as_it_begins(
    out: Output, session: SessionAssembler, done: bool
) -> None:
    row = (
        '{"type":"UserMessage","id":"u","content":[{"type":"text","text":"look",'
        '"text_elements":[]},{"type":"local_image","path":"/workspace/pic.png"}]}'
    )
    tell(session, row, done=done)

    assert said(out) == [Prompt(text="look", images=["/workspace/pic.png"])]


def test_a_user_s_message_begun_and_done_is_one_prompt(
    out: Output, session: SessionAssembler
) -> None:
    row = '{"type":"userMessage","id":"u","content":[{"type":"text","text":"do it"}]}'
    tell(session, row, wire=True, done=False)
    tell(session, row, wire=True)

    assert said(out) == [Prompt(text="do it")]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        pytest.param(
            '{"id":"m","item_type":"assistant_message","text":"Looking."}',
            Text(text="Looking.", message_id="m"),
            id="experimental exec",
        ),
        pytest.param(
            '{"type":"AgentMessage","id":"m","content":[{"Text":{"text":"Read it."}}]}',
            Text(text="Read it.", message_id="m"),
            id="0.53 to 0.58",
        ),
        pytest.param(
            '{"type":"AgentMessage","id":"m","content":[{"type":"Text","text":"Loo"},'
            '{"type":"Text","text":"king."}],"phase":"commentary"}',
            Text(text="Looking.", phase="commentary", message_id="m"),
            id="in two parts",
        ),
        pytest.param(
            '{"type":"AgentMessage","id":"m","text":"Done.","phase":"final_answer"}',
            Text(text="Done.", phase="final_answer", message_id="m"),
            id="the last word",
        ),
        pytest.param(
            '{"type":"AgentMessage","id":"m","text":"Hm.","phase":"brand_new"}',
            Text(text="Hm.", message_id="m"),
            id="a new phase",
        ),
        pytest.param('{"type":"AgentMessage","text":"Hm."}', Text(text="Hm."), id="no id"),
    ],
)
def test_an_agent_s_message_is_a_text(
    out: Output, session: SessionAssembler, row: str, text: Text
) -> None:
    tell(session, row)

    assert said(out) == [text]


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ('{"type":"reasoning","id":"r","text":"I look."}', ["I look."]),
        ('{"type":"reasoning","id":"r","summary":["a","b"],"content":["raw"]}', ["a", "b", "raw"]),
        ('{"type":"Reasoning","id":"r","summary_text":["a"],"raw_content":["raw"]}', ["a", "raw"]),
        ('{"type":"Reasoning","id":"r","summary_text":[],"raw_content":["raw"]}', ["raw"]),
    ],
)
def test_each_part_of_the_reasoning_is_a_thought(
    out: Output, session: SessionAssembler, row: str, parts: list[str]
) -> None:
    tell(session, row)

    assert said(out) == [Thinking(text=part, item_id="r") for part in parts]


def test_reasoning_that_is_not_shown_is_accounted_for(
    out: Output, session: SessionAssembler
) -> None:
    tell(session, '{"type":"Reasoning","id":"r","summary_text":[],"raw_content":[]}')

    assert said(out) == []
    assert len(out.take_duplicates()) == 1


def test_what_a_hook_says_to_the_model_is_context(out: Output, session: SessionAssembler) -> None:
    row = (
        '{"type":"hookPrompt","id":"h","fragments":[{"text":"Run the tests before you stop.",'
        '"hookRunId":"stop:4:hooks.json"},{"text":"Please."}]}'
    )
    tell(session, row, wire=True)

    assert said(out) == [Context(role="user", text="Run the tests before you stop.\nPlease.")]


# Plans.


def test_a_todo_list_is_a_plan_each_time_it_changes(out: Output, session: SessionAssembler) -> None:
    row = '{"id":"i","type":"todo_list","items":[{"text":"look","completed":%s}]}'
    tell(session, row % "false", done=False)
    tell(session, row % "true", done=False)
    tell(session, row % "true")

    assert said(out) == [
        Plan(steps=[PlanStep("look")]),
        Plan(steps=[PlanStep("look", "completed")]),
    ]


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("- step one\n* step two\n", Plan(steps=[PlanStep("step one"), PlanStep("step two")])),
        ("# Plan\n- step one\n", Plan(explanation="# Plan\n- step one\n")),
    ],
    ids=["a list", "words"],
)
def test_a_proposed_plan_is_its_steps_or_its_words(
    out: Output, session: SessionAssembler, text: str, plan: Plan
) -> None:
    row: dict[str, Any] = {"type": "Plan", "id": "p", "text": text}
    tell(session, msgspec.json.encode(row).decode())

    assert said(out) == [plan]


# The harness's own words.


def test_a_compaction_is_told(out: Output, session: SessionAssembler) -> None:
    tell(session, '{"type":"contextCompaction","id":"c"}', wire=True)

    assert said(out) == [Compacted()]


def test_an_error_item_is_a_warning_since_the_turn_goes_on(
    out: Output, session: SessionAssembler
) -> None:
    tell(session, '{"id":"i","type":"error","message":"Heads up: Long threads"}')

    assert said(out) == [Notice(level="warning", text="Heads up: Long threads")]


@pytest.mark.parametrize(
    ("row", "wire"),
    [
        ('{"type":"enteredReviewMode","id":"e","review":"current changes"}', True),
        (
            '{"type":"EnteredReviewMode","id":"e","target":{"type":"uncommittedChanges"},'
            '"user_facing_hint":"current changes"}',
            False,
        ),
    ],
    ids=["app-server", "rollout"],
)
def test_a_review_begins(out: Output, session: SessionAssembler, row: str, wire: bool) -> None:
    tell(session, row, wire=wire)

    assert said(out) == [Notice(level="info", text="review of current changes began")]
    assert session.is_reviewing


def test_a_review_is_the_same_text_over_the_wire_and_on_disk(
    out: Output, session: SessionAssembler
) -> None:
    wire: dict[str, Any] = {"type": "exitedReviewMode", "id": "w", "review": REVIEW}
    disk: dict[str, Any] = {
        "type": "ExitedReviewMode",
        "id": "d",
        "review_output": {
            "overall_explanation": "Two problems were found.",
            "findings": [
                {
                    "title": "[P1] Wrong greeting",
                    "body": "The greeting is **wrong** here.\nSecond line.",
                    "code_location": {
                        "absolute_file_path": "/workspace/README.md",
                        "line_range": {"start": 2, "end": 3},
                    },
                },
                {
                    "title": "[P3] Nit",
                    "body": "Trailing space.",
                    "code_location": {
                        "absolute_file_path": "/workspace/added.txt",
                        "line_range": {"start": 1, "end": 1},
                    },
                },
            ],
        },
    }
    tell(session, msgspec.json.encode(wire).decode(), wire=True)
    tell(session, msgspec.json.encode(disk).decode())

    assert said(out) == [Text(text=REVIEW, message_id="w"), Text(text=REVIEW, message_id="d")]
