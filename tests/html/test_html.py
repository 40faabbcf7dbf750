"""What others say is shown, never obeyed: read as HTML, and in a real browser."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

from dragoman.export.base import Options
from dragoman.export.html.exporter import HtmlExporter
from dragoman.html.pieces import link
from dragoman.html.prose import prose
from dragoman.model.messages import Text
from support.hostile import WORDS, inspect, messages

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


def page() -> str:
    exporter = HtmlExporter(Options(include=frozenset({"context", "deltas", "raw"})))
    return (exporter.export(messages()) + exporter.finish()).decode()


def test_nothing_of_others_is_markup_on_the_page() -> None:
    inspect(page())


@pytest.mark.parametrize("words", WORDS, ids=range(len(WORDS)))
def test_prose_has_only_our_own_elements(words: str) -> None:
    shown = prose(words)

    inspect(f"<style></style>{shown}")


def test_a_hostile_word_is_still_there_to_be_read() -> None:
    shown = inspect(f"<style></style>{prose('a <script>alert(1)</script> b')}")

    assert "".join(shown.texts) == "a <script>alert(1)</script> b"


@pytest.mark.parametrize(
    "address",
    [
        "javascript:x",
        " javascript:x",
        "java\nscript:x",
        "data:text/html,x",
        "//host/x",
        "file:///x",
    ],
)
def test_only_the_web_and_mailboxes_can_be_followed(address: str) -> None:
    assert "href" not in link(address, "words")


def _browser() -> str:
    found = shutil.which("chromium")
    if found and importlib.util.find_spec("playwright"):
        return found
    missing = "Debian's chromium" if not found else "the Python package playwright"
    if os.environ.get("CI"):
        pytest.fail(f"{missing} is missing")
    pytest.skip(f"{missing} is missing")


def test_in_a_browser_no_script_runs_and_no_request_leaves(tmp_path: Path) -> None:
    browser = _browser()
    from playwright.sync_api import sync_playwright

    path = tmp_path / "hostile.html"
    path.write_text(page(), encoding="utf-8")
    asked: list[str] = []
    complaints: list[str] = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        tab = chromium.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("dialog", lambda dialog: asked.append(dialog.message))
        tab.goto(path.as_uri())
        tab.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        tab.mouse.move(200, 300)
        assert tab.evaluate("window.pwned") is None
        assert tab.evaluate("document.scripts.length") == 0
        handlers = (
            "[...document.all].filter(e => e.getAttributeNames().some(n => n.startsWith('on')))"
        )
        assert tab.evaluate(f"{handlers}.length") == 0
        chromium.close()
    assert [url for url in asked if not url.startswith(("file:", "data:image/"))] == []
    assert complaints == []


def test_a_page_that_lets_something_through_still_forbids_it(tmp_path: Path) -> None:
    """The second wall: the page's own policy."""
    browser = _browser()
    from playwright.sync_api import sync_playwright

    exporter = HtmlExporter(Options())
    whole = (exporter.export([Text(text="HERE")]) + exporter.finish()).decode()
    bad = "<script>window.pwned=1</script><img src='http://127.0.0.1:9/x' onerror='window.pwned=1'>"
    path = tmp_path / "broken.html"
    path.write_text(whole.replace("HERE", bad), encoding="utf-8")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        tab = chromium.new_page()
        tab.goto(path.as_uri())
        assert tab.evaluate("window.pwned") is None
        chromium.close()
