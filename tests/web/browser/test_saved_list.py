"""What somebody does in a terminal is seen beside the page: the real server, files as the agent writes them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from playwright.sync_api import Page, expect

from support.archive.saved_sessions import Rows, file_name, save, session_id
from support.page.server import Server

from .conftest import FREE, Tabs, begin, is_over

LISTED = "#sessions .title"
SHOWN = "#sessions li:not([hidden]) .title"
_SCRIPT = """
turns:
  - - say: The first answer.
otherwise: Anything else.
"""


def opened(tabs: Tabs, address: str) -> Page:
    page = tabs.open(address)
    page.wait_for_selector("body[data-ready]")
    page.evaluate("window.isTheSame = true")
    return page


def test_what_is_begun_gone_on_with_and_put_away_in_a_terminal_is_seen_without_a_reload(
    serve: Callable[[str], Server], tabs: Tabs
) -> None:
    server = serve(_SCRIPT)
    first = Rows(1, cwd="/work/shed").turn("Paint the shed", "Done.")
    save(server.home, 1, first.data)
    save(server.home, 2, Rows(2).turn("Mow the lawn", "Done.").data)
    page = opened(tabs, server.address)
    expect(page.locator(LISTED)).to_have_text(["Mow the lawn", "Paint the shed"])
    expect(page.locator("#recent").get_by_text("Wash the car")).to_have_count(0)

    third = Rows(3, cwd="/work/garage").begin("Wash the car")
    path = server.home / file_name(3, ".jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    car = page.locator(f"#sessions [data-session='{session_id(3)}']")
    with path.open("wb") as writer:  # a session is at work while a program has its file open
        writer.write(third.data)
        writer.flush()
        listed = ["Wash the car", "Mow the lawn", "Paint the shed"]
        expect(page.locator(LISTED)).to_have_text(listed)
        expect(car).to_have_attribute("data-state", "working")
        expect(car.locator(".folder")).to_have_text("garage")
    save(server.home, 3, third.say("Shiny.").end().data)
    expect(car).to_have_attribute("data-state", "done")
    # The cards of the start page have it, too.
    expect(page.locator("#lists").get_by_text("Wash the car")).to_have_count(1)

    # Whoever stands on a session, and has filtered the list, does not notice that it moves.
    page.fill("#search", "shed")
    page.focus(f"#sessions [data-session='{session_id(1)}'] a")
    save(server.home, 1, first.wait(timedelta(hours=3)).turn("And the door", "Green, too.").data)
    expect(page.locator(LISTED)).to_have_text(["Paint the shed", "Wash the car", "Mow the lawn"])
    expect(page.locator(SHOWN)).to_have_text(["Paint the shed"])
    expect(page.locator("#sessions a:focus .title")).to_have_text(["Paint the shed"])
    page.fill("#search", "")

    archived = server.home / "archived_sessions" / path.name
    archived.parent.mkdir()
    path.rename(archived)
    expect(page.locator(LISTED)).to_have_text(["Paint the shed", "Mow the lawn"])
    archived.rename(path)
    expect(page.locator(LISTED)).to_have_text(["Paint the shed", "Wash the car", "Mow the lawn"])
    path.unlink()
    expect(page.locator(LISTED)).to_have_text(["Paint the shed", "Mow the lawn"])
    assert page.evaluate("window.isTheSame")


def test_a_session_that_is_live_is_listed_once_whoever_writes_its_file(
    serve: Callable[[str], Server], tabs: Tabs
) -> None:
    server = serve(_SCRIPT)
    page = begin(tabs, server, "Paint the shed", **FREE)
    is_over(page)
    server.save_a_session("Mow the lawn")
    expect(page.locator(LISTED)).to_have_text(["Mow the lawn", "Paint the shed"])

    # It is taken up again in the page: the same session under another name.
    page.click(f"{LISTED} >> text=Mow the lawn")
    expect(page.locator("#saved")).to_be_visible()
    page.wait_for_selector("body[data-ready]")
    page.select_option("#composer [name=access]", "danger-full-access")
    page.fill("#words", "Go on")
    page.keyboard.press("Enter")
    expect(page.locator("#log .is-prompt .prose")).to_have_text(["Mow the lawn", "Go on"])
    is_over(page)
    save(server.home, 7, Rows(7).turn("A mark", "Made.").data)
    expect(page.locator(LISTED).filter(has_text="A mark")).to_have_count(1)
    expect(page.locator(LISTED)).to_have_count(3)


def test_one_tab_tells_the_others_and_one_that_comes_back_sees_what_it_missed(
    serve: Callable[[str], Server], tabs: Tabs
) -> None:
    server = serve(_SCRIPT)
    path = save(server.home, 1, Rows(1).turn("Paint the shed", "Done.").data)
    page = opened(tabs, server.address)
    other = page.context.new_page()
    tabs.watch(other)
    other.goto(f"{server.url}/s/{session_id(1)}")
    other.wait_for_selector("body[data-ready]")
    save(server.home, 2, Rows(2).turn("Mow the lawn", "Done.").data)
    for each in (page, other):
        expect(each.locator(LISTED)).to_have_text(["Mow the lawn", "Paint the shed"])
    expect(other.locator("#sessions [aria-current]")).to_have_count(1)
    assert sum(each.endswith("/api/v1/stream") for each in tabs.asked) == 1
    other.close()

    # Without a connection nothing is told; afterwards the newest are, and what is missing is gone.
    page.context.set_offline(True)
    expect(page.locator("#connection")).not_to_be_empty()
    path.unlink()
    save(server.home, 3, Rows(3).turn("Wash the car", "Done.").data)
    page.context.set_offline(False)
    expect(page.locator(LISTED)).to_have_text(["Wash the car", "Mow the lawn"])
    assert page.evaluate("window.isTheSame")


def test_a_saved_session_that_is_looked_at_gets_its_title(
    serve: Callable[[str], Server], tabs: Tabs
) -> None:
    server = serve(_SCRIPT)
    rows = Rows(1)
    save(server.home, 1, rows.data)
    page = opened(tabs, server.address)
    page.goto(f"{server.url}/s/{session_id(1)}")
    expect(page.locator("#title")).to_have_text(f"Session {session_id(1)[:8]}")
    save(server.home, 1, rows.turn("Paint the shed", "Done.").data)
    expect(page.locator("#title")).to_have_text("Paint the shed")
    expect(page.locator("#sessions [aria-current] .title")).to_have_text(["Paint the shed"])
    assert page.title() == "Paint the shed · Dragoman"
