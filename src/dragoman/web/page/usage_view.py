"""The usage page: tokens and cost by day, model and folder, as figures, charts and tables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from dragoman.html.pieces import EMPTY, Html, element
from dragoman.rendering import render
from dragoman.web.page import charts, shell
from dragoman.web.page.rows import SessionRow, UsageRow, UsageView

_MOST_DAYS: Final = 60


def usage(view: UsageView, *, sessions: Sequence[SessionRow] = ()) -> str:
    """The usage page."""
    days = _each_day(view.days)
    tokens = sum(each.input_tokens + each.output_tokens for each in view.days)
    cost = sum(each.cost or 0 for each in view.days)
    spent_in = sum(each.input_tokens for each in view.days)
    cached = sum(each.cached_input_tokens for each in view.days)
    figures = [
        ("Cost", charts.dollars(cost)),
        ("Tokens", charts.short(tokens)),
        ("From the cache", f"{100 * cached / spent_in:.0f} %" if spent_in else "—"),
        ("Sessions", f"{view.sessions:,}"),
    ]
    tiles = element(
        "dl",
        *(element("div", element("dt", name), element("dd", value)) for name, value in figures),
        class_="tiles",
    )
    unpriced = (
        element(
            "p",
            f"{charts.short(view.unpriced_tokens)} tokens belong to models without a known price "
            "and are not included in the cost.",
            class_="notice info",
        )
        if view.unpriced_tokens
        else EMPTY
    )
    windows = element("div", *(charts.window(*each) for each in view.windows), class_="windows")
    body = element(
        "div",
        element("h1", "Usage"),
        tiles,
        unpriced,
        windows if view.windows else EMPTY,
        charts.spending(days) if days else element("p", "No usage yet.", class_="empty"),
        _table("By model", "Model", view.models),
        _table("By folder", "Folder", view.folders),
        _table("By day", "Day", list(reversed(view.days)), is_folded=True),
        class_="column",
    )
    return shell.page("usage", "Usage", body, sessions=sessions, here="/usage")


def _each_day(spent: Sequence[UsageRow]) -> list[UsageRow]:
    """The last days in sequence; days without data count as zero."""
    known = {day: each for each in spent if (day := _as_day(each.key)) is not None}
    days = charts.every_day(known, _MOST_DAYS)
    return [known.get(day) or UsageRow(key=day.isoformat()) for day in days]


def _as_day(key: str) -> date | None:
    try:
        return date.fromisoformat(key)
    except ValueError:
        return None


def _table(title: str, first: str, rows: Sequence[UsageRow], *, is_folded: bool = False) -> Html:
    if not rows:
        return EMPTY
    names = (first, "Input", "Cached", "Output", "Cost", "Sessions")
    head = element("tr", *(element("th", name, scope="col") for name in names))
    most = max((each.cost or 0 for each in rows), default=0)
    body = [
        element(
            "tr",
            element("th", render.one_line(row.key, 80), scope="row", title=row.key),
            *(
                element("td", charts.short(each))
                for each in (row.input_tokens, row.cached_input_tokens, row.output_tokens)
            ),
            element(
                "td",
                charts.bar((row.cost or 0) / most if most else 0),
                charts.dollars(row.cost),
                class_="cost",
            ),
            element("td", f"{row.sessions:,}"),
        )
        for row in rows
    ]
    table = element(
        "div",
        element("table", element("thead", head), element("tbody", *body)),
        class_="table",
        tabindex="0",
        role="region",
        aria_label=title,
    )
    if is_folded:
        return element("details", element("summary", title), table, class_="group")
    return element("section", element("h2", title), table, class_="group")
