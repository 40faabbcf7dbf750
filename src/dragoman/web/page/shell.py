"""The frame of each page: header, session list, and live regions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from zlib import crc32

from dragoman.html.pieces import EMPTY, Html, element, joined, opening
from dragoman.rendering import render
from dragoman.web.page.rows import HarnessChoices, Option, SessionRow

STATES: Final = {
    "working": "working",
    "waiting": "waiting for you",
    "done": "done",
    "failed": "failed",
    "idle": "idle",
}
_PAGES: Final = (("/history", "History"), ("/usage", "Usage"), ("/policy", "Policy"))


def page(
    name: str, title: str, *body: str, sessions: Sequence[SessionRow] = (), here: str = ""
) -> str:
    """A complete page; ``here`` is the path of the current part."""
    return document(
        name,
        title,
        element("a", "Skip to the conversation", class_="skip", href="#main"),
        sidebar(sessions, here),
        element("main", *body, id="main", tabindex="-1"),
        element("div", id="connection", class_="connection", role="status"),
        element("div", id="polite", class_="aside-word", role="status", aria_live="polite"),
        element("div", id="urgent", class_="aside-word", role="alert"),
        element("div", id="toasts"),
        element("dialog", id="help", aria_label="Keyboard shortcuts"),
    )


def document(name: str, title: str, *body: str) -> str:
    shown = f"{render.one_line(title, 90)} · Dragoman" if title else "Dragoman"
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", shown),
        element("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        element("link", rel="stylesheet", href="/static/pieces.css"),
        element("link", rel="stylesheet", href="/static/page.css"),
        element("link", rel="stylesheet", href="/static/parts.css"),
        # Runs before the first paint, so that the chosen theme does not flash.
        element("script", src="/static/theme.js"),
        element("script", src="/static/app.js", type="module"),
    ]
    return joined(
        [
            Html("<!DOCTYPE html>"),
            opening("html", lang="en"),
            element("head", joined(head, "\n")),
            element("body", *body, class_=f"app on-{name}", data_page=name),
            Html("</html>\n"),
        ],
        "\n",
    )


def sidebar(sessions: Sequence[SessionRow], here: str) -> Html:
    search = element(
        "form",
        element("label", "Search all sessions", class_="aside-word", for_="search"),
        opening(
            "input",
            id="search",
            type="search",
            name="q",
            placeholder="Search",
            autocomplete="off",
            aria_keyshortcuts="/",
        ),
        element("kbd", "/", aria_hidden="true"),
        action="/history",
        role="search",
    )
    links = [
        element("a", words, href=address, aria_current="page" if here == address else None)
        for address, words in _PAGES
    ]
    # Sessions that wait for a person come first, however old.
    listed = sorted(sessions, key=lambda each: each.state != "waiting")
    return element(
        "div",
        element(
            "header",
            element("a", icon("icon"), "Dragoman", href="/", class_="brand"),
            element(
                "button",
                "☰",
                id="menu",
                type="button",
                aria_label="Sessions",
                aria_expanded="false",
            ),
        ),
        element(
            "div",
            element("a", "New session", href="/", class_="button new", aria_keyshortcuts="n"),
            search,
            element(
                "nav",
                element("ul", *(session_item(each, here) for each in listed), id="sessions"),
                element("p", "No sessions yet.", id="none", class_="sub", hidden=bool(sessions)),
                aria_label="Sessions",
            ),
            element(
                "footer",
                element("nav", *links, aria_label="Pages"),
                element(
                    "button",
                    "◐",
                    type="button",
                    id="theme",
                    aria_label="Theme: same as the system",
                ),
                element("button", "?", type="button", id="keys", aria_label="Keyboard shortcuts"),
                element(
                    "button", "↪", type="button", id="logout", aria_label="Log out", title="Log out"
                ),
            ),
            class_="drawer",
        ),
        id="side",
    )


def session_item(row: SessionRow, here: str = "") -> Html:
    address = f"/s/{row.session_id}"
    return element(
        "li",
        element(
            "a",
            dot(row.state),
            element("span", title_of(row), class_="title"),
            element("span", joined([folder(row.cwd), since(row.at)], " "), class_="sub"),
            href=address,
            aria_current="page" if here == address else None,
        ),
        class_=f"is-{row.state}",
        data_session=row.session_id,
        data_state=row.state,
    )


def dot(state: str) -> Html:
    words = STATES.get(state, state)
    return element("span", element("span", words, class_="aside-word"), class_=f"dot {state}")


def title_of(row: SessionRow) -> str:
    return render.one_line(row.title, 100) or f"Session {row.session_id[:8]}"


def folder(cwd: str | None) -> Html:
    """The last part of a path, with the full path as tooltip."""
    if not cwd:
        return EMPTY
    name = cwd.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or cwd
    return element("span", render.one_line(name, 40), class_="folder", title=cwd)


def since(at: datetime | None) -> Html:
    """A time, which the page's scripts turn into "5 min ago"."""
    if at is None:
        return EMPTY
    return element(
        "time",
        f"{at:%Y-%m-%d %H:%M}",
        datetime=at.isoformat(timespec="milliseconds"),
        class_="since",
    )


def icon(name: str) -> Html:
    return element(
        "img",
        src=f"/static/{name}.svg",
        role="presentation",
        class_="icon",
        width="20",
        height="20",
    )


def harness_icon(harness: HarnessChoices) -> Html:
    """The icon of an agent: its own, or a monogram in a colour that depends on its name."""
    hue = crc32(harness.name.encode("utf-8", "replace")) % 8 * 45
    shape = (
        element("path", d=harness.icon)
        if harness.icon
        else element("text", harness.title[:2], x="12", y="16.5", text_anchor="middle")
    )
    return element(
        "svg",
        shape,
        viewBox="0 0 24 24",
        class_="harness-icon",
        data_hue=str(hue),
        aria_hidden="true",
    )


def picker(label: str, name: str, values: Sequence[Option], chosen: str | None = None) -> Html:
    """A drop-down list. Each option carries its summary, which the page shows when it is chosen."""
    if chosen and all(each.value != chosen for each in values):
        values = [Option(value=chosen), *values]
    options = [
        element(
            "option",
            each.label or each.value,
            value=each.value,
            selected=each.value == chosen,
            data_summary=each.summary or None,
            data_full="true" if each.is_full else None,
        )
        for each in values
    ]
    return element(
        "label",
        element("span", label, class_="picker-label"),
        element("select", *options, name=name),
        class_="picker",
    )
