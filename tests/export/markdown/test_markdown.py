from __future__ import annotations

from datetime import UTC, datetime, timedelta
from textwrap import dedent
from typing import Any

from dragoman.export.base import Include, Options
from dragoman.export.markdown.exporter import MarkdownExporter
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Context,
    Delta,
    Diff,
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


def markdown(*messages: Message, include: frozenset[Include] = frozenset()) -> str:
    exporter = MarkdownExporter(Options(include=include))
    return (exporter.export(messages) + exporter.finish()).decode()


def in_turn(*messages: Message) -> str:
    """What is written below the heading of the first turn."""
    heading, _, rest = markdown(TurnStarted(), *messages).partition("\n\n")
    assert heading.rstrip() == "## Turn 1"
    return rest


def call(call_id: str, tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(call_id=call_id, tool=tool, native_tool=tool, input=arguments)


def page(shown: str) -> str:
    return dedent(shown).lstrip("\n")


def test_a_session_is_a_document() -> None:
    assert markdown(
        SessionStarted(
            session_id="s1", harness="codex", version="0.166.0", model="gpt-5.5", cwd="/w"
        ),
        TurnStarted(session_id="s1", at=AT),
        Prompt(session_id="s1", text="Fix it.\n\nThen explain.", images=["/tmp/a.png"]),
        Thinking(session_id="s1", text="**Looking**"),
        Text(session_id="s1", text="## I see\n\n* `x`"),
        TurnEnded(
            session_id="s1",
            at=AT + timedelta(seconds=4.2),
            outcome="completed",
            usage=Usage(530, 120, 0, 60),
        ),
        TurnStarted(session_id="s1"),
        TurnEnded(session_id="s1", outcome="interrupted"),
        SessionEnded(session_id="s1", reason="eof"),
    ) == page(
        """
        # codex 0.166.0

        `gpt-5.5` · `/w` · `s1`

        ## Turn 1

        > Fix it.
        >
        > Then explain.
        >
        > [image: /tmp/a.png]

        <details>
        <summary>Thinking</summary>

        **Looking**

        </details>

        ## I see

        * `x`

        **✓ completed** · 530 in (120 cached) · 60 out · 4.2 s

        ## Turn 2

        **■ interrupted**

        *Session ended:* `eof`
        """
    )


def test_a_turn_begins_with_its_prompt_if_that_comes_first() -> None:
    assert markdown(
        Prompt(text="one"),
        TurnStarted(),
        TurnEnded(outcome="completed"),
        Prompt(text="two"),
        Text(text="ok"),
    ) == page(
        """
        ## Turn 1

        > one

        **✓ completed**

        ## Turn 2

        > two

        ok
        """
    )


def test_a_turn_that_never_ended_ends_with_the_next() -> None:
    assert markdown(TurnStarted(), TurnStarted()) == "## Turn 1\n\n## Turn 2\n"


def test_a_header_comes_again_only_when_it_has_changed() -> None:
    first = SessionStarted(harness="codex")

    assert markdown(first, first, SessionStarted(harness="codex", model="b")) == page(
        """
        # codex

        # codex

        `b`
        """
    )


def test_commands_and_their_output_are_fences() -> None:
    assert in_turn(
        call("c1", "Bash", command="make\nmake test"),
        ToolResult(call_id="c1", output="no\n", is_error=True, exit_code=2),
    ) == page(
        """
        ```sh
        make
        make test
        ```

        ```text
        no
        ```

        **✗ exit 2**
        """
    )


def test_a_long_output_is_folded() -> None:
    shown = in_turn(
        call("c1", "Bash", command="seq 30"),
        ToolResult(call_id="c1", output="".join(f"{n}\n" for n in range(30))),
    )

    assert "<details>\n<summary>30 lines</summary>\n\n```text\n0\n1\n" in shown
    assert shown.endswith("\n29\n```\n\n</details>\n")


def test_results_that_do_not_follow_their_call_name_it() -> None:
    assert in_turn(
        call("c1", "Read", file_path="a"),
        call("c2", "Bash", command="echo `date`"),
        ToolResult(call_id="c1", output="A"),
        ToolResult(call_id="c2", status="declined", is_error=True),
        ToolResult(call_id="c3", output=""),
    ) == page(
        """
        **Read** `a`

        ```sh
        echo `date`
        ```

        *Result of* `Read(a)`

        ```text
        A
        ```

        *Result of* `` $ echo `date` ``

        **✗ declined**
        """
    )


def test_a_result_that_comes_after_its_turn_still_names_its_call() -> None:
    shown = in_turn(
        call("c1", "Bash", command="make"),
        ToolResult(call_id="c1", status="abandoned", is_error=True),
        TurnEnded(outcome="interrupted"),
        ToolResult(call_id="c1", output="done"),
    )

    assert shown.endswith("## Turn 2\n\n*Result of* `$ make`\n\n```text\ndone\n```\n")


def test_a_result_of_another_session_does_not_belong_to_the_call_above_it() -> None:
    shown = markdown(
        ToolCall(session_id="a", call_id="c1", tool="Bash", native_tool="shell"),
        ToolCall(session_id="b", call_id="c1", tool="Read", native_tool="read"),
        ToolResult(session_id="a", call_id="c1", output="A"),
    )

    assert shown.endswith("*In session* `a`\n\n*Result of* `Bash()`\n\n```text\nA\n```\n")


def test_what_says_nothing_is_not_shown() -> None:
    assert markdown(Text(text="\n"), Thinking(text=" "), Prompt(text=""), Plan()) == ""


def test_edits_are_diffs() -> None:
    changes = [
        {"path": "a.py", "kind": "update", "diff": "@@ -1 +1 @@\n-x\n+y\n"},
        {"path": "b.py", "kind": "delete"},
    ]

    assert in_turn(call("c1", "Edit", changes=changes)) == page(
        """
        **Edit** `a.py` (update)

        ```diff
        @@ -1 +1 @@
        -x
        +y
        ```

        **Edit** `b.py` (delete)
        """
    )


def test_other_calls_are_a_line_or_json() -> None:
    assert in_turn(
        call("c1", "WebSearch", query="weather"),
        call("c2", "mcp__db__list"),
        call("c3", "Grep", pattern="x", path="src"),
    ) == page(
        """
        **WebSearch** `weather`

        **mcp__db__list**

        **Grep**

        ```json
        {
          "pattern": "x",
          "path": "src"
        }
        ```
        """
    )


def test_a_plan_is_a_task_list() -> None:
    steps = [PlanStep("look", "completed"), PlanStep("leap", "in_progress"), PlanStep("a\nb")]

    assert in_turn(Plan(steps=steps, explanation="Nearly there")) == page(
        """
        **Plan**

        Nearly there

        - [x] look
        - [ ] **leap**
        - [ ] a b
        """
    )


def test_a_plan_is_not_shown_twice_while_its_call_is_open() -> None:
    todo = call("c1", "TodoWrite", todos=[{"content": "look", "status": "pending"}])
    plan = Plan(steps=[PlanStep("look")])

    assert in_turn(todo, plan, ToolResult(call_id="c1", output="ok")) == (
        "**Plan**\n\n- [ ] look\n"
    )


def test_approvals_notices_and_compaction_are_lines() -> None:
    assert in_turn(
        ApprovalRequested(approval_id="a1", kind="command", summary="rm x", choices=["yes", "no"]),
        ApprovalSettled(approval_id="a1", decision="no"),
        ApprovalRequested(approval_id="a2", kind="tool"),
        Notice(level="warning", text="slow <!--", will_retry=True),
        Compacted(),
        Compacted(summary="so far"),
    ) == page(
        """
        **Approval requested** (command): `rm x` — `yes` / `no`

        **Approval settled**: `no`

        **Approval requested** (tool): `a2`

        **Warning, will retry:** slow &lt;!--

        *Conversation compacted*

        <details>
        <summary>Conversation compacted</summary>

        so far

        </details>
        """
    )


def test_a_decision_that_does_not_follow_its_question_names_it() -> None:
    shown = in_turn(
        ApprovalRequested(approval_id="a1", kind="command", summary="rm x"),
        ApprovalRequested(approval_id="a2", kind="question", tool="AskUserQuestion"),
        ApprovalSettled(approval_id="a1", decision="deny"),
        ApprovalSettled(approval_id="a3", decision="allow"),
    )

    assert shown == page(
        """
        **Approval requested** (command): `rm x`

        **Approval requested** (question): `AskUserQuestion`

        **Approval settled** (`rm x`): `deny`

        **Approval settled** (`a3`): `allow`
        """
    )


def test_an_error_is_a_fence_below_the_outcome() -> None:
    error = TurnError("server", "busy\n```", retryable=True)

    assert in_turn(TurnEnded(outcome="failed", error=error)) == page(
        """
        **✗ failed**

        ````text
        busy
        ```
        ````
        """
    )


def test_sub_agents_have_smaller_headings_and_speakers_are_named_when_they_change() -> None:
    assert markdown(
        SessionStarted(session_id="s", harness="codex"),
        ToolCall(session_id="s", call_id="t1", tool="Task", native_tool="spawn_agent"),
        SessionStarted(session_id="c", harness="codex", parent_session_id="s"),
        TurnStarted(session_id="c"),
        Text(session_id="c", text="one"),
        Notice(level="info", text="by the way"),
        Notice(session_id="s", level="info", text="back"),
    ) == page(
        """
        # codex

        `s`

        ## Turn 1

        **Task**

        ### Sub-agent: codex

        `c`

        #### Turn 1

        one

        **Info:** by the way

        *In session* `s`

        **Info:** back
        """
    )


def test_a_session_that_goes_on_from_another_is_not_called_a_sub_agent() -> None:
    shown = markdown(
        SessionStarted(session_id="s", harness="codex"),
        SessionStarted(session_id="fork", harness="codex", parent_session_id="s"),
        TurnStarted(session_id="fork"),
    )

    assert shown.endswith("### Session: codex\n\n`fork`\n\n#### Turn 1\n")


def test_what_is_not_asked_for_is_left_out() -> None:
    more: list[Message] = [
        Context(role="<b>", text="be </details> careful"),
        Unknown(native_type="new", raw='{"type":"new"}'),
        Malformed(raw="oops", problem="not JSON"),
        Delta(of="text", text="He"),
        Diff(unified="diff"),
    ]

    assert markdown(*more) == ""
    assert markdown(*more, include=frozenset({"context", "deltas", "raw"})) == page(
        """
        <details>
        <summary>Context (&lt;b>)</summary>

        be &lt;/details> careful

        </details>

        *Unknown:* `new`

        ```json
        {"type":"new"}
        ```

        *Not JSON:* `not JSON`

        ```text
        oops
        ```
        """
    )


def test_thinking_cannot_leave_its_fold() -> None:
    shown = in_turn(Thinking(text="a < b </details>\n<!-- <script>\n~~~py\nx"))

    assert shown == page(
        """
        <details>
        <summary>Thinking</summary>

        a < b &lt;/details>
        &lt;!-- &lt;script>
        ~~~py
        x
        ~~~

        </details>
        """
    )


def test_what_is_said_cannot_hide_what_follows() -> None:
    shown = in_turn(
        Prompt(text="what is <b>?\n<!--"),
        Text(text="`<i>` or Vec<T>\n\n```\n<pre>"),
        Notice(level="info", text="```\n<b>"),
    )

    assert shown == page(
        """
        > what is &lt;b>?
        > &lt;!--

        `<i>` or Vec&lt;T>

        ```
        <pre>
        ```

        **Info:** ```
        &lt;b>
        """
    )


def test_control_characters_are_shown() -> None:
    assert in_turn(Text(text="\x1b[2J\u202e")) == "␛[2J\\u202e\n"
