"""What agents say is shown, never run; the token leaves no trace; everybody can use the page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dragoman.model.messages import Delta
from dragoman.web.page.rows import PolicyView, UsageRow, UsageView
from hostile import WORDS, messages
from page_scenes import asking, shop
from page_stage import Stage

from .conftest import Tabs


def test_nothing_hostile_runs_and_nothing_leaves_this_machine(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("s", title=WORDS[0], cwd=WORDS[20], state="working", is_live=True)
    said = messages()
    stage.say(session, *said[: len(said) // 2])
    page = tabs.open(f"{stage.url}/s/s")
    page.wait_for_selector("#connection[data-state=live]", state="attached")
    stage.say(session, *said[len(said) // 2 :])
    for words in WORDS:
        stage.say(session, Delta(of="text", message_id="m", text=words[:5000]))
    page.wait_for_timeout(1500)
    for _ in range(12):
        page.evaluate("document.getElementById('scroller').scrollTop = 0")
        page.wait_for_timeout(80)
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
        page.wait_for_timeout(200)
        assert page.evaluate("window.pwned") is None
        assert page.locator("#main script, #side script").count() == 0


def test_the_token_is_exchanged_and_gone_from_the_address(stage: Stage, tabs: Tabs) -> None:
    stage.signed_in = False
    page = tabs.open(f"{stage.url}/#token=secret")

    expect(page.locator("#start")).to_be_visible()
    assert "secret" not in page.url
    assert stage.asked == [("POST", "/api/v1/login", {"token": "secret"})]
    assert not any("secret" in each for each in tabs.asked)


def test_a_wrong_token_is_refused_and_another_can_be_given(stage: Stage, tabs: Tabs) -> None:
    stage.signed_in = False
    page = tabs.open(f"{stage.url}/#token=wrong")
    expect(page.locator("#problem")).to_have_text("This token does not fit.")

    page.fill("[name=token]", "secret")
    page.keyboard.press("Enter")

    expect(page.locator("#start")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    stage: Stage, tabs: Tabs, axe: Callable[[Page], list[str]], scheme: str
) -> None:
    stage.say(stage.session("shop", state="working"), *shop(), *asking())
    stage.session("b", title="Another", state="failed")
    stage.session("c", title="A third", state="waiting")
    day = UsageRow(key="2026-11-01", input_tokens=5, output_tokens=2, cost=0.2, sessions=1)
    stage.usage = UsageView(days=[day], models=[day], windows=[("5 hours", 20.0, None)])
    stage.policy = PolicyView(text="x", problem="it is not TOML", line=1)
    found: dict[str, list[str]] = {}
    for path in ("/s/shop", "/", "/history", "/usage", "/policy"):
        page = tabs.open(stage.url + path, color_scheme=scheme)
        page.wait_for_timeout(400)
        if path == "/s/shop":
            page.evaluate("document.querySelectorAll('#log details').forEach(e => e.open = true)")
            page.evaluate(
                "document.querySelectorAll('.entry').forEach(e => e.style.contentVisibility = 'visible')"
            )
        if problems := axe(page):
            found[path] = problems
    stage.signed_in = False
    if problems := axe(tabs.open(stage.url, color_scheme=scheme)):
        found["login"] = problems

    assert found == {}


@pytest.mark.parametrize("path", ["/s/shop", "/", "/history", "/usage", "/policy"])
def test_a_phone_needs_no_scrolling_sideways(stage: Stage, tabs: Tabs, path: str) -> None:
    stage.say(stage.session("shop", state="working"), *shop(), *asking())
    stage.usage = UsageView(models=[UsageRow(key="/a/very/long/name/of/a/folder" * 4)])

    page = tabs.open(stage.url + path, width=360, height=740, has_touch=True)
    page.wait_for_timeout(300)

    assert page.evaluate("document.scrollingElement.scrollWidth") <= 360
    assert page.evaluate("document.getElementById('main').scrollWidth") <= 360
    page.click("#menu")
    expect(page.locator("#sessions a").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#sessions a").first).to_be_hidden()


def test_nothing_moves_for_those_who_asked_for_that(stage: Stage, tabs: Tabs) -> None:
    stage.say(stage.session("shop", state="working"), *shop(), *asking())

    page = tabs.open(f"{stage.url}/s/shop", reduced_motion="reduce")
    page.wait_for_timeout(300)

    assert (
        page.evaluate(
            "document.getAnimations().filter(each => each.playState === 'running').length"
        )
        == 0
    )
