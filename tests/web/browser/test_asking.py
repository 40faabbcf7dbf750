"""What the agent asks, in a browser: each kind is shown once, whole, and settled from the page."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from support.page.server import Server

from .conftest import Tabs, begin, is_over

_ASKER = Path(__file__).parents[2] / "support" / "agents" / "asking_server.py"
_CONFIG = f"config:\n  mcp_servers:\n    asker: {{command: {sys.executable}, args: [{_ASKER}]}}\n"
_PHONE: ViewportSize = {"width": 390, "height": 844}


def _steps(*steps: str) -> str:
    return f"{_CONFIG}turns:\n- - {steps[0]}\n" + "".join(f"  - {step}\n" for step in steps[1:])


def _look(page: Page, folder: Path, name: str) -> None:
    """A picture of it, wide and narrow, for people who look at the tests."""
    page.wait_for_timeout(300)
    page.screenshot(path=folder / f"{name}.png")
    wide = page.viewport_size
    page.set_viewport_size(_PHONE)
    page.wait_for_timeout(300)
    page.screenshot(path=folder / f"{name}-phone.png")
    # Whatever is asked, the buttons can be reached and nothing is wider than the screen.
    assert page.evaluate("document.documentElement.scrollWidth") <= _PHONE["width"]
    assert wide is not None
    page.set_viewport_size(wide)


def test_a_command_is_shown_once_with_what_would_be_remembered(
    serve: Callable[[str], Server], tabs: Tabs, tmp_path: Path
) -> None:
    script = _steps("run: {command: touch made-by-hand, escalate: I need it}", "say: Done.")
    page = begin(tabs, serve(script), "go", access="read-only", asking="on-request")
    form = page.locator("form.ask")
    expect(form).to_contain_text("touch made-by-hand")
    expect(form.locator(".always")).to_contain_text("commands that start with touch made-by-hand")
    expect(form.locator(".always")).to_contain_text("rules/default.rules")
    expect(page.locator("#log .use", has_text="made-by-hand")).to_be_hidden()
    _look(page, tmp_path, "command")
    form.locator("button.deny").click()
    is_over(page)
    expect(page.locator("#log .use", has_text="made-by-hand")).to_be_visible()
    assert page.locator("#log").get_by_text("touch made-by-hand", exact=True).count() <= 1


def test_a_form_is_filled_in_and_what_does_not_fit_is_said(
    serve: Callable[[str], Server], tabs: Tabs, tmp_path: Path
) -> None:
    script = _steps("mcp: {server: asker, tool: ask, arguments: {mode: form}}", "say: Done.")
    page = begin(tabs, serve(script), "go", asking="on-request")
    form = page.locator("form.ask")
    expect(form).to_contain_text("Who are you?")
    form.locator("button.allow").click()
    expect(form.locator(".problem")).to_contain_text("name is required")
    form.locator("[data-field=name]").fill("Ada")
    form.locator("[data-field=age]").fill("200")
    form.locator("[data-field=size]").select_option(label="Large")
    form.locator("button.allow").click()
    expect(form.locator(".problem")).to_contain_text("age must be at most 150")
    _look(page, tmp_path, "form")
    form.locator("[data-field=age]").fill("36")
    form.locator("button.allow").click()
    is_over(page)
    for piece in (
        '"action": "accept"',
        '"name": "Ada"',
        '"age": 36',
        '"size": "l"',
        '"sure": true',
    ):
        expect(page.locator("#log")).to_contain_text(piece)


def test_an_address_is_shown_and_never_opened_unasked(
    serve: Callable[[str], Server], tabs: Tabs, tmp_path: Path
) -> None:
    script = _steps("mcp: {server: asker, tool: ask, arguments: {mode: url}}", "say: Done.")
    page = begin(tabs, serve(script), "go", asking="on-request")
    form = page.locator("form.ask")
    expect(form).to_contain_text("https://example.com/sign-in?state=1")
    _look(page, tmp_path, "address")
    form.locator("button.allow").click()
    is_over(page)
    assert not [address for address in tabs.asked if "example.com" in address]
    assert len(page.context.pages) == 1


@pytest.mark.parametrize("decision", ["answered", "cancel"])
def test_a_question_is_answered_or_the_turn_is_stopped(
    serve: Callable[[str], Server], tabs: Tabs, tmp_path: Path, decision: str
) -> None:
    question = "{id: colour, header: Colour, question: 'Which colour?', options: "
    options = "[{label: Red, description: warm}, {label: Blue, description: cold}]}"
    tool = f"tool: {{name: request_user_input, arguments: {{questions: [{question}{options}]}}}}"
    script = _steps(tool, "say: Done.").replace(
        "config:\n", "config:\n  features: {default_mode_request_user_input: true}\n"
    )
    page = begin(tabs, serve(script), "go", asking="on-request")
    form = page.locator("form.ask")
    expect(form).to_contain_text("Which colour?")
    form.locator("button.answered").click()
    expect(form.locator(".problem")).to_contain_text("Answer each question")
    _look(page, tmp_path, "question")
    form.locator("input[value=Blue]").check()
    form.locator(f"button.{decision}").click()
    is_over(page, "done" if decision == "answered" else "idle")


def test_an_edit_is_shown_once(serve: Callable[[str], Server], tabs: Tabs, tmp_path: Path) -> None:
    patch = "*** Begin Patch\\n*** Add File: notes.txt\\n+one\\n+two\\n*** End Patch\\n"
    script = _steps(f'patch: "{patch}"', "say: Done.")
    page = begin(tabs, serve(script), "go", access="read-only", asking="on-request")
    form = page.locator("form.ask")
    expect(form).to_contain_text("notes.txt")
    expect(page.locator("#log .use", has_text="notes.txt")).to_be_hidden()
    _look(page, tmp_path, "edit")
    form.locator("button.deny").click()
    is_over(page)


def test_the_example_of_the_policy_page_can_be_saved(
    serve: Callable[[str], Server], tabs: Tabs, tmp_path: Path
) -> None:
    server = serve(_steps("say: Done."))
    page = begin(tabs, server, "go")
    page.goto(f"{server.address.partition('#')[0].rstrip('/')}/policy")
    for _ in range(2):  # into nothing, and behind what is there
        page.locator("#example").click()
        page.locator("button[value=save]").click()
        expect(page.locator("#problem")).to_have_text("")
        expect(page.locator("#toasts, [role=status]").first).to_be_attached()
    text = page.locator("#rules").input_value()
    assert text.count("[[rule]]\n") == 4
    assert "rule" in tomllib.loads(text)
    _look(page, tmp_path, "policy")
