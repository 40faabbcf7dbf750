"""What agents say is shown, never run; the token leaves no trace; everybody can use the page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest
from playwright.sync_api import Page, expect

from dragoman.model.messages import Delta, Text
from dragoman.web.page.rows import PolicyView, TurnMark, UsageRow, UsageView
from support.hostile import WORDS, messages
from support.page.more_scenes import asking_a_question, asking_for_changes, with_a_helper
from support.page.offered import offered, other_choices
from support.page.scenes import asking, shop
from support.page.stage import Stage

from .conftest import Tabs, until

SCROLLER = "document.getElementById('scroller')"


def test_nothing_hostile_runs_and_nothing_leaves_this_machine(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("s", title=WORDS[0], cwd=WORDS[20], state="working", is_live=True)
    said = messages()
    stage.say(session, *said[: len(said) // 2])
    page = tabs.open(f"{stage.url}/s/s")
    page.wait_for_selector("#connection[data-state=live]", state="attached")
    stage.say(session, *said[len(said) // 2 :])
    for words in WORDS:
        stage.say(session, Delta(of="text", message_id="m", text=words[:5000]))
    stage.say(session, Text(session_id="s", text="That was all."))
    expect(page.locator("#log >> text=That was all.")).to_be_attached()
    until(page, f"({SCROLLER}.scrollTop = 0, document.getElementById('earlier').hidden)")
    for fold in page.locator("#log details:not([open]) > summary").all()[:40]:
        fold.evaluate("each => each.parentElement.open = true")

    assert page.evaluate("window.pwned") is None
    assert (
        page.locator("#main script, #main iframe, #main object, #main embed, #main style").count()
        == 0
    )
    attributes = "Array.from(document.querySelectorAll('*')).flatMap(e => e.getAttributeNames())"
    assert not [name for name in page.evaluate(attributes) if name.startswith("on")]
    links = "Array.from(document.links).map(each => each.protocol)"
    assert set(page.evaluate(links)) <= {"http:", "https:", "mailto:"}
    assert {each.split("/")[2] for each in tabs.asked if not each.startswith("data:")} == {
        f"127.0.0.1:{stage.port}"
    }


def test_hostile_names_are_text_on_every_page(stage: Stage, tabs: Tabs) -> None:
    for number, words in enumerate(WORDS[:30]):
        stage.session(f"s{number}", title=words[:300], cwd=words[:300])
    stage.policy = PolicyView(text="\n".join(WORDS[:30]), path=WORDS[0], problem=WORDS[1])
    stage.usage = UsageView(
        days=[UsageRow(key=WORDS[0])], models=[UsageRow(key=each[:200]) for each in WORDS]
    )
    for path in ("/", "/history?q=<script>window.pwned=1</script>", "/usage", "/policy"):
        page = tabs.open(stage.url + path)
        page.wait_for_selector("body[data-ready]")
        page.wait_for_selector("#connection[data-state=live]", state="attached")
        assert page.evaluate("window.pwned") is None
        assert page.locator("#main script, #side script").count() == 0


def test_the_token_is_exchanged_and_gone_from_the_address(stage: Stage, tabs: Tabs) -> None:
    stage.signed_in = False
    page = tabs.open(f"{stage.url}/#token=secret")

    expect(page.locator("#start")).to_be_visible()
    assert "secret" not in page.url
    assert stage.asked == [("POST", "/api/v1/login", {"token": "secret"})]
    assert not any("secret" in each for each in tabs.asked)


def test_the_address_may_be_put_in_where_the_login_is_open(stage: Stage, tabs: Tabs) -> None:
    stage.signed_in = False
    page = tabs.open(stage.url)
    expect(page.locator("#login")).to_be_visible()

    page.goto(f"{stage.url}/#token=secret")

    expect(page.locator("#start")).to_be_visible()
    assert "secret" not in page.url
    page.evaluate("location.hash = '#token=secret'")
    page.wait_for_url(lambda address: "secret" not in address)


def test_a_wrong_token_is_refused_and_another_can_be_given(stage: Stage, tabs: Tabs) -> None:
    stage.signed_in = False
    page = tabs.open(f"{stage.url}/#token=wrong")
    expect(page.locator("#problem")).to_have_text("Invalid token.")

    page.fill("[name=token]", "secret")
    page.keyboard.press("Enter")

    expect(page.locator("#start")).to_be_visible()


def full(stage: Stage) -> None:
    """Something of everything."""
    stage.say(stage.session("shop", state="working"), *shop(), *asking())
    stage.say(
        stage.session("helped", title="With a helper"), *shop("helped"), *with_a_helper("helped")
    )
    stage.say(stage.session("edit", title="Changes"), *shop("edit"), *asking_for_changes("edit"))
    stage.say(stage.session("asked", title="A question"), *asking_a_question("asked"))
    stage.say(stage.session("old", title="Old", is_live=False, archived=True), *shop("old"))
    stage.sessions["helped"].turns = [TurnMark(seq=2, title="Fix", outcome="completed")]
    day = UsageRow(key="2026-11-01", input_tokens=5, output_tokens=2, cost=0.2, sessions=1)
    stage.usage = UsageView(
        days=[day], models=[day], windows=[("5 hours", 20.0, None)], unpriced_tokens=7
    )
    stage.history = {"days": [(date(2026, 11, 1), 2)], "following": "/history?cursor=x"}
    stage.policy = PolicyView(text="x", problem="it is not TOML", line=1)
    decisions = ("allow", "deny", "ask")
    stage.verdicts = [{"kind": "command", "summary": "ls", "decision": each} for each in decisions]
    stage.choices = offered(
        ["gpt-5.5"], ["/home/ada/shop"], other_choices(), problem="Codex is not signed in."
    )


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("dark", 390)])
def test_axe_finds_nothing_serious(
    stage: Stage, tabs: Tabs, axe: Callable[[Page], list[str]], scheme: str, width: int
) -> None:
    page = tabs.open(stage.url, width=width, color_scheme=scheme, reduced_motion="reduce")
    page.wait_for_selector("body[data-ready]")
    found = {"nothing yet": axe(page)}
    full(stage)
    paths = ("/", "/history", "/history?q=x", "/usage", "/policy", "/nowhere")
    sessions = ("/s/shop", "/s/helped", "/s/edit", "/s/asked", "/s/old")
    for path in (*paths, *sessions):
        page.goto(stage.url + path)
        page.wait_for_selector("body[data-ready]")
        if path in sessions:
            page.evaluate("document.querySelectorAll('#log details').forEach(e => e.open = true)")
            page.evaluate(
                "document.querySelectorAll('.entry').forEach(e => e.style.contentVisibility = 'visible')"
            )
        found[path] = axe(page)
    page.click(".menu-holder summary")
    found["the menu"] = axe(page)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    found["the keys"] = axe(page)
    page.keyboard.press("Escape")
    if width < 800:
        page.click("#menu")
        found["the list"] = axe(page)
        page.keyboard.press("Escape")
        page.click("[data-act=details]")
        found["the rail"] = axe(page)
    stage.signed_in = False
    page.goto(stage.url)
    found["login"] = axe(page)

    assert {name: problems for name, problems in found.items() if problems} == {}


@pytest.mark.parametrize(
    "path", ["/s/shop", "/s/helped", "/s/edit", "/", "/history", "/usage", "/policy"]
)
def test_a_phone_needs_no_scrolling_sideways(stage: Stage, tabs: Tabs, path: str) -> None:
    full(stage)
    stage.usage = UsageView(models=[UsageRow(key="/a/very/long/name/of/a/folder" * 4)])

    page = tabs.open(stage.url + path, width=360, height=740, has_touch=True)
    page.wait_for_selector("body[data-ready]")

    assert page.evaluate("document.scrollingElement.scrollWidth") <= 360
    assert page.evaluate("document.getElementById('main').scrollWidth") <= 360
    page.click("#menu")
    expect(page.locator("#sessions a").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#sessions a").first).to_be_hidden()


def test_nothing_moves_for_those_who_asked_for_that(stage: Stage, tabs: Tabs) -> None:
    stage.say(stage.session("shop", state="working"), *shop(), *asking())

    page = tabs.open(f"{stage.url}/s/shop", reduced_motion="reduce")
    page.wait_for_selector("#dock form")

    assert (
        page.evaluate(
            "document.getAnimations().filter(each => each.playState === 'running').length"
        )
        == 0
    )
