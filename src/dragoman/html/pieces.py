"""Build HTML safely: our own elements, with untrusted text always escaped.

:func:`element` escapes a plain ``str``. Only :class:`Html` is inserted unchanged, and only the modules of this
package create it. There are no ``style`` and no ``on…`` attributes, so a page that forbids them can show these
pieces.
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
    """Trusted markup."""

    __slots__ = ()


EMPTY: Final = Html("")


def text(words: str) -> Html:
    """Untrusted text, escaped; characters that reorder or hide text become visible."""
    return Html(escape(render.harmless(words)))


def clipped(words: str, most: int = 20_000) -> str:
    """The text, or its start and end if it is too long to read."""
    gap = len(words) - most
    if gap <= 0:
        return words
    return f"{words[: most // 2]} … {gap:,} characters left out … {words[-most // 2 :]}"


def element(name: str, /, *children: str, **attributes: str | bool | None) -> Html:
    """An element. ``class_`` and ``data_x`` become the attributes ``class`` and ``data-x``."""
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
    """A link if it leads to the web or a mailbox; else the text and the address."""
    if not _LINK.match(address):
        return element("span", *children, class_="ref", title=address)
    return element("a", *children, href=address, rel="noopener noreferrer nofollow")


def folded(
    title: str, *children: str, class_: str, id: str | None = None, is_open: bool = False
) -> Html:
    """A ``details`` element."""
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
