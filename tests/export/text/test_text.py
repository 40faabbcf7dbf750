from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.export.base import Include, Options
from dragoman.export.text.exporter import TextExporter
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Context,
    Delta,
    Malformed,
    Message,
    Notice,
    Plan,
    PlanStep,
    Prompt,
    SessionEnded,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
    Unknown,
)
from dragoman.model.usage import Usage

AT = datetime(2026, 11, 15, 22, 26, 6, tzinfo=UTC)


def text(*messages: Message, include: frozenset[Include] = frozenset(), color: bool = False) -> str:
    exporter = TextExporter(Options(include=include, color=color))
    return (exporter.export(messages) + exporter.finish()).decode()


def call(call_id: str, tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(call_id=call_id, tool=tool, native_tool=tool, input=arguments)


def page(shown: str) -> str:
    return dedent(shown).lstrip("\n")


def test_a_turn_reads_from_top_to_bottom() -> None:
    assert text(
        SessionStarted(harness="codex", version="0.166.0", model="gpt-5.5", cwd="/w"),
        TurnStarted(at=AT),
        Prompt(text="Fix it.\n\nThen explain.", images=["/tmp/a.png"]),
        Thinking(text="**Looking**\nfirst"),
        call("c1", "Bash", command="pytest -q\necho done"),
        ToolResult(call_id="c1", output="1 failed\n", is_error=True, exit_code=1),
        call("c2", "Read", file_path="app.py"),
        ToolResult(call_id="c2", output="x = 1\n"),
        Text(text="It was `x`.\n\n* done\n"),
        TurnEnded(
            at=AT + timedelta(seconds=4.2), outcome="completed", usage=Usage(530, 120, 0, 60)
        ),
        SessionEnded(reason="eof"),
    ) == page(
        """
        codex 0.166.0 · gpt-5.5 · /w

        \u203a Fix it.

          Then explain.
          [image: /tmp/a.png]

        ∴ **Looking**
          first

        $ pytest -q
          echo done
          1 failed
          ✗ exit 1

        Read(app.py)
          x = 1

        It was `x`.

        * done

        ✓ completed · 530 in (120 cached) · 60 out · 4.2 s

        session ended: eof
        """
    )


@pytest.mark.parametrize(
    ("ended", "shown"),
    [
        (TurnEnded(outcome="completed"), "✓ completed\n"),
        (
            TurnEnded(outcome="interrupted", usage=Usage(5, 0, 0, 1)),
            "■ interrupted · 5 in · 1 out\n",
        ),
        (TurnEnded(outcome="failed"), "✗ failed\n"),
        (
            TurnEnded(
                outcome="failed",
                error=TurnError("server", "busy\nvery", retryable=True),
                usage=Usage(5, 0, 0, 1),
            ),
            "✗ failed: busy\n  very\n  5 in · 1 out\n",
        ),
    ],
)
def test_a_turn_ends_with_its_outcome(ended: TurnEnded, shown: str) -> None:
    assert text(ended) == shown


def test_a_header_comes_again_only_when_it_has_changed() -> None:
    first = SessionStarted(session_id="s", harness="codex", model="a")
    second = SessionStarted(session_id="s", harness="codex", model="b")

    assert text(first, first, second) == "codex · a\n\ncodex · b\n"


def test_an_edit_shows_its_diff_file_by_file() -> None:
    edit = call(
        "c1",
        "Edit",
        changes=[
            {"path": "a.py", "kind": "update", "diff": "@@ -1 +1 @@\n-x\n+y\n"},
            {"path": "b.py", "kind": "add", "diff": "".join(f"{n}\n" for n in range(82))},
        ],
    )

    lines = text(edit, ToolResult(call_id="c1", output="Success")).split("\n")

    assert lines[:6] == [
        "± a.py (update)",
        "  @@ -1 +1 @@",
        "  -x",
        "  +y",
        "± b.py (add)",
        "  +0",
    ]
    assert lines[-4:] == ["  +79", "  … 2 more lines", "  Success", ""]


def test_a_long_result_is_cut_and_says_so() -> None:
    output = "".join(f"{n}\n" for n in range(46))

    lines = text(call("c1", "Bash", command="seq 46"), ToolResult(call_id="c1", output=output))

    assert lines == "$ seq 46\n" + "".join(f"  {n}\n" for n in range(12)) + "  … 34 more lines\n"


def test_one_more_line_is_not_lines() -> None:
    assert text(ToolResult(call_id="c1", output="\n".join("x" * 13))).endswith("  … 1 more line\n")


def test_an_endless_line_is_cut() -> None:
    shown = text(call("c1", "Bash", command="x"), ToolResult(call_id="c1", output="y" * 5000))

    assert shown == "$ x\n  " + "y" * 299 + "…\n"


def test_results_that_do_not_follow_their_call_name_it() -> None:
    assert text(
        call("c1", "Read", file_path="a"),
        call("c2", "Read", file_path="b"),
        ToolResult(call_id="c1", output="A"),
        ToolResult(call_id="c2", status="declined", is_error=True),
        ToolResult(call_id="c3", output="C"),
        ToolResult(call_id="c4", output=""),
    ) == page(
        """
        Read(a)

        Read(b)

        ↳ Read(a)
          A

        ↳ Read(b)
          ✗ declined

        ↳ c3
          C
        """
    )


def test_a_result_that_comes_after_its_turn_still_names_its_call() -> None:
    shown = text(
        call("c1", "Bash", command="make"),
        ToolResult(call_id="c1", status="abandoned", is_error=True),
        TurnEnded(outcome="interrupted"),
        ToolResult(call_id="c1", output="done"),
    )

    assert shown.endswith("■ interrupted\n\n↳ $ make\n  done\n")


def test_a_call_may_take_as_much_room_as_a_line_of_output() -> None:
    said = "y" * 400

    assert text(call("c1", "SendMessage", to="a", message=said)) == (
        f"SendMessage(to=a, message={'y' * (300 - 27 - 1)}…)\n"
    )


def test_a_result_of_another_session_does_not_belong_to_the_call_above_it() -> None:
    shown = text(
        ToolCall(session_id="a", call_id="c1", tool="Bash", native_tool="shell"),
        ToolCall(session_id="b", call_id="c1", tool="Read", native_tool="read"),
        ToolResult(session_id="a", call_id="c1", output="A"),
    )

    assert shown.endswith("\n── a\n↳ Bash()\n  A\n")


def test_what_says_nothing_is_not_shown() -> None:
    assert text(Text(text="\n"), Thinking(text=""), Prompt(text=""), Plan()) == ""


def test_a_plan_is_a_checklist() -> None:
    steps = [PlanStep("look", "completed"), PlanStep("leap", "in_progress"), PlanStep("land")]

    assert text(Plan(steps=steps, explanation="Nearly there")) == page(
        """
        Nearly there
        ☑ look
        ◐ leap
        ☐ land
        """
    )


def test_the_call_that_makes_a_plan_says_why() -> None:
    todo = call("c1", "TodoWrite", todos=[{"content": "look", "status": "pending"}])
    todo.input["explanation"] = "Starting"

    assert text(todo) == "Starting\n☐ look\n"


def test_a_plan_is_not_shown_twice_while_its_call_is_open() -> None:
    todo = call("c1", "TodoWrite", plan=[{"step": "look", "status": "in_progress"}])
    plan = Plan(steps=[PlanStep("look", "in_progress")])
    done = ToolResult(call_id="c1", output="Plan updated")

    assert text(todo, plan, done) == "◐ look\n"
    assert text(todo, done, plan) == "◐ look\n\n◐ look\n"


def test_approvals_are_asked_and_settled() -> None:
    assert text(
        ApprovalRequested(
            approval_id="a1", kind="command", summary="rm -rf x", choices=["accept", "decline"]
        ),
        ApprovalSettled(approval_id="a1", decision="accept"),
        ApprovalRequested(approval_id="a2", kind="edit", summary="app.py"),
        ApprovalRequested(approval_id="a3", kind="question", tool="AskUserQuestion"),
        ApprovalSettled(approval_id="a2", decision="decline"),
    ) == page(
        """
        ? command: rm -rf x
          [accept / decline]
          → accept

        ? edit: app.py

        ? question: AskUserQuestion

        ↳ edit: app.py
          → decline
        """
    )


def test_notices_and_compaction_are_told() -> None:
    assert text(
        Notice(level="warning", text="stream disconnected", will_retry=True),
        Notice(level="info", text="by the way"),
        Compacted(line=3),
        Compacted(summary="so far"),
    ) == page(
        """
        ! stream disconnected (will retry)

        · by the way

        ⋯ conversation compacted

        ⋯ conversation compacted
          so far
        """
    )


def test_context_and_raw_lines_come_when_asked_for() -> None:
    more: list[Message] = [
        Context(role="developer", text="be careful"),
        Unknown(native_type="new", raw='{"type":"new"}'),
        Malformed(raw="\x1boops", problem="not JSON"),
    ]

    assert text(*more) == ""
    assert text(*more, include=frozenset({"context", "raw"})) == page(
        """
        [developer]
        be careful

        [new]
        {"type":"new"}

        [not JSON: not JSON]
        ␛oops
        """
    )


def test_a_sub_agent_is_indented_below_the_session_that_started_it() -> None:
    assert text(
        SessionStarted(session_id="s", harness="codex"),
        SessionStarted(session_id="child", harness="codex", parent_session_id="s"),
        Text(session_id="child", text="one\n\ntwo"),
        Text(session_id="s", text="back"),
        SessionStarted(session_id="other", harness="codex", parent_session_id="s"),
        Text(session_id="child", text="again"),
    ) == page(
        """
        codex

        │ codex
        │
        │ one
        │
        │ two

        back

        │ codex
        │
        │ ── child
        │ again
        """
    )


def test_a_sub_agent_on_its_own_is_not_indented() -> None:
    assert text(SessionStarted(session_id="c", harness="codex", parent_session_id="s")) == "codex\n"


def test_sessions_that_take_turns_are_told_apart() -> None:
    assert text(
        Text(session_id="a", text="one"), Text(session_id="b", text="two"), Text(text="three")
    ) == page(
        """
        one

        ── b
        two

        three
        """
    )


def test_colour_comes_only_when_the_terminal_knows_it() -> None:
    said: list[Message] = [
        Thinking(text="hm"),
        call("c1", "Edit", file_path="a", old_string="x", new_string="y"),
    ]

    assert text(*said, color=True) == (
        "\x1b[2m∴ hm\x1b[0m\n"
        "\n"
        "\x1b[36m± a (update)\x1b[0m\n"
        "  \x1b[31m-x\x1b[0m\n"
        "  \x1b[32m+y\x1b[0m\n"
    )
    assert "\x1b" not in text(*said)


ANY_TEXT = st.text(st.sampled_from("ab \n\r\t\x00\x07\x1b\x9b\u202e\u2069\u2028[]0;m"))


@given(ANY_TEXT)
def test_nothing_in_a_message_reaches_the_terminal_as_a_command(words: str) -> None:
    shown = text(
        SessionStarted(session_id=words, harness=words, version=words, model=words, cwd=words),
        Context(role=words, text=words),
        Prompt(text=words, images=[words, f"data:{words}"]),
        Text(text=words),
        Thinking(text=words),
        call(words, "Bash", command=words),
        ToolResult(call_id="?" + words, output=words),
        call(words, "Edit", changes=[{"path": words, "kind": words, "diff": words}]),
        call(words, words, **{words: words}),
        Plan(steps=[PlanStep(words)], explanation=words),
        ApprovalRequested(approval_id=words, kind="tool", summary=words, choices=[words]),
        ApprovalSettled(approval_id="?" + words, decision=words),
        Notice(level="info", text=words),
        Compacted(summary=words),
        Delta(of="text", text=words),
        TurnEnded(outcome="failed", error=TurnError(words, words, retryable=False)),
        SessionEnded(reason=words),
        Unknown(native_type=words, raw=words),
        Malformed(raw=words, problem=words),
        include=frozenset({"context", "deltas", "raw"}),
    )

    assert not set(shown) & set("\x00\x07\r\x1b\x9b\u202e\u2069")


def deltas(pieces: Sequence[str], message_id: str | None = "m1") -> list[Message]:
    return [Delta(of="text", message_id=message_id, text=piece) for piece in pieces]


STREAMED: frozenset[Include] = frozenset({"deltas"})


def test_deltas_are_shown_line_by_line_and_the_whole_only_adds_the_rest() -> None:
    exporter = TextExporter(Options(include=STREAMED))

    shown = [
        exporter.export([message])
        for message in (
            *deltas(["Let me thi", "nk.\n\nFir", "st"]),
            Delta(of="thinking", text="hm\n"),
            Text(message_id="m1", text="Let me think.\n\nFirst."),
        )
    ]

    assert shown == [b"", b"Let me think.\n\n", b"", b"", b"First.\n"]


@given(st.lists(st.text("a \n")))
def test_a_streamed_text_looks_like_one_that_came_whole(pieces: list[str]) -> None:
    whole = Text(message_id="m1", text="".join(pieces))

    streamed = text(*deltas(pieces), whole, include=STREAMED)

    assert streamed.strip("\n") == text(whole).strip("\n")


def test_a_text_that_is_trimmed_at_its_end_is_not_shown_again() -> None:
    whole = Text(message_id="m1", text="one\ntwo")

    assert text(*deltas(["\none\n", "two\n\n"]), whole, include=STREAMED) == "\none\ntwo\n\n"


def test_a_text_that_turned_out_otherwise_is_shown_whole() -> None:
    assert text(*deltas(["one\ntw"]), Text(message_id="m1", text="three"), include=STREAMED) == (
        "one\n\nthree\n"
    )


def test_deltas_and_their_text_find_each_other_without_ids() -> None:
    assert (
        text(*deltas(["on"], None), Text(message_id="m1", text="one"), include=STREAMED) == "one\n"
    )
    assert text(*deltas(["on"]), Text(text="one"), include=STREAMED) == "one\n"


def test_half_a_text_is_kept_when_the_turn_ends() -> None:
    half = deltas(["one\ntw"])

    assert text(*half, TurnEnded(outcome="interrupted"), include=STREAMED) == (
        "one\ntw\n\n■ interrupted\n"
    )
    assert text(*half, include=STREAMED) == "one\ntw\n"


def test_texts_streamed_at_the_same_time_do_not_mix() -> None:
    assert text(
        *deltas(["a1\na"], "a"),
        *deltas(["b1\n"], "b"),
        *deltas(["2\n"], "a"),
        Text(message_id="a", text="a1\na2"),
        Text(message_id="b", text="b1\nb2"),
        include=STREAMED,
    ) == ("a1\n\nb1\n\na2\n\nb2\n")
