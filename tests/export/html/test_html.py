from __future__ import annotations

import base64
import re
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dragoman.export.base import Options
from dragoman.export.html.exporter import HtmlExporter
from dragoman.export.html.flow import Flow
from dragoman.export.html.page import style_sheet
from dragoman.html import calls, conversation, diffs
from dragoman.html.images import InlineImages
from dragoman.html.output import output
from dragoman.html.pieces import Html, element
from dragoman.html.prose import prose
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Context,
    Diff,
    Message,
    Notice,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
)
from dragoman.model.turns import Use
from dragoman.model.usage import Usage
from dragoman.reading.read import read
from dragoman.rendering import render
from support.hostile import inspect

AT = datetime(2026, 11, 15, 22, 26, 6, tzinfo=UTC)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def page(*messages: Message, options: Options | None = None) -> str:
    exporter = HtmlExporter(options or Options())
    return (exporter.export(messages) + exporter.finish()).decode()


def body(*messages: Message) -> str:
    """What stands between the head of the page and the sums."""
    whole = page(*messages)
    inspect(whole)
    return whole.partition("<main>\n")[2].partition("</main>")[0]


def call(call_id: str, tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(call_id=call_id, tool=tool, native_tool=tool, input=arguments)


def words(html: str) -> str:
    return " ".join(re.sub("<[^>]*>", " ", html).split())


def test_a_recording_gives_the_page_that_is_kept(
    data: Path, request: pytest.FixtureRequest
) -> None:
    source = data.parents[1] / "examples" / "recordings" / "fix-the-test.rollout.jsonl"
    golden = data / "export" / "fix-the-test.html"
    made = re.sub("<style>.*</style>", "<style></style>", page(*read(source)), flags=re.DOTALL)
    made = re.sub(r"sha256-[\w+/=]*", "sha256-", made)
    if request.config.getoption("--update-golden"):
        golden.write_text(made, encoding="utf-8")

    assert made == golden.read_text(encoding="utf-8")


def test_every_recording_gives_a_sound_page(runs: Path) -> None:
    for path in sorted(runs.glob("0.1[46]*/*.jsonl")):
        inspect(page(*read(path)))


def test_a_page_needs_nothing_but_itself() -> None:
    whole = page(Prompt(text="hi"))

    assert "default-src &#x27;none&#x27;" in whole
    assert not re.search(r"<script|<link|url\(|@import|style=", whole)
    assert "</" not in style_sheet()


def test_the_first_prompt_names_the_page_and_each_one_its_turn() -> None:
    whole = page(
        SessionStarted(harness="h", version="1", model="m", cwd="/w", session_id="s"),
        TurnStarted(session_id="s", at=AT),
        Prompt(session_id="s", text="Fix the  test\nnow"),
        TurnEnded(session_id="s", outcome="completed"),
        TurnStarted(session_id="s"),
        Prompt(session_id="s", text="And the other"),
        TurnEnded(session_id="s", outcome="failed"),
    )

    assert "<title>Fix the test now</title>" in whole
    assert re.findall(r'<li class="(\w+)"><a href="#(turn-\d)">', whole) == [
        ("completed", "turn-1"),
        ("failed", "turn-2"),
    ]
    assert 'id="turn-2"' in whole
    assert "h 1" in whole


def test_a_call_and_its_result_are_one_card_even_when_others_come_between() -> None:
    shown = body(
        call("a", "Bash", command="sleep 1; echo one"),
        call("b", "Bash", command="echo two"),
        ToolResult(call_id="b", output="two\n", exit_code=0),
        ToolResult(call_id="a", output="one\n", exit_code=3, is_error=True, duration_ms=1200),
        Text(text="done"),
    )

    assert words(shown) == (
        "Turn 1 Command # 1.2 s exit 3 $ sleep 1; echo one one"
        " Command # exit 0 $ echo two two # done"
    )
    assert shown.count("use command bad") == shown.count("use command ok") == 1


def test_a_result_that_comes_after_its_turn_names_its_call() -> None:
    shown = body(
        call("a", "Bash", command="make"),
        TurnEnded(outcome="interrupted"),
        ToolResult(call_id="a", output="made"),
    )

    assert "no result" in shown
    assert "Result of $ make # made" in words(shown)


def test_an_approval_waits_for_its_decision() -> None:
    asked = ApprovalRequested(approval_id="a", kind="command", summary="rm -rf build")

    assert 'class="approval yes"' in body(
        asked, ApprovalSettled(approval_id="a", decision="accept")
    )
    assert 'class="approval no"' in body(
        asked, ApprovalSettled(approval_id="a", decision="decline")
    )
    assert "not answered" in body(asked)


def test_a_sub_agent_is_shown_inside_the_session_that_started_it() -> None:
    shown = body(
        SessionStarted(session_id="p", harness="h"),
        Prompt(session_id="p", text="go"),
        ToolCall(
            session_id="p", call_id="t", tool="Task", native_tool="x", input={"prompt": "add"}
        ),
        ToolResult(session_id="p", call_id="t"),
        SessionStarted(session_id="c", harness="h", parent_session_id="p"),
        TurnStarted(session_id="c"),
        Text(session_id="c", text="child one"),
        Text(session_id="p", text="parent meanwhile"),
        Text(session_id="c", text="child two"),
        TurnEnded(session_id="c", outcome="completed"),
        TurnEnded(session_id="p", outcome="completed"),
    )

    inner = shown.partition('<details class="agent" open>')[2].partition("</details>")[0]
    assert "child one" in inner
    assert "child two" in inner
    assert "parent meanwhile" not in inner
    assert shown.count("<h2>") == 1


def test_a_session_that_goes_on_from_another_is_told_apart() -> None:
    shown = body(
        SessionStarted(session_id="p", harness="h"),
        Prompt(session_id="p", text="go"),
        TurnEnded(session_id="p", outcome="completed"),
        SessionStarted(session_id="f", harness="h", parent_session_id="p"),
        Prompt(session_id="f", text="go on"),
    )

    assert '<p class="divider">Session f</p>' in shown
    assert 'id="turn-2"' in shown


def test_context_is_left_out_unless_it_is_asked_for() -> None:
    said = Context(role="developer", text="be careful")

    assert "be careful" not in page(Prompt(text="x"), said)
    included = Options(include=frozenset({"context"}))
    assert "be careful" in page(Prompt(text="x"), said, options=included)


def test_the_last_diff_of_a_turn_is_shown_at_its_end() -> None:
    shown = body(
        Prompt(text="x"),
        Diff(unified="diff --git a/x b/x\n@@ -1 +1 @@\n-old\n+older\n"),
        Diff(unified="diff --git a/x b/x\nnew file mode 100644\n@@ -0,0 +1 @@\n+new\n"),
        TurnEnded(outcome="completed"),
    )

    assert "All changes of this turn, 1 file x new +1" in words(shown)
    assert "older" not in shown


def test_sums_are_told_with_cost_if_somebody_knows_it() -> None:
    said = [
        SessionStarted(session_id="s", harness="h", model="m"),
        Prompt(session_id="s", text="x", at=AT),
        UsageReport(
            session_id="s", total=Usage(1200, 200, 0, 34), last=Usage(100), context_window=400
        ),
        TurnEnded(session_id="s", outcome="completed", at=AT + timedelta(seconds=65)),
    ]

    shown = words(page(*said, options=Options(price=lambda model, usage: f"$1 for {model}")))

    assert "Took 1 min 05 s" in shown
    assert "Input tokens 1,200 of them cached 200 Output tokens 34" in shown
    assert "Context 100 of 400 (25 %)" in shown
    assert "Cost $1 for m" in shown
    assert "Cost" not in words(page(*said))


def _many(count: int) -> Iterator[Message]:
    yield SessionStarted(session_id="s", harness="h")
    line = 1
    for number in range(count):
        yield TurnStarted(session_id="s", line=(line := line + 1))
        yield Prompt(session_id="s", text=f"turn {number}", line=(line := line + 1))
        for each in range(20):
            yield ToolCall(
                session_id="s",
                call_id=f"{number}-{each}",
                tool="Bash",
                native_tool="x",
                input={"command": "cat"},
                line=(line := line + 1),
            )
            if each % 5:
                yield ToolResult(session_id="s", call_id=f"{number}-{each}", output="word " * 2000)
        yield TurnEnded(session_id="s", outcome="completed", line=(line := line + 1))


def test_a_page_of_any_length_is_made_in_little_memory() -> None:
    exporter = HtmlExporter(Options())
    written = 0
    tracemalloc.start()
    for message in _many(40):
        written += len(exporter.export([message]))
    written += len(exporter.finish())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert written > 6_000_000
    assert most < 4_000_000


def test_calls_that_nobody_answers_do_not_hold_up_the_page() -> None:
    exporter = HtmlExporter(Options())
    exporter.export([Prompt(text="x"), call("never", "Bash", command="sleep inf")])

    pieces = [exporter.export([Text(text="word " * 2000)]) for _ in range(1000)]

    assert sum(map(len, pieces)) > 5_000_000
    assert b"Result of" in exporter.export([ToolResult(call_id="never", output="late")])


def test_a_group_is_written_before_what_comes_after_it() -> None:
    flow = Flow()
    group = flow.begin(flow.root, Html("<g>"), Html("</g>"))
    flow.add(flow.root, Html("after"))
    flow.add(group, Html("in"))

    assert flow.drain() == "<g>in"
    flow.end(group)
    assert flow.drain() == "</g>after"


# Pieces.


def test_text_is_escaped_and_markup_of_ours_is_not() -> None:
    assert element("p", "<b>", Html("<i>"), class_='"x"', hidden=True, id=None) == (
        '<p class="&quot;x&quot;" hidden>&lt;b&gt;<i></p>'
    )


def test_long_output_is_folded_between_its_ends() -> None:
    shown = output("\n".join(f"line {number}" for number in range(100)))

    assert "84 more lines" in shown
    visible = re.sub("<details.*</details>", "", shown, flags=re.DOTALL)
    assert "line 7\n" not in visible.partition("line 92")[2]
    assert "line 0\n" in visible
    assert "line 99" in visible
    assert "line 50" not in visible


def test_output_that_no_page_can_hold_says_how_much_is_left_out() -> None:
    shown = output("x\n" * 400_000)

    assert "characters left out" in shown
    assert len(shown) < 500_000


def test_colours_of_a_terminal_are_classes_and_all_else_is_gone() -> None:
    shown = output(
        "\x1b[1;31mred\nstill\x1b[0m \x1b[38;5;196mpalette\x1b[39m\x1b[2K\x1b]0;title\x07end"
    )

    assert '<span class="ansi-bold ansi-red">red</span>\n' in shown
    assert '<span class="ansi-bold ansi-red">still</span> paletteend' in shown


def test_a_diff_has_line_numbers_counts_and_what_differs() -> None:
    shown = diffs.change(
        render.Change("a.py", "update", ["@@ -3,2 +3,2 @@", " x = 1", "-y = old()", "+y = new()"])
    )

    assert '<span class="plus">+1</span> <span class="minus">\u22121</span>' in shown
    assert '<span class="same" data-o="3" data-n="3"> x = 1\n</span>' in shown
    assert '<span class="del" data-o="4">-y = <span class="word">old</span>()\n</span>' in shown
    assert '<span class="add" data-n="4">+y = <span class="word">new</span>()\n</span>' in shown


def test_a_unified_diff_is_told_file_by_file() -> None:
    files = diffs.split(
        "diff --git a/x b/y\nsimilarity index 90%\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"
        "diff --git a/z b/z\ndeleted file mode 100644\n--- a/z\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
    )

    assert [(each.path, each.kind, each.lines) for each in files] == [
        ("x → y", "update", ["@@ -1 +1 @@", "-a", "+b"]),
        ("z", "delete", ["@@ -1 +0,0 @@", "-gone"]),
    ]


def test_an_image_is_shown_once_and_only_if_it_is_one() -> None:
    images = InlineImages()

    assert f'src="data:image/png;base64,{PIXEL}"' in images.show(
        f"data:image/gif;base64,{PIXEL}", "m1"
    )
    assert 'href="#m1"' in images.show(f"data:image/gif;base64,{PIXEL}", "m2")
    svg = base64.b64encode(b"<svg onload=alert(1)>").decode()
    assert "<img" not in images.show(f"data:image/svg+xml;base64,{svg}")
    assert "<img" not in images.show("https://host/x.png")
    assert "<img" not in InlineImages(most=10).show(f"data:image/png;base64,{PIXEL}")


def test_prose_is_markdown() -> None:
    shown = prose(
        "# Title\n\n1. **one** `code`\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |\n\nsee https://x.org/a."
    )

    assert shown == (
        '<div class="prose"><h3>Title</h3><ol><li><strong>one</strong> <code>code</code></li></ol>'
        '<table><thead><tr><th class="to-center">a</th><th class="to-right">b</th></tr></thead>'
        '<tbody><tr><td class="to-center">1</td><td class="to-right">2</td></tr></tbody></table>'
        '<p>see <a href="https://x.org/a" rel="noopener noreferrer nofollow">https://x.org/a</a>.</p>'
        "</div>"
    )


def test_a_thought_shows_its_title_and_folds_the_rest() -> None:
    assert "<summary>" in conversation.thinking(Thinking(text="**Looking**\n\nat it"))
    assert "<summary>" not in conversation.thinking(Thinking(text="**Looking**"))


@pytest.mark.parametrize(
    ("status", "state"),
    [("completed", "ok"), ("failed", "bad"), ("declined", "declined"), ("abandoned", "abandoned")],
)
def test_a_card_tells_what_became_of_the_call(status: Any, state: str) -> None:
    result = ToolResult(call_id="a", status=status, is_error=status != "completed")

    assert f'class="use mcp {state}"' in calls.use(Use(call("a", "mcp__s__t", x=1), result))
    assert 'class="use mcp open"' in calls.use(Use(call("a", "mcp__s__t", x=1)))


def test_a_notice_says_if_it_will_be_tried_again() -> None:
    assert "will retry" in conversation.notice(
        Notice(level="warning", text="busy", will_retry=True)
    )
