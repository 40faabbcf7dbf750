from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Delta,
    Diff,
    Message,
    Plan,
    PlanStep,
    RateLimits,
    RateWindow,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
)
from dragoman.model.usage import Usage
from dragoman.web.page.fragments import fragments
from support.hostile import messages
from support.page.checks import check
from support.page.scenes import long, shop
from support.page.stage import Said

AT = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)


def said(*messages: Message, first: int = 1) -> list[Said]:
    return [Said(seq, AT, message) for seq, message in enumerate(messages, first)]


def html(*messages: Message, session_id: str | None = None) -> list[str]:
    return [each.html for each in fragments(said(*messages), session_id)]


CALL = ToolCall(call_id="c1", tool="Bash", native_tool="shell", input={"command": "ls"})
RESULT = ToolResult(call_id="c1", output="a.txt", exit_code=0)
ASKED = ApprovalRequested(approval_id="a1", kind="command", summary="ls", choices=["allow", "deny"])


def test_every_entry_has_a_fragment_so_that_the_cursor_moves() -> None:
    entries = said(*shop(), Delta(of="text", text="x"))

    made = fragments(entries, "shop")

    assert [each.seq for each in made] == [each.seq for each in entries]
    assert made[-1].html == ""
    assert msgspec.json.decode(msgspec.json.encode(made))[0]["seq"] == 1


def test_a_piece_says_its_place_kind_time_and_turn() -> None:
    [piece] = html(Text(text="Hi <b>", message_id="m", turn_id="t", session_id="s"))

    assert piece.startswith('<div class="entry is-text" data-seq="1" data-kind="text" ')
    assert 'data-at="2026-11-03T12:00:00+00:00" data-turn="t" data-message="m"' in piece
    assert 'id="e1"' in piece
    assert "Hi &lt;b&gt;" in piece


def test_a_result_in_the_same_stretch_is_in_its_calls_card() -> None:
    card, nothing = html(CALL, RESULT)

    assert 'data-call="c1"' in card
    assert "exit 0" in card
    assert "a.txt" in card
    assert nothing == ""


def test_a_result_alone_names_its_call() -> None:
    [late] = html(RESULT)

    assert 'data-result="c1"' in late
    assert "use tool late ok" in late


def test_a_call_alone_is_open() -> None:
    [card] = html(CALL)

    assert "use command open" in card


def test_an_open_request_brings_its_form_and_a_settled_one_does_not() -> None:
    [open_card] = html(ASKED)
    settled_card, settled = html(ASKED, ApprovalSettled(approval_id="a1", decision="allow"))
    [alone] = html(ApprovalSettled(approval_id="a1", decision="deny"))

    assert "<template><form" in open_card
    assert "<template>" not in settled_card
    assert 'data-settles="a1"' in settled
    assert settled.startswith('<div class="fact"')
    assert 'data-settles="a1" data-decision="deny"' in alone


def test_words_of_another_session_are_a_sub_agents() -> None:
    started = SessionStarted(
        session_id="sub", parent_session_id="main", harness="agent", model="small"
    )

    own, first, words = html(
        Text(session_id="main", text="a"), started, Text(session_id="sub", text="b")
    )

    assert "data-agent" not in own
    assert 'data-agent="sub" data-parent="main" data-title="small"' in first
    assert 'data-agent="sub"' in words
    assert "data-agent" in html(Text(session_id="sub", text="b"), session_id="main")[0]


def test_tokens_and_allowances_are_facts_that_nobody_sees() -> None:
    usage, limits = html(
        UsageReport(total=Usage(10, 4, 0, 3, 1), last=Usage(5, 0, 0, 2, 0), context_window=100),
        RateLimits(windows=[RateWindow("weekly", 12.5, AT)]),
    )

    assert usage.startswith('<div class="fact" hidden ')
    assert 'data-in="10" data-cached="4" data-out="3" data-context="7" data-window="100"' in usage
    assert 'data-name="weekly" data-percent="12.5"' in limits
    assert limits.startswith('<div class="fact" hidden ')


def test_of_a_turns_diffs_only_the_last_is_shown() -> None:
    diffs = [
        Diff(turn_id="t", unified=f"diff --git a/x b/x\n@@ -1 +1 @@\n-{n}\n+b\n") for n in (1, 2)
    ]

    first, second = html(*diffs)

    assert first == ""
    assert "All changes of this turn, 1 file" in second


def test_a_plan_is_not_shown_twice() -> None:
    call = ToolCall(
        call_id="p",
        tool="TodoWrite",
        native_tool="update_plan",
        input={"plan": [{"step": "Look", "status": "pending"}]},
    )

    card, plan = html(call, Plan(steps=[PlanStep("Look")]))

    assert "Look" in card
    assert plan == ""


def test_the_end_of_a_turn_says_how_long_it_took() -> None:
    end = TurnEnded(outcome="failed", at=AT.replace(second=9))

    _, shown = html(TurnStarted(at=AT), end)

    assert "9.0 s" in shown
    assert 'data-outcome="failed"' in shown


def test_nothing_hostile_gets_out_of_its_place() -> None:
    for piece in fragments(said(*messages())):
        assert check(piece.html).scripts == [], piece.seq


def test_a_window_costs_what_it_holds() -> None:
    entries = said(*long(400))

    whole = fragments(entries, "long")
    parts = fragments(entries[:200], "long") + fragments(entries[200:], "long")

    assert len(whole) == len(parts) == 400
