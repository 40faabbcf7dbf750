"""Complete pages: start, session, history, usage, policy, login."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from dragoman.html.pieces import EMPTY, Html, element, joined, opening
from dragoman.web.page import charts, shell
from dragoman.web.page.policy_view import policy
from dragoman.web.page.rows import Choices, HarnessChoices, Option, SessionRow
from dragoman.web.page.session_view import session
from dragoman.web.page.usage_view import usage

__all__ = ["history", "index", "login", "policy", "problem", "session", "usage"]


def login() -> str:
    """The public page. Its script loads the real page with the key, or shows the login form."""
    form = element(
        "form",
        shell.icon("icon"),
        element("h1", "Dragoman"),
        element(
            "p",
            "Open the URL that ",
            element("code", "dragoman serve"),
            " printed, or paste its token.",
        ),
        element(
            "label",
            element("span", "Token"),
            opening("input", type="password", name="token", autocomplete="off", required=True),
        ),
        element("button", "Enter", type="submit", class_="button primary"),
        element("p", id="problem", role="alert", class_="problem"),
        id="login",
        method="post",
        class_="login",
        hidden=True,
    )
    without = element("noscript", element("p", "This page needs JavaScript.", class_="login"))
    return shell.document("login", "Login", element("main", form, without, id="main"))


def problem(words: str) -> str:
    """An error page, with a way back."""
    sentence = words[:1].upper() + words[1:].rstrip(".") + "."
    body = element(
        "div",
        element("h1", "Cannot show this page"),
        element("p", sentence),
        element(
            "p",
            element("a", "Begin a session", href="/", class_="button primary"),
            " ",
            element("a", "Go to the history", href="/history", class_="button"),
        ),
        class_="column",
    )
    return shell.page("problem", "Not here", body)


def index(
    sessions: Sequence[SessionRow] = (), choices: Choices | None = None, *, title: str = ""
) -> str:
    """The start page, with the form for a new session."""
    choices = choices or Choices()
    folders = [element("option", value=each) for each in choices.folders]
    first = choices.folders[0] if choices.folders else None
    form = element(
        "form",
        element("h1", "What should the agent do?"),
        _harness_picker(choices.harnesses),
        element("label", "Prompt", class_="aside-word", for_="prompt"),
        element(
            "textarea",
            id="prompt",
            name="prompt",
            rows="4",
            required=True,
            autofocus=True,
            placeholder="Describe the task. Enter starts it, Shift+Enter starts a new line.",
        ),
        element(
            "div",
            element(
                "label",
                element("span", "Folder", class_="picker-label"),
                opening(
                    "input",
                    name="cwd",
                    list="folders",
                    value=first,
                    required=True,
                    spellcheck="false",
                ),
                class_="picker wide",
            ),
            element("datalist", *folders, id="folders"),
            class_="pickers",
        ),
        *(_pickers(each, number) for number, each in enumerate(choices.harnesses)),
        element("p", id="means", role="status"),
        element(
            "div",
            element("p", id="problem", role="alert", class_="problem"),
            element(
                "button",
                "Start",
                element("kbd", "↵", aria_hidden="true"),
                type="submit",
                class_="button primary",
            ),
            class_="ends",
        ),
        id="start",
        class_="start",
    )
    wanted = [each for each in sessions if each.state == "waiting"]
    recent = [each for each in sessions if each.state != "waiting"][:8]
    lists = element(
        "div",
        EMPTY if sessions else _first_time(),
        _cards("Waiting for you", wanted, "wanted") if wanted else EMPTY,
        _cards("Recent", recent, "recent") if recent else EMPTY,
        id="lists",
        class_="group",
    )
    return shell.page(
        "index",
        title or "New session",
        element("div", form, lists, class_="column"),
        sessions=sessions,
        here="/",
    )


def _harness_picker(harnesses: Sequence[HarnessChoices]) -> Html:
    """The agents, with icon, title and state."""
    cards = [
        element(
            "label",
            opening(
                "input",
                type="radio",
                name="harness",
                value=each.name,
                checked=number == 0,
            ),
            shell.harness_icon(each),
            element("b", each.title),
            element("span", each.status, class_="sub"),
            class_="harness" if each.is_installed else "harness unavailable",
        )
        for number, each in enumerate(harnesses)
    ]
    legend = element("legend", "Agent", class_="picker-label")
    return element("fieldset", legend, *cards, id="harnesses", class_="harnesses")


def _pickers(harness: HarnessChoices, number: int) -> Html:
    """The choices of one agent. The page enables those of the chosen agent."""
    default = Option(value="default", label="Default")
    models = [Option(value=each) for each in harness.models if each != "default"]
    efforts = [Option(value=each) for each in harness.efforts]
    return element(
        "fieldset",
        element("p", harness.problem, class_="notice warning", role="alert")
        if harness.problem
        else EMPTY,
        element(
            "div",
            shell.picker("Model", "model", [default, *models]),
            shell.picker("Effort", "effort", [default, *efforts]) if efforts else EMPTY,
            shell.picker("Access", "access", harness.access) if harness.access else EMPTY,
            shell.picker("Asks you", "asking", harness.asking) if harness.asking else EMPTY,
            class_="pickers",
        ),
        class_="choices",
        data_harness=harness.name,
        data_installed=str(harness.is_installed).lower(),
        hidden=number > 0,
        disabled=number > 0,
    )


def _first_time() -> Html:
    """An introduction for first-time users."""
    steps = (
        (
            "Describe the task",
            "The agent works in the folder above. You see each step as it happens.",
        ),
        (
            "Answer its questions",
            "It asks before it does what the sandbox does not allow. No answer counts as a denial.",
        ),
        (
            "Steer or stop it",
            "Send messages while it works, and continue when it is done. The history keeps everything.",
        ),
    )
    items = [element("li", element("b", title), words) for title, words in steps]
    return element("ul", *items, class_="first-time")


def _cards(title: str, rows: Sequence[SessionRow], name: str) -> Html:
    items = [element("li", _card(each)) for each in rows]
    return element(
        "section",
        element("h2", title),
        element("ul", *items, class_="cards"),
        class_="group",
        id=name,
    )


def _card(row: SessionRow) -> Html:
    place = f"/s/{row.session_id}" + (f"#t{row.turn}" if row.turn else "")
    put_away = "archived" if row.is_archived else ""
    facts = [
        row.harness or "",
        row.model or "",
        shell.folder(row.cwd),
        shell.since(row.at),
        put_away,
    ]
    return element(
        "a",
        element("span", shell.dot(row.state), element("b", shell.title_of(row)), class_="first"),
        element("span", _found(row.snippet), class_="snippet") if row.snippet else "",
        element("span", *(element("span", each) for each in facts if each), class_="sub"),
        href=place,
        class_="card",
    )


def _found(snippet: str) -> Html:
    """A snippet of a search hit; \\x02 and \\x03 enclose the matching words."""
    pieces: list[str] = []
    for number, piece in enumerate(snippet.replace("\x03", "\x02").split("\x02")):
        pieces.append(element("mark", piece) if number % 2 else piece)
    return joined(pieces)


def history(
    rows: Sequence[SessionRow],
    *,
    query: str = "",
    following: str | None = None,
    days: Sequence[tuple[date, int]] = (),
    sessions: Sequence[SessionRow] = (),
    total: int | None = None,
) -> str:
    """The history: all sessions, or search results. ``following`` is the URL of the next page."""
    form = element(
        "form",
        element("label", "Search all sessions", class_="aside-word", for_="query"),
        opening(
            "input",
            id="query",
            type="search",
            name="q",
            value=query or None,
            placeholder="Words, a file name, an error message",
        ),
        element("button", "Search", type="submit", class_="button"),
        action="/history",
        role="search",
        class_="wide-search",
    )
    said = f"{len(rows) if total is None else total:,} found" if query else ""
    nothing = "Nothing found." if query else "No sessions yet."
    listed = (
        element("ul", *(element("li", _card(each)) for each in rows), class_="cards", id="found")
        if rows
        else element("p", nothing, class_="empty")
    )
    more = (
        element("a", "Earlier ones", href=following, class_="button", id="following")
        if following
        else EMPTY
    )
    chart = charts.activity(days) if days and not query else EMPTY
    body = element(
        "div",
        element("h1", "History"),
        form,
        _indexing(),
        element(
            "div",
            chart,
            element("p", said, class_="count", role="status") if said else EMPTY,
            listed,
            more,
            id="results",
        ),
        class_="column",
    )
    return shell.page("history", "History", body, sessions=sessions, here="/history")


def _indexing() -> Html:
    """The progress bar while sessions are being indexed."""
    return element(
        "div",
        element("progress", max="1", value="0", id="indexing-bar", aria_label="Sessions read"),
        element("p", id="indexing-words", role="status", class_="sub"),
        id="indexing",
        hidden=True,
    )
