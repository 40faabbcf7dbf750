"""The page around a session: its head, the list of turns, sums, and what was masked.

What is known only at the end (sums, contents) is written at the end and set where it belongs by the
style sheet, so that a page can be written while its session is being read. The page needs no
network, no script and no other file; its own policy forbids all three.
"""

from __future__ import annotations

import functools
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from importlib.resources import files
from typing import Final

from dragoman.export.base import Masked
from dragoman.html.pieces import EMPTY, Html, element, joined, opening
from dragoman.rendering import render

MOST_TURNS: Final = 20_000
"""How many turns are listed."""
_TITLE_WIDTH: Final = 90


@dataclass(slots=True)
class ContentsEntry:
    """A turn in the list of contents."""

    number: int
    title: str = ""
    outcome: str = "open"


@functools.cache
def pieces_sheet() -> str:
    """The style sheet of the pieces, for this page and for any other that shows them."""
    return files("dragoman.html").joinpath("html.css").read_text(encoding="utf-8")


@functools.cache
def style_sheet() -> str:
    """All that this page needs."""
    around = files("dragoman.export.html").joinpath("page.css").read_text(encoding="utf-8")
    return pieces_sheet() + around


def head(title: str, facts: Sequence[tuple[str, str]]) -> Html:
    """All that stands before the first turn."""
    css = style_sheet()
    digest = b64encode(sha256(css.encode()).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title = render.one_line(title, _TITLE_WIDTH) or "Session"
    metas = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="generator", content="dragoman"),
        element("title", title),
        # Our own file, not a word of others in it; escaping would change it.
        element("style", Html(css)),
    ]
    skip = element("a", "Contents and sums", class_="skip", href="#contents")
    known = [element("div", element("dt", name), element("dd", fact)) for name, fact in facts]
    header = element(
        "header", element("h1", title), element("dl", *known, class_="facts"), class_="session"
    )
    return joined(
        [
            Html("<!DOCTYPE html>"),
            opening("html", lang="en"),
            element("head", joined(metas, "\n")),
            opening("body"),
            skip,
            opening("div", class_="page"),
            header,
            Html("<main>\n"),
        ],
        "\n",
    )


def tail(entries: Sequence[ContentsEntry], sums: Sequence[tuple[str, str]], masks: Html) -> Html:
    """All that stands after the last turn."""
    rows = [element("div", element("dt", name), element("dd", fact)) for name, fact in sums if fact]
    summed = element("section", element("h2", "Session"), element("dl", *rows), class_="sums")
    return joined(
        [
            Html("</main>"),
            element("aside", summed, _contents(entries), masks, id="contents"),
            Html("</div>"),
            Html("</body>"),
            Html("</html>"),
        ],
        "\n",
    )


def _contents(entries: Sequence[ContentsEntry]) -> Html:
    if not entries:
        return EMPTY
    items = [_item(each) for each in entries[:MOST_TURNS]]
    beyond = len(entries) - len(items)
    more = element("p", f"… and {beyond:,} more turns") if beyond else ""
    turns = element("ol", joined(items, "\n"))
    return element("nav", element("h2", "Turns"), turns, more, aria_label="Turns", class_="toc")


def _item(entry: ContentsEntry) -> Html:
    number = element("span", str(entry.number), class_="number")
    title = element("span", entry.title or f"Turn {entry.number}", class_="title")
    return element(
        "li", element("a", number, title, href=f"#turn-{entry.number}"), class_=entry.outcome
    )


def turn_opening(number: int, at: datetime | None, *, is_continued: bool = False) -> Html:
    """The beginning of a turn; ``</section>`` is its end."""
    anchor = f"turn-{number}"
    begin = opening("section", class_="turn", id=None if is_continued else anchor)
    words = f"Turn {number}, continued" if is_continued else f"Turn {number}"
    title = element("a", words, href=f"#{anchor}")
    return joined([begin, element("h2", title, moment(at))], "\n")


def moment(at: datetime | None) -> Html:
    if at is None:
        return EMPTY
    return element("time", when(at), datetime=at.isoformat())


def when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def masks(masked: Sequence[Masked] | None) -> Html:
    """What was masked: kinds, counts and places, never values. None says that nobody looked."""
    if masked is None:
        return EMPTY
    title = element("h2", "Masked")
    if not masked:
        words = element("p", "Nothing in this session looked like a secret.")
        return element("section", title, words, class_="masks")
    items = [
        element(
            "li", element("code", each.placeholder), f" {each.kind}: {each.count:,} in {each.where}"
        )
        for each in masked[:500]
    ]
    beyond = len(masked) - len(items)
    more = element("p", f"… and {beyond:,} more") if beyond else ""
    return element("section", title, element("ul", *items), more, class_="masks")
