"""SVG bar charts with a label for each bar, coloured by the style sheet, without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Final

from dragoman.html.pieces import EMPTY, Html, element, joined
from dragoman.web.page.rows import UsageRow

_WIDTH: Final = 720
_HEIGHT: Final = 170
_FOOT: Final = 22


def short(number: float) -> str:
    """``950``, ``12.3k``, ``4.56M``."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            shown = f"{number / size:.3g}"
            return f"{shown}{letter}" if "e" not in shown else f"{number / size:.0f}{letter}"
    return f"{number:,.0f}"


def dollars(amount: float | None) -> str:
    if amount is None:
        return "—"
    return f"${amount:,.2f}" if amount >= 0.01 or amount == 0 else "<$0.01"


def every_day(known: Iterable[date], most: int) -> list[date]:
    """All days from first to last, limited to the most recent ones."""
    found = sorted(known)
    if not found:
        return []
    count = min(most, (found[-1] - found[0]).days + 1)
    return [found[-1] - timedelta(days=back) for back in range(count - 1, -1, -1)]


def bar(share: float) -> Html:
    """A small bar in a table."""
    width = max(0.0, min(1.0, share)) * 60
    return element(
        "svg",
        element("rect", width=f"{width:.1f}", height="8", rx="2", class_="bar-fill"),
        class_="small-bar",
        viewBox="0 0 60 8",
        width="60",
        height="8",
        aria_hidden="true",
    )


def window(name: str, percent: float | None, resets_at: datetime | None) -> Html:
    """A rate limit window: its use, and when it resets."""
    words = f"{percent:.0f} % used" if percent is not None else "not reported"
    until = (
        element(
            "time",
            f"{resets_at:%Y-%m-%d %H:%M} UTC",
            datetime=resets_at.isoformat(),
            class_="until",
        )
        if resets_at
        else EMPTY
    )
    return element(
        "div",
        element("span", name, class_="name"),
        element(
            "progress",
            max="100",
            value=f"{percent or 0:.0f}",
            class_="full" if (percent or 0) > 80 else None,
            aria_label=f"{name}: {words}",
        ),
        element("span", words, " · " if until else "", until, class_="sub"),
        class_="window",
    )


def spending(days: Sequence[UsageRow]) -> Html:
    """Tokens by day, as stacked bars: cached input, new input, output."""
    most = max((each.input_tokens + each.output_tokens for each in days), default=0) or 1
    wide = _WIDTH / len(days)
    bars: list[Html] = []
    for place, day in enumerate(days):
        fresh = max(0, day.input_tokens - day.cached_input_tokens)
        parts = (("cached", day.cached_input_tokens), ("fresh", fresh), ("out", day.output_tokens))
        top = float(_HEIGHT)
        rects: list[Html] = []
        for name, count in parts:
            high = _HEIGHT * 0.94 * count / most
            top -= high
            rects.append(_rect(place * wide, top, wide, high, name))
        said = f"{day.key}: {short(day.input_tokens)} in, {short(day.output_tokens)} out, {dollars(day.cost)}"
        bars.append(element("g", element("title", said), *rects, class_="day"))
    legend = element(
        "figcaption",
        element("span", "Tokens by day", class_="caption"),
        *(
            element("span", words, class_=f"key {name}")
            for name, words in (
                ("cached", "from the cache"),
                ("fresh", "new input"),
                ("out", "output"),
            )
        ),
    )
    return _figure(
        joined([*bars, _grid(most), _ends(days[0].key, days[-1].key)]), legend, "Tokens by day"
    )


def activity(days: Sequence[tuple[date, int]]) -> Html:
    """Sessions by day."""
    most = max((count for _, count in days), default=0) or 1
    most += most % 2  # half of it gets a label too
    wide = _WIDTH / len(days)
    bars = [
        element(
            "g",
            element("title", f"{day}: {count} session{'s' * (count != 1)}"),
            _rect(
                place * wide,
                _HEIGHT * (1 - 0.94 * count / most),
                wide,
                _HEIGHT * 0.94 * count / most,
                "fresh",
            ),
        )
        for place, (day, count) in enumerate(days)
    ]
    legend = element("figcaption", element("span", "Sessions by day", class_="caption"))
    ends = _ends(days[0][0].isoformat(), days[-1][0].isoformat())
    return _figure(joined([*bars, _grid(most), ends]), legend, "Sessions by day")


def _rect(left: float, top: float, wide: float, high: float, name: str) -> Html:
    gap = min(2.0, wide * 0.2)
    return (
        element(
            "rect",
            x=f"{left + gap / 2:.2f}",
            y=f"{top:.2f}",
            width=f"{wide - gap:.2f}",
            height=f"{high:.2f}",
            class_=name,
        )
        if high > 0
        else EMPTY
    )


def _grid(most: float) -> Html:
    lines: list[Html] = []
    for share in (0.5, 1.0):
        y = _HEIGHT * (1 - 0.94 * share)
        lines.append(
            element("line", x1="0", x2=str(_WIDTH), y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid")
        )
        lines.append(
            element("text", short(most * share), x=str(_WIDTH), y=f"{y - 3:.1f}", class_="tick end")
        )
    return joined(lines)


def _ends(first: str, last: str) -> Html:
    y = str(_HEIGHT + 15)
    return joined(
        [
            element(
                "line", x1="0", x2=str(_WIDTH), y1=str(_HEIGHT), y2=str(_HEIGHT), class_="base"
            ),
            element("text", first, x="0", y=y, class_="tick"),
            element("text", last, x=str(_WIDTH), y=y, class_="tick end")
            if last != first
            else EMPTY,
        ]
    )


def _figure(drawn: Html, legend: Html, name: str) -> Html:
    picture = element(
        "svg",
        drawn,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT + _FOOT}",
        role="img",
        aria_label=name,
        class_="chart",
    )
    return element("figure", legend, picture, class_="group")
