"""Watching a session: what is said comes, once, in its place, whatever happens to the connection."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from dragoman.model.messages import (
    Delta,
    Message,
    Prompt,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
)
from dragoman.web.page.rows import TurnMark
from support.page.scenes import long, shop
from support.page.stage import Stage

from .conftest import Tabs, until

ID: dict[str, Any] = {"session_id": "s", "turn_id": "t"}
BEGIN: list[Message] = [
    SessionStarted(session_id="s", harness="agent", model="m"),
    TurnStarted(**ID),
    Prompt(**ID, text="Go."),
]


_STILL = """(() => {
    const { scrollTop, dataset } = document.getElementById("scroller");
    const count = dataset.was === String(scrollTop) ? Number(dataset.still ?? 0) + 1 : 0;
    Object.assign(dataset, { was: scrollTop, still: count % 6 });
    return count >= 5;
})()"""
"""Nothing has moved for a few frames."""


def live(page: Page) -> Page:
    page.wait_for_selector("#connection[data-state=live]", state="attached")
    return page


def painted(page: Page) -> float:
    """When something was first seen, in milliseconds."""
    return page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")


def test_a_session_is_shown_with_all_its_kinds_of_cards(stage: Stage, tabs: Tabs) -> None:
    stage.say(stage.session("shop"), *shop())

    page = live(tabs.open(f"{stage.url}/s/shop"))

    expect(page.locator("#log .use.command.bad .exit")).to_have_text("exit 1")
    expect(page.locator("#log .use.search")).to_have_count(1)
    expect(page.locator("#log .use.mcp .name")).to_have_text("tracker › get_issue")  # noqa: RUF001
    expect(page.locator("#log .use.edit details.diff")).to_have_count(2)
    expect(page.locator("#log .is-plan")).to_have_count(1)
    expect(page.locator("#plan li.completed")).to_have_count(2)
    expect(page.locator("#context-words")).to_have_text("14 % of 272K tokens")
    expect(page.locator("#limits .window")).to_have_count(2)
    expect(page.locator("#limits time").first).to_contain_text("resets in 2 h")
    expect(page.locator("#turns li.completed")).to_have_count(1)


def test_text_streams_and_is_replaced_by_the_whole(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("s", state="working")
    stage.say(session, *BEGIN)
    page = live(tabs.open(f"{stage.url}/s/s"))

    stage.say(session, Delta(**ID, of="thinking", text="Hm."))
    expect(page.locator(".live-thinking .streaming")).to_have_text("Hm.")
    for piece in ("Some **wo", "rds** <b>here</b>"):
        stage.say(session, Delta(**ID, of="text", message_id="m1", text=piece))
    expect(page.locator(".live-text .streaming")).to_have_text("Some **words** <b>here</b>")

    stage.say(session, Text(**ID, message_id="m1", text="Some **words** <b>here</b>"))
    expect(page.locator("#log .text strong")).to_have_text("words")
    expect(page.locator("#live .live-text")).to_have_count(0)
    stage.say(session, TurnEnded(**ID, outcome="completed"))
    expect(page.locator("#state")).to_have_text("done")
    expect(page.locator("#live > *")).to_have_count(0)


def test_a_command_is_seen_while_it_runs_and_gets_its_result(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("s", state="working")
    stage.say(session, *BEGIN)
    page = live(tabs.open(f"{stage.url}/s/s"))

    call = ToolCall(**ID, call_id="c", tool="Bash", native_tool="x", input={"command": "make"})
    stage.say(session, call)
    expect(page.locator(".use.command.running .exit")).to_contain_text("running")
    stage.say(session, Delta(**ID, of="output", message_id="c", text="cc \x1b[31mmain.c\x1b[0m\n"))
    expect(page.locator(".use.command .output.live")).to_have_text("cc main.c\n")

    stage.say(session, ToolResult(**ID, call_id="c", output="cc main.c\nok", exit_code=0))
    card = page.locator(".use.command.ok")
    expect(card.locator(".exit")).to_have_text("exit 0")
    expect(card.locator(".output")).to_have_count(1)
    expect(card.locator(".output")).to_contain_text("ok")
    expect(page.locator("#log [data-result]")).to_have_count(0)


def test_what_a_command_says_before_its_card_is_there_is_not_lost(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("s", state="working")
    stage.say(session, *BEGIN)
    page = live(tabs.open(f"{stage.url}/s/s"))

    # A colour may come in two pieces, and must not be taken for words.
    for piece in ("one \x1b[3", "1mtwo\x1b[0m\n"):
        stage.say(session, Delta(**ID, of="output", message_id="c", text=piece))
    stage.say(session, Delta(**ID, of="text", message_id="m", text="Heard."))
    expect(page.locator(".live-text .streaming")).to_have_text("Heard.")
    call = ToolCall(**ID, call_id="c", tool="Bash", native_tool="x", input={"command": "make"})
    stage.say(session, call)
    expect(page.locator(".use.command .output.live")).to_have_text("one two\n")
    stage.say(session, Delta(**ID, of="output", message_id="c", text="three\n"))
    expect(page.locator(".use.command .output.live")).to_have_text("one two\nthree\n")


def test_a_turn_that_nobody_had_spoken_in_gets_its_name(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("s", state="working", turns=[TurnMark(seq=2)])
    stage.say(session, *BEGIN[:2])
    page = live(tabs.open(f"{stage.url}/s/s"))
    expect(page.locator("#turns li")).to_have_text(["Turn 1"])

    for words in ("Paint the shed", "in green"):  # the second is a word to the same turn
        stage.say(session, Prompt(**ID, text=words))
    expect(page.locator("#log .is-prompt")).to_have_count(2)
    expect(page.locator("#turns li")).to_have_text(["Paint the shed"])


def test_a_link_to_a_turn_leads_there(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("long")
    stage.say(session, *long(400))
    begun = [each.seq for each in session.entries if isinstance(each.message, TurnStarted)]
    session.turns = [TurnMark(seq=seq, title=f"Turn {seq}") for seq in begun]

    page = live(tabs.open(f"{stage.url}/s/long#t2"))

    expect(page.locator(f"#log [data-seq='{begun[1]}']")).to_be_focused()


def test_a_link_to_a_turn_works_however_many_there_are(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("long", state="done")
    for number in range(1, 701):
        where: dict[str, Any] = {"session_id": "long", "turn_id": f"t{number}"}
        session.turns.append(TurnMark(seq=len(session.entries) + 1, outcome="completed"))
        stage.say(session, TurnStarted(**where), Prompt(text=f"Ask {number}", **where))
        stage.say(session, TurnEnded(outcome="completed", **where))

    page = live(tabs.open(f"{stage.url}/s/long#t8"))

    expect(page.locator("#log .is-prompt", has_text="Ask 8").first).to_be_in_viewport()
    page.evaluate("location.hash = '#t650'")
    expect(page.locator("#log .is-prompt", has_text="Ask 650")).to_be_in_viewport()
    page.evaluate("location.hash = '#t1'")
    expect(page.locator("#log .is-prompt", has_text="Ask 1").first).to_be_in_viewport()


def test_what_is_beside_the_conversation_is_put_away_with_escape_on_a_phone(
    stage: Stage, tabs: Tabs
) -> None:
    stage.say(stage.session("shop", state="working"), *shop()[:-1])
    page = live(tabs.open(f"{stage.url}/s/shop", width=390, height=844))
    button = page.locator("[data-act=details]")
    expect(page.locator("#rail")).to_be_hidden()

    button.click()
    expect(page.locator("#rail")).to_be_visible()
    expect(page.locator("#rail")).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Escape")
    expect(page.locator("#rail")).to_be_hidden()
    expect(button).to_be_focused()
    assert stage.asked == []  # above all, nothing was interrupted


def test_a_reload_in_the_middle_of_a_turn_loses_nothing(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("s", state="working")
    stage.say(session, *BEGIN, Text(**ID, text="One."))
    page = live(tabs.open(f"{stage.url}/s/s"))
    page.fill("#words", "half a thou")

    stage.say(session, Text(**ID, text="Two."))
    page.reload()
    stage.say(session, Text(**ID, text="Three."))

    expect(page.locator("#log .is-text .prose")).to_have_text(["One.", "Two.", "Three."])
    expect(page.locator("#words")).to_have_value("half a thou")
    expect(page.locator("#state")).to_have_text("working")


def test_what_was_said_while_the_server_was_away_comes_once_and_in_order(
    stage: Stage, tabs: Tabs
) -> None:
    session = stage.session("s", state="working")
    stage.say(session, *BEGIN)
    page = live(tabs.open(f"{stage.url}/s/s"))

    stage.is_down = True
    stage.cut()
    expect(page.locator("#connection")).to_have_text("Reconnecting …")
    stage.say(session, Text(**ID, text="One."), Text(**ID, text="Two."))
    stage.is_down = False

    expect(page.locator("#log .is-text .prose")).to_have_text(["One.", "Two."])
    expect(page.locator("#connection")).to_have_text("")
    stage.say(session, Text(**ID, text="Three."))
    expect(page.locator("#log .is-text .prose")).to_have_text(["One.", "Two.", "Three."])


def test_a_sub_agents_words_stand_in_its_group(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("s", state="working")
    sub: dict[str, Any] = {"session_id": "sub", "turn_id": "u"}
    stage.say(session, *BEGIN, Text(**ID, text="I send someone."))
    page = live(tabs.open(f"{stage.url}/s/s"))

    stage.say(
        session,
        SessionStarted(session_id="sub", parent_session_id="s", harness="agent", model="small"),
        Text(**sub, text="Looking."),
        Text(**ID, text="Meanwhile."),
        Text(**sub, text="Found it."),
    )

    group = page.locator("#log > details.agent")
    expect(group).to_have_count(1)
    expect(group.locator("summary")).to_have_text("Sub-agent small")
    expect(group.locator(".is-text .prose")).to_have_text(["Looking.", "Found it."])
    expect(page.locator("#log > .is-text .prose")).to_have_text(["I send someone.", "Meanwhile."])


def test_a_session_of_twenty_thousand_entries_opens_at_its_end_and_pages(
    stage: Stage, tabs: Tabs
) -> None:
    session = stage.session("long", state="done")
    stage.say(session, *long(20_000))

    stage.say(stage.session("short"), *long(100))

    few = painted(live(tabs.open(f"{stage.url}/s/short")))
    page = live(tabs.open(f"{stage.url}/s/long"))
    assert page.locator("#log > *").count() < 200
    assert painted(page) < 3 * few + 1000  # both about 0.2 s on a machine of its own

    first = "Number(document.querySelector('#log [data-seq]').dataset.seq)"
    until(page, f"(document.getElementById('scroller').scrollTop = 0, {first} < 19000)")
    assert page.locator("#log > *").count() <= 900

    page.goto(f"{stage.url}/s/long#e7004")
    page.wait_for_selector("#e7004", state="attached", timeout=30_000)
    expect(page.locator("#e7004")).to_be_in_viewport()
    stage.say(session, Text(session_id="long", text="The newest of all."))
    page.click("#newest")
    expect(page.locator("#log >> text=The newest of all.")).to_be_in_viewport()


def test_someone_who_reads_is_not_pulled_away_by_what_is_said(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("long", state="working")
    stage.say(session, *long(300))
    page = live(tabs.open(f"{stage.url}/s/long"))

    page.hover("#scroller")
    page.mouse.wheel(0, -1200)
    until(page, _STILL)
    before = page.evaluate("document.getElementById('scroller').scrollTop")
    stage.say(session, Text(session_id="long", text="New words."))
    expect(page.locator("#log >> text=New words.")).to_be_attached()

    assert abs(page.evaluate("document.getElementById('scroller').scrollTop") - before) < 5
    expect(page.locator("#newest")).to_be_visible()


def test_changes_can_be_seen_side_by_side_and_one_below_the_other(stage: Stage, tabs: Tabs) -> None:
    stage.say(stage.session("shop"), *shop())
    page = live(tabs.open(f"{stage.url}/s/shop"))
    diff = page.locator("#log .use.edit details.diff").first

    diff.get_by_text("Side by side").click()
    rows = diff.locator(".split .row:not(.hunk)")
    expect(rows.nth(2).locator("span.del")).to_have_text("RATE = 0.2\n")
    expect(rows.nth(2).locator("span.add")).to_have_text('RATE = Decimal("0.20")\n')
    expect(diff.locator(".hunks")).to_be_hidden()

    diff.get_by_text("Side by side").click()
    expect(diff.locator(".hunks")).to_be_visible()
    expect(diff.locator(".split")).to_be_hidden()
