"""A real browser, and the page in it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from support.isolation import DEVELOPER, kept_between_runs
from support.page.server import Server
from support.page.stage import Stage
from support.page.stage_http import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BOUND = 30_000
"""How long anything may take, in milliseconds: machines that run tests are busy."""
FREE = {"access": "danger-full-access", "asking": "never"}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def _lacking(what: str) -> NoReturn:
    """Say what is missing; where everything has to be there, that is a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing")
    pytest.skip(f"{what} is missing")


@pytest.fixture(scope="module")  # while it is open no other event loop can run in this process
def browser() -> Generator[Browser]:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        _lacking("Debian's chromium")
    if importlib.util.find_spec("playwright") is None:
        _lacking("the Python package playwright")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=BOUND)
    with sync_playwright() as running:
        opened = running.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def stage() -> Generator[Stage]:
    with serving() as made:
        yield made
        assert made.problems == []


@dataclass
class Tabs:
    """Opens pages and keeps an eye on them: what they complain of, and whom they ask."""

    browser: Browser
    stack: ExitStack
    complaints: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])

    def open(self, address: str, width: int = 1280, height: int = 800, **given: Any) -> Page:
        context = self.browser.new_context(viewport={"width": width, "height": height}, **given)
        self.stack.callback(context.close)
        page = context.new_page()
        page.set_default_timeout(BOUND)
        self.watch(page)
        page.goto(address)
        return page

    def watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.on(
            "console",
            lambda said: (
                self.complaints.append(said.text)
                if said.type == "error" and "Failed to load resource" not in said.text
                else None
            ),
        )


@pytest.fixture
def tabs(browser: Browser) -> Generator[Tabs]:
    with ExitStack() as stack:
        made = Tabs(browser, stack)
        yield made
        assert made.complaints == []


@pytest.fixture
def serve(tmp_path: Path) -> Generator[Callable[[str], Server]]:
    """Starts the real server with the real agent; what the model says is in the script."""
    import codex_cli_bin as paths

    with ExitStack() as servers:
        command = str(paths.bundled_codex_path())
        yield lambda script: servers.enter_context(Server(tmp_path, script, command))


def begin(tabs: Tabs, server: Server, prompt: str, **choices: str) -> Page:
    """A session, begun by hand."""
    page = tabs.open(server.address)
    page.wait_for_selector("body.on-index[data-ready]")
    for name, value in choices.items():
        page.select_option(f"#start .choices:not([hidden]) [name={name}]", value)
    page.fill("#prompt", prompt)
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/*")
    return page


def until(page: Page, condition: str) -> None:
    """Look with every frame; Playwright's own way is forbidden by the policy of the page."""
    page.evaluate(
        f"""() => new Promise((done, late) => {{
            setTimeout(() => late(new Error("not within the bound")), {BOUND});
            const look = () => (({condition}) ? done() : requestAnimationFrame(look));
            look();
        }})"""
    )


def is_over(page: Page, state: str = "done") -> None:
    from playwright.sync_api import expect

    expect(page.locator("#state")).to_have_text(state)


@pytest.fixture(scope="session")
def axe() -> Callable[[Page], list[str]]:
    """What axe-core finds that is serious, each in a line."""
    home = kept_between_runs()
    source = home / "node_modules" / "axe-core" / "axe.min.js"
    if not source.exists():
        npm = shutil.which("npm")
        if npm is None:
            _lacking("npm, to fetch axe-core with,")
        home.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [npm, "install", "--prefix", str(home), "axe-core"],
            env=DEVELOPER,
            check=False,
            timeout=120,
        )
    if not source.exists():
        _lacking("axe-core")
    script = source.read_text(encoding="utf-8")

    def findings(page: Page) -> list[str]:
        page.evaluate(script)
        found: list[Any] = page.evaluate("axe.run().then(found => found.violations)")
        return [
            f"{each['id']} ({each['impact']}): {each['nodes'][0]['html'][:160]}"
            for each in found
            if each["impact"] in ("serious", "critical")
        ]

    return findings
