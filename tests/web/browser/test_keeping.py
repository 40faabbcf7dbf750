"""Sessions named, branched off, put away, ended and taken up again: the real server, the real agent."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from support.page.server import Server

from .conftest import FREE, Tabs, begin, is_over

_SCRIPT = """
turns:
  - - say: The first answer.
  - - say: The second answer.
  - - say: The third answer.
otherwise: Anything else.
"""
PROMPTS = "#log .is-prompt .prose"


def choose(page: Page, act: str) -> None:
    """Something of the menu."""
    page.wait_for_selector("body[data-ready]")
    page.click(".menu-holder summary")
    page.click(f"[data-act={act}]")


def ask(page: Page, words: str, answer: str) -> None:
    page.wait_for_selector("body[data-ready]")
    page.fill("#words", words)
    page.keyboard.press("Enter")
    expect(page.locator("#log .is-text .prose").last).to_have_text(answer)
    is_over(page)


def test_a_session_is_renamed_and_branched_off_and_the_branch_goes_its_own_way(
    serve: Callable[[str], Server], tabs: Tabs
) -> None:
    server = serve(_SCRIPT)
    page = begin(tabs, server, "Paint the shed", **FREE)
    is_over(page)

    choose(page, "rename")
    page.fill(".rename", "The shed")
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_have_text("The shed")
    expect(page.locator("#sessions .title")).to_have_text(["The shed"])
    assert page.title() == "The shed · Dragoman"
    trunk = page.url

    choose(page, "fork")
    page.wait_for_url(lambda url: url != trunk)
    expect(page.locator("#sessions .title")).to_have_text(["The shed", "The shed"])
    expect(page.locator(PROMPTS)).to_have_text(["Paint the shed"])
    ask(page, "In green", "The second answer.")
    expect(page.locator(PROMPTS)).to_have_text(["Paint the shed", "In green"])
    expect(page.locator("#turns li")).to_have_text(["Paint the shed", "In green"])
    page.reload()
    expect(page.locator(PROMPTS)).to_have_text(["Paint the shed", "In green"])
    expect(page.locator("#turns li")).to_have_text(["Paint the shed", "In green"])

    page.goto(trunk)
    expect(page.locator(PROMPTS)).to_have_text(["Paint the shed"])
    ask(page, "In red", "The second answer.")


def test_a_session_is_ended_put_away_found_brought_back_and_gone_on_with(
    serve: Callable[[str], Server], tabs: Tabs
) -> None:
    server = serve(_SCRIPT)
    page = begin(tabs, server, "Paint the shed", **FREE)
    is_over(page)
    own = page.url

    choose(page, "stop")
    expect(page.locator(".toast")).to_have_text("The session was ended.")
    ask(page, "Go on", "The second answer.")

    choose(page, "archive")
    page.wait_for_url(f"{server.url}/")
    expect(page.locator("#sessions li")).to_have_count(0)
    page.goto(f"{server.url}/history")
    card = page.locator("#found .card")
    expect(card).to_contain_text("archived")
    card.click()
    page.wait_for_url(own)
    expect(page.locator("#archived")).to_be_visible()
    choose(page, "unarchive")
    expect(page.locator("#sessions .title")).to_have_text(["Paint the shed"])
    expect(page.locator("#archived")).to_have_count(0)

    choose(page, "archive")
    page.wait_for_url(f"{server.url}/")
    page.goto(own)
    ask(page, "And again", "The third answer.")
    expect(page.locator(PROMPTS)).to_have_text(["Paint the shed", "Go on", "And again"])
    expect(page.locator("#archived")).to_have_count(0)
    expect(page.locator("#sessions .title")).to_have_text(["Paint the shed"])


def test_a_session_from_the_terminal_is_taken_up_again_with_all_that_was_said(
    serve: Callable[[str], Server], tabs: Tabs
) -> None:
    server = serve(_SCRIPT)
    server.save_a_session("Paint the shed")
    page = tabs.open(server.address)
    page.click("#sessions a")
    expect(page.locator("#saved")).to_be_visible()
    expect(page.locator("#turns li")).to_have_text(["Paint the shed"])
    page.select_option("#composer [name=access]", "danger-full-access")
    ask(page, "Go on", "The second answer.")

    expect(page.locator(PROMPTS)).to_have_text(["Paint the shed", "Go on"])
    expect(page.locator("#log .is-text .prose")).to_have_text(
        ["The first answer.", "The second answer."]
    )
    expect(page.locator("#turns li")).to_have_text(["Paint the shed", "Go on"])
    expect(page.locator("#title")).to_have_text("Paint the shed")
    page.reload()
    expect(page.locator(PROMPTS)).to_have_text(["Paint the shed", "Go on"])
    expect(page.locator("#turns li")).to_have_text(["Paint the shed", "Go on"])
    page.click("#turns a >> nth=0")
    expect(page.locator(".entry:focus")).to_have_count(1)


def test_a_session_from_the_terminal_is_renamed_put_away_and_branched_off(
    serve: Callable[[str], Server], tabs: Tabs
) -> None:
    server = serve(_SCRIPT)
    server.save_a_session("Paint the shed")
    page = tabs.open(server.address)
    page.click("#sessions a")
    expect(page.locator("#saved")).to_be_visible()
    own = page.url
    page.wait_for_selector("body[data-ready]")

    # With keys alone.
    page.focus(".menu-holder summary")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="End the session")).to_have_count(0)
    page.get_by_role("button", name="Rename").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Title of the session")).to_be_focused()
    page.keyboard.type("The shed")
    page.keyboard.press("Enter")
    expect(page.locator("#sessions .title")).to_have_text(["The shed"])
    page.reload()
    expect(page.locator("#title")).to_have_text("The shed")
    expect(page.locator("#sessions .title")).to_have_text(["The shed"])
    expect(page.locator("#saved")).to_be_visible()

    choose(page, "archive")
    page.wait_for_url(f"{server.url}/")
    expect(page.locator("#sessions li")).to_have_count(0)
    page.goto(own)
    expect(page.locator("#archived")).to_be_visible()
    expect(page.locator("[data-act=fork]")).to_have_count(0)
    choose(page, "unarchive")
    expect(page.locator("#archived")).to_have_count(0)
    expect(page.locator("#sessions .title")).to_have_text(["The shed"])

    choose(page, "fork")
    page.wait_for_url(lambda url: url != own)
    expect(page.locator("#saved")).to_have_count(0)
    expect(page.locator("#title")).to_have_text("The shed")
    expect(page.locator(PROMPTS)).to_have_text(["Paint the shed"])
    page.select_option("#composer [name=access]", "danger-full-access")
    ask(page, "In green", "The second answer.")
    expect(page.locator("#turns li")).to_have_text(["Paint the shed", "In green"])
    page.reload()
    expect(page.locator(PROMPTS)).to_have_text(["Paint the shed", "In green"])
    page.goto(own)
    expect(page.locator("#saved")).to_be_visible()
    expect(page.locator(PROMPTS)).to_have_text(["Paint the shed"])


def test_a_session_is_handed_off_to_another_agent(
    serve: Callable[[str], Server], tabs: Tabs
) -> None:
    page = begin(tabs, serve(_SCRIPT), "Paint the shed", **FREE)
    is_over(page)
    here = page.url

    choose(page, "handoff")
    expect(page.locator("dialog h2")).to_have_text("Handed off to Claude Code")
    expect(page.locator("dialog dt").first).to_contain_text("context")
    page.click("dialog a")

    page.wait_for_url(lambda url: url != here)
    expect(page.locator("#title")).to_have_text("Paint the shed")
    expect(page.locator(PROMPTS)).to_have_text(["Paint the shed"])
    expect(page.locator("#log")).to_contain_text("handed off from codex session")
