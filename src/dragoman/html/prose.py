"""Untrusted Markdown as HTML: every tag is ours, all text is escaped.

markdown-it only finds the structure; this module writes the elements, from the table below. HTML in a text is
escaped; links lead to the web or a mailbox, or are not links; images are named, never loaded. So no sanitizer is
needed. A text that is too long for prose is shown unformatted.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from dragoman.html.pieces import EMPTY, Html, clipped, element, joined, link, opening, text
from dragoman.rendering import render

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST: Final = 100_000
"""A longer text is not parsed as Markdown."""
MOST: Final = 200_000
"""The most characters of a text on a page."""

_TAGS: Final = {
    "paragraph": "p",
    "blockquote": "blockquote",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "em": "em",
    "strong": "strong",
    "s": "s",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
}
_HEADINGS: Final = {"h1": "h3", "h2": "h4", "h3": "h5"}
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]}*_]")


def prose(words: str) -> Html:
    """Text of a user or an agent, which may be Markdown."""
    words = render.harmless(words).strip("\n")
    if len(words) > LONGEST or _is_one_block(words):
        return element("pre", Html("\n"), clipped(words, MOST), class_="plain")
    if not words.strip():
        return EMPTY
    return element("div", joined(_blocks(_reader().parse(words))), class_="prose")


def _is_one_block(words: str) -> bool:
    """Whether a line is too long to be prose."""
    return max(map(len, words.split("\n"))) > 20_000


@functools.cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    reader.disable(["html_block", "html_inline"])
    # Accept all links here; link() decides which of them may be followed.
    reader.validateLink = lambda url: True
    return reader


def _blocks(tokens: Sequence[Token]) -> Iterator[Html]:
    for token in tokens:
        kind = token.type.removesuffix("_open").removesuffix("_close")
        match kind:
            case "inline":
                yield joined(_spans(token.children or []))
            case "fence" | "code_block":
                yield element("pre", element("code", token.content.rstrip("\n")), class_="code")
            case "hr":
                yield element("hr")
            case "heading":
                yield _tag(_HEADINGS.get(token.tag, "h6"), token)
            case "paragraph" if token.hidden:
                continue
            case _:
                yield _tag(_TAGS[kind], token) if kind in _TAGS else text(token.content)


def _spans(tokens: Sequence[Token]) -> Iterator[Html]:
    addresses: list[str] = []
    """The addresses of the open links; their text is collected for them."""
    held: list[list[Html]] = []
    for token in tokens:
        match token.type:
            case "link_open":
                addresses.append(str(token.attrs.get("href", "")))
                held.append([])
                continue
            case "link_close":
                span = link(addresses.pop(), *held.pop())
            case _:
                span = _span(token, is_linked=bool(addresses))
        if held:
            held[-1].append(span)
        else:
            yield span


def _span(token: Token, *, is_linked: bool) -> Html:
    match token.type:
        case "text":
            return text(token.content) if is_linked else _with_links(token.content)
        case "code_inline":
            return element("code", token.content)
        case "softbreak":
            return Html("\n")
        case "hardbreak":
            return Html("<br>\n")
        case "image":
            address = str(token.attrs.get("src", ""))
            name = render.image(address)
            if is_linked:
                return element("span", name, class_="image-name")
            return link(address, element("span", token.content or name, class_="image-name"))
        case kind:
            known = _TAGS.get(kind.removesuffix("_open").removesuffix("_close"))
            return _tag(known, token) if known else text(token.content)


def _with_links(words: str) -> Html:
    """Text with links for its web addresses."""
    if "://" not in words:
        return text(words)
    pieces: list[Html] = []
    at = 0
    for found in _ADDRESS.finditer(words):
        pieces += [text(words[at : found.start()]), link(found[0], found[0])]
        at = found.end()
    return joined([*pieces, text(words[at:])])


def _tag(name: str, token: Token) -> Html:
    if token.nesting < 0:
        return Html(f"</{name}>")
    start = token.attrs.get("start") if name == "ol" else None
    # Cells have their alignment in a style attribute, which we do not use.
    align = re.fullmatch(r"text-align:(left|center|right)", str(token.attrs.get("style", "")))
    return opening(
        name,
        class_=f"to-{align[1]}" if align else None,
        start=str(start) if isinstance(start, int) else None,
    )
