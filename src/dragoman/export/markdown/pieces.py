"""Pieces of Markdown that safely contain untrusted text.

The text may use all of Markdown except HTML: tags are shown, because otherwise they would vanish or swallow the
rest of the page. A fence left open is closed; a fence or code span of ours is longer than any in its content.
This module works on text and knows nothing about messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dragoman.export.markdown.code import CodeLines
from dragoman.rendering import render

# Everything that can start a tag, except Markdown's own addresses in angle brackets.
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])(?!(?:https?|mailto):[^\s<>]+>)")
_SPAN: Final = re.compile(r"(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)", re.DOTALL)
_SPAN_OR_TAG: Final = re.compile(rf"(?P<span>{_SPAN.pattern})|{_TAG.pattern}", re.DOTALL)


def clean(text: str) -> str:
    return render.harmless(text).strip("\r\n")


def prose(text: str) -> str:
    """Untrusted text as Markdown that ends where the text ends."""
    text = clean(text)
    if "<" not in text and "```" not in text and "~~~" not in text:
        return text
    code = CodeLines()
    shown = "\n".join(_shown(text.split("\n"), code))
    return f"{shown}\n{code.missing_mark}" if code.missing_mark else shown


def _shown(lines: list[str], code: CodeLines) -> Iterator[str]:
    paragraph: list[str] = []
    for line in lines:
        if not code.have(line) and line.strip():
            paragraph.append(line)
            continue
        if paragraph:
            yield inline("\n".join(paragraph))
            paragraph = []
        yield line
    if paragraph:
        yield inline("\n".join(paragraph))


def inline(text: str) -> str:
    """Untrusted text inside a paragraph: tags are shown, code spans are unchanged."""
    if not _TAG.search(text):
        return text
    # A span that may end at a line, a cell or an escaped tick may not be one: escape everything.
    if "\\`" in text or any(mark in span[0] for span in _SPAN.finditer(text) for mark in "\n|"):
        return escaped(text)
    return _SPAN_OR_TAG.sub(lambda found: found["span"] or "&lt;", text)


def escaped(text: str) -> str:
    """The text with every tag shown, for where nothing can be code."""
    return _TAG.sub("&lt;", text)


def fenced(text: str, language: str, fold_after: int | None = None) -> str:
    """A block of code, folded if it has more lines than that."""
    text = clean(text)
    fence = "`" * max(3, 1 + _longest_run(text))
    block = f"{fence}{language}\n{text}\n{fence}"
    count = text.count("\n") + 1
    return block if fold_after is None or count <= fold_after else folded(f"{count} lines", block)


def code_span(text: str) -> str:
    """A code span, on one line."""
    text = " ".join(render.harmless(text).split())
    ticks = "`" * (1 + _longest_run(text))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text else ""


def folded(title: str, body: str) -> str:
    return f"<details>\n<summary>{escaped(clean(title))}</summary>\n\n{body}\n\n</details>"


def quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
