"""How soon a session is seen in a browser, however long it is, and how smoothly it scrolls.

    python benchmarks/painting.py

The real server with a store of 60 sessions, one of them with 20,000 entries, and a saved session of as many
messages; Debian's Chromium. Beside it, in the same run: a session of 20 entries on the same server, and the same
20,000 entries as one file, as `dragoman export` writes it, which is what a page without a window would be.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from corpus_session import Session
from dragoman.hub.hub import LiveSession
from dragoman.hub.live.registry import LiveRegistry
from dragoman.model.messages import (
    Message,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
)
from dragoman.reading.mapper import make_exporter

_CHROMIUM = "/usr/bin/chromium"
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/#\S+")
_SECONDS = 60
_WEIGHT = """() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .reduce((sum, each) => sum + (each.decodedBodySize || 0), 0)"""
_FRAMES = """async (seconds) => {
  const log = document.querySelector('#log').closest('[data-scroll]') || document.querySelector('#log');
  let box = log; while (box && box.scrollHeight <= box.clientHeight) box = box.parentElement;
  box = box || document.scrollingElement;
  const gaps = []; let last = performance.now(); const until = last + seconds * 1000;
  while (last < until) {
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - last); last = now; box.scrollTop -= 40;
  }
  return gaps.slice(1);
}"""


def story(session_id: str, count: int) -> Iterator[Message]:
    """About so many messages, in turns of ten."""
    at = datetime(2026, 11, 16, tzinfo=UTC)
    yield SessionStarted(session_id=session_id, harness="codex", model="gpt-5.5", at=at)
    for turn in range(count // 10):
        of: dict[str, Any] = {"session_id": session_id, "turn_id": f"t{turn}", "at": at}
        at += timedelta(minutes=1)
        yield TurnStarted(**of)
        yield Prompt(**of, text=f"Why does case {turn} of the importer fail?")
        yield Thinking(**of, text="First see what it expects and what it gets. " * 4)
        for step in range(2):
            call = f"c{turn}-{step}"
            command = {"command": f"python3 -m pytest -q tests/test_case_{turn}.py"}
            yield ToolCall(**of, call_id=call, tool="Bash", native_tool="shell", input=command)
            output = "\n".join(f"tests/test_{n}.py ......" for n in range(12))
            yield ToolResult(**of, call_id=call, output=output, exit_code=0, duration_ms=812)
            yield Text(
                **of, text="It fails where **dates** are read: `parse()` forgets the zone. " * 3
            )
        yield TurnEnded(**of, outcome="completed")


async def fill(data: Path, entries: int) -> None:
    registry = LiveRegistry(data)
    now = datetime.now(UTC)
    for number in range(60):
        name = {0: "long", 1: "short"}.get(number, f"other-{number}")
        count = {0: entries, 1: 20}.get(number, 10)
        at = now - timedelta(minutes=number)
        live = registry.begin(
            LiveSession(
                id=name, native_id=name, harness="codex", cwd="/", created_at=at, updated_at=at
            )
        )
        for message in story(name, count):
            registry.add(live, message)
    await registry.stored()
    registry.close()


def save(home: Path, rows: int) -> None:
    """A session file of so many rows; about two of three of them tell something of their own."""
    session = Session(1, "the quick brown fox jumps over the lazy dog " * 2000, paginated=True)
    path = home / f"sessions/2026/11/15/rollout-2026-11-15T09-00-00-{session.id}.jsonl"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.writelines(islice(session.rows(), rows * 3 // 2))


class Seen(NamedTuple):
    """What a browser tells of one page, opened anew."""

    painted: float
    """Milliseconds until something was seen."""
    ready: float
    """Milliseconds until the newest entry was there and the page was live."""
    kilobytes: float


def look(browser: Browser, address: str, page_url: str, ready: str) -> Seen:
    context = browser.new_context(viewport={"width": 1360, "height": 880})
    page = context.new_page()
    if address:
        enter(page, address)
    page.goto(page_url)
    page.wait_for_selector(ready, state="attached", timeout=_SECONDS * 1000)
    done = page.evaluate("performance.now()")
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    size: int = page.evaluate(_WEIGHT)
    context.close()
    return Seen(painted, done, size / 1000)


def enter(page: Page, address: str) -> None:
    """Exchange the token for the cookie."""
    page.goto(address)
    page.wait_for_selector("main textarea", timeout=_SECONDS * 1000)


def scroll(browser: Browser, address: str, page_url: str) -> list[float]:
    """Milliseconds between frames while one scrolls up for three seconds."""
    page: Page = browser.new_page(viewport={"width": 1360, "height": 880})
    enter(page, address)
    page.goto(page_url)
    page.wait_for_selector("#connection[data-state=live]", state="attached")
    gaps: list[float] = page.evaluate(_FRAMES, 3)
    page.close()
    return gaps


@contextmanager
def serving(folder: Path) -> Generator[str]:
    words = [
        "serve",
        "--no-open",
        "--port",
        "0",
        "--data",
        str(folder / "data"),
        "--root",
        str(folder),
    ]
    env = {
        **os.environ,
        "CODEX_HOME": str(folder / "home"),
        "HOME": str(folder),
        "DRAGOMAN_CACHE": str(folder / "cache"),
    }
    process = subprocess.Popen(
        [Path(sys.executable).with_name("dragoman"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=env,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := _ADDRESS.search(line):
                yield found[0]
                break
    finally:
        process.terminate()
        process.wait(_SECONDS)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--entries", type=int, default=20_000)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    if not Path(_CHROMIUM).exists():
        print(f"{_CHROMIUM} is not there: apt-get install chromium")
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(fill(folder / "data", given.entries))
        save(folder / "home", given.entries)
        exporter, _ = make_exporter("html")
        whole = exporter.export(list(story("long", given.entries))) + exporter.finish()
        (folder / "whole.html").write_bytes(whole)
        return measure(folder, given.rounds)


def measure(folder: Path, rounds: int) -> int:
    live = "#connection[data-state=live]"
    with serving(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=_CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        base = address.partition("/#")[0]
        pages = {
            "20 entries": (address, f"{base}/s/short", live),
            "20,000 entries": (address, f"{base}/s/long", live),
            "as many, saved": (
                address,
                f"{base}/s/{Session(1, '', paginated=True).id}",
                "#log > *",
            ),
            "the same as one file": ("", f"file://{folder}/whole.html", "body"),
        }
        seen = {
            name: [look(browser, *where) for _ in range(rounds)] for name, where in pages.items()
        }
        gaps = sorted(scroll(browser, address, f"{base}/s/long"))
        browser.close()
    first = statistics.median(each.painted for each in seen["20 entries"])
    print(f"{'':24}{'painted':>10}{'ready':>10}{'ratio':>8}{'KB':>10}")
    for name, found in seen.items():
        painted = statistics.median(each.painted for each in found)
        ready = statistics.median(each.ready for each in found)
        print(
            f"{name:24}{painted:>7.0f} ms{ready:>7.0f} ms{painted / first:>8.2f}{found[0].kilobytes:>10.0f}"
        )
    late = gaps[len(gaps) * 99 // 100]
    print(
        f"scrolling: {len(gaps)} frames, median {gaps[len(gaps) // 2]:.0f} ms, 99 of 100 within {late:.0f} ms"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
