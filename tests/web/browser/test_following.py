"""What is beside the conversation follows by itself: the list of sessions, the tab's badge, the index."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from support.page.scenes import asking, shop
from support.page.stage import Stage

from .conftest import Tabs

LISTED = "#sessions .title"


def streams(tabs: Tabs) -> int:
    """How often the stream of all sessions was asked for."""
    return sum(each.endswith("/api/v1/stream") for each in tabs.asked)


def icon(page: Page) -> str:
    return page.locator("link[rel=icon]").get_attribute("href") or ""


def test_the_list_follows_states_titles_and_new_sessions(stage: Stage, tabs: Tabs) -> None:
    first = stage.session("a", title="First")
    second = stage.session("b", title="Second", state="working")
    page = tabs.open(stage.url)
    expect(page.locator(LISTED)).to_have_text(["Second", "First"])
    page.wait_for_selector("body[data-ready]")
    lists = page.locator("#sessions")

    stage.change(first, state="waiting")
    expect(page.locator("#sessions .is-waiting .title")).to_have_text(["First"])
    expect(page.locator(LISTED)).to_have_text(["First", "Second"])
    expect(lists.get_by_text("waiting for you")).to_have_count(1)
    expect(page).to_have_title("(1) New session · Dragoman")
    assert icon(page) == "/static/icon-waiting.svg"
    expect(page.locator("#polite")).to_have_text("First waits for you")
    expect(page.locator("#recent, #wanted").get_by_text("First")).to_have_count(1)
    expect(page.locator("#wanted b")).to_have_text(["First"])

    stage.change(first, state="done")
    expect(page).to_have_title("New session · Dragoman")
    assert icon(page) == "/static/icon.svg"
    stage.change(second, state="failed", title="<b>Second</b>\u202e\nof all")
    expect(page.locator("#sessions .is-failed .title")).to_have_text("<b>Second</b>· of all")
    stage.change(first, title="First of all")  # it works on, and stays where it is
    expect(page.locator(LISTED)).to_have_text(["<b>Second</b>· of all", "First of all"])
    stage.change(first, title="First")
    stage.change(stage.session("c"), title="Third", state="working")
    expect(page.locator(LISTED)).to_have_text(["Third", "<b>Second</b>· of all", "First"])
    stage.change(second, archived=True)
    expect(page.locator(LISTED)).to_have_text(["Third", "First"])


def test_what_is_told_before_the_page_is_ready_is_not_missed(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("a", title="", state="working")
    page = tabs.open(f"{stage.url}/usage")
    # The part of the page that shows a title comes late.
    page.route("**/static/session.js", lambda route: (told(page), route.continue_()))

    def told(page: Page) -> None:
        stage.change(session, title="Named meanwhile", state="done")
        expect(page.locator(LISTED)).to_have_text(["Named meanwhile"])

    page.goto(f"{stage.url}/s/a")
    expect(page.locator("#title")).to_have_text("Named meanwhile")
    expect(page.locator("#state")).to_have_text("done")


def test_the_list_comes_back_after_the_server_was_away(stage: Stage, tabs: Tabs) -> None:
    first = stage.session("a", title="First")
    page = tabs.open(f"{stage.url}/usage")
    page.wait_for_selector("#connection[data-state=live]", state="attached")

    stage.is_down = True
    stage.cut()
    expect(page.locator("#connection")).to_have_text("Reconnecting …")
    stage.change(first, state="failed")
    stage.change(stage.session("b"), title="Second")
    stage.is_down = False

    expect(page.locator("#connection")).to_have_text("")
    expect(page.locator(LISTED)).to_have_text(["Second", "First"])
    expect(page.locator("#sessions .is-failed .title")).to_have_text(["First"])


def test_one_tab_follows_for_all_and_another_takes_over(stage: Stage, tabs: Tabs) -> None:
    first = stage.session("a", title="First")
    page = tabs.open(stage.url)
    page.wait_for_selector("#connection[data-state=live]", state="attached")
    others = [page.context.new_page() for _ in range(3)]
    for other in others:
        tabs.watch(other)
        other.goto(f"{stage.url}/s/a")
        other.wait_for_selector("#connection[data-state=live]", state="attached")

    stage.change(first, title="Renamed", state="waiting")
    for each in (page, *others):
        expect(each.locator("#sessions .is-waiting .title")).to_have_text("Renamed")
    for other in others:
        expect(other.locator("#title")).to_have_text("Renamed")
        expect(other.locator("#state")).to_have_text("waiting for you")
    assert streams(tabs) == 1

    page.close()
    stage.change(first, state="done")
    for other in others:
        expect(other.locator("#sessions .is-done .title")).to_have_text("Renamed")
        expect(other.locator("#state")).to_have_text("done")
    assert streams(tabs) == 2


def test_a_session_that_waits_is_told_in_the_tab(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("shop", title="Totals")
    stage.say(session, *shop())
    page = tabs.open(f"{stage.url}/s/shop")
    page.wait_for_selector("#connection[data-state=live]", state="attached")

    stage.say(session, *asking())

    expect(page).to_have_title("(1) Totals · Dragoman")
    page.get_by_role("button", name="Allow", exact=True).click()
    expect(page).to_have_title("Totals · Dragoman")


def test_the_list_is_filtered_while_one_types(stage: Stage, tabs: Tabs) -> None:
    for name in ("Paint", "Plan", "Test"):
        stage.session(name.lower(), title=name)
    page = tabs.open(stage.url)
    page.wait_for_selector("body[data-ready]")

    page.fill("#search", "p")
    expect(page.locator("#sessions li:visible")).to_have_count(3)  # the folder has one, too
    page.fill("#search", "pai")
    expect(page.locator("#sessions li:visible .title")).to_have_text(["Paint"])
    page.fill("#search", "nobody")
    expect(page.locator("#none")).to_contain_text("Enter searches the messages")
    page.keyboard.press("Enter")
    page.wait_for_url("**/history?q=nobody")


def test_the_history_tells_how_far_it_is_read_and_is_renewed_at_the_end(
    stage: Stage, tabs: Tabs
) -> None:
    stage.session("a", title="First")
    stage.indexing = {"files": 1200, "all_files": 5000, "bytes": 30, "all_bytes": 120}
    page = tabs.open(f"{stage.url}/history")
    expect(page.locator("#indexing-words")).to_contain_text("1,200 of 5,000 files")
    expect(page.locator("#indexing-bar")).to_have_js_property("value", 0.25)

    stage.session("b", title="Second")
    stage.indexing = None

    expect(page.locator("#indexing")).to_be_hidden()
    expect(page.locator("#found .card b")).to_have_text(["Second", "First"])


def test_the_history_says_nothing_when_all_is_read(stage: Stage, tabs: Tabs) -> None:
    stage.session("a", title="First")
    page = tabs.open(f"{stage.url}/history?q=x")
    with page.expect_response("**/api/v1/sessions?limit=1"):
        page.reload()
    expect(page.locator("#indexing")).to_be_hidden()
    expect(page.locator("#found .card")).to_have_count(1)
