"""HTML that cannot be broken out of: elements made by us, the words of others always escaped.

A plain ``str`` given to :func:`element` is text and is escaped; only :class:`Html` is taken as it
is, and only this module and those beside it that are named ``html_…`` make any. There are no
``style`` and no ``on…`` attributes: a page that forbids them can show these pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Final

from dragoman.rendering import render

_VOID: Final = frozenset({"br", "hr", "img", "meta", "link"})
_LINK: Final = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]", re.IGNORECASE)


class Html(str):
    """Markup of our own making."""

    __slots__ = ()


EMPTY: Final = Html("")


def text(words: str) -> Html:
    """The words of others: escaped, with what would reorder or hide them made visible."""
    return Html(escape(render.harmless(words)))


def clipped(words: str, most: int = 20_000) -> str:
    """The words, or, if they are more than anybody reads, their beginning and their end."""
    gap = len(words) - most
    if gap <= 0:
        return words
    return f"{words[: most // 2]} … {gap:,} characters left out … {words[-most // 2 :]}"


def element(name: str, /, *children: str, **attributes: str | bool | None) -> Html:
    """An element. ``class_`` and ``data_x`` are spelled with their real names; none is left out."""
    head = f"<{name}{''.join(_attribute(*each) for each in attributes.items())}>"
    if name in _VOID:
        return Html(head)
    return Html(f"{head}{joined(children)}</{name}>")


def joined(children: Iterable[str], between: str = "") -> Html:
    return Html(
        between.join(each if isinstance(each, Html) else text(each) for each in children if each)
    )


def opening(name: str, /, **attributes: str | bool | None) -> Html:
    """The first half of an element that is written piece by piece."""
    return Html(f"<{name}{''.join(_attribute(*each) for each in attributes.items())}>")


def link(address: str, *children: str) -> Html:
    """A link out of the page if it leads to the web or a mailbox; else the words, and where to."""
    if not _LINK.match(address):
        return element("span", *children, class_="ref", title=address)
    return element("a", *children, href=address, rel="noopener noreferrer nofollow")


def folded(
    title: str, *children: str, class_: str, id: str | None = None, is_open: bool = False
) -> Html:
    """Something that opens when it is asked to."""
    summary = element("summary", title)
    return element("details", summary, *children, class_=class_, id=id, open=is_open)


def permalink(anchor: str | None) -> Html:
    if not anchor:
        return EMPTY
    return element("a", "#", class_="here", href=f"#{anchor}", aria_label="Link to this place")


def _attribute(name: str, value: str | bool | None) -> str:
    if value is None or value is False or value == "":
        return ""
    name = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    return f' {name}="{escape(render.flat(value))}"'
