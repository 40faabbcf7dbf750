"""Translate a user's query to the syntax of the full-text table.

===============  ======================================================
``rate limit``   both words, anywhere in the message
``"rate limit"`` the phrase
``rate*``        words that start with "rate"
``-limit``       without this word; also works before a phrase
``a OR b``       either word
``src/app.py``   punctuation separates words: the phrase src, app, py
===============  ======================================================

Case and accents are ignored.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dragoman.errors import UsageError
from dragoman.store.entries import spaced

_TERM: Final = re.compile(r'(-?)(?:"([^"]*)"?|([^\s"]+))')
_WORD: Final = re.compile(r"\w")


class Query(NamedTuple):
    match: str
    """The expression for the full-text table."""
    needles: tuple[str, ...]
    """The texts to highlight in a match."""


def parse(text: str) -> Query:
    """Parse a query. Raises ``UsageError`` if it contains no word."""
    groups: list[list[str]] = [[]]
    wanted: list[str] = []
    unwanted: list[str] = []
    joins = False
    for minus, phrase, word in _TERM.findall(text):
        if word == "OR" and not minus:
            joins = bool(groups[-1])
            continue
        term = phrase or word
        is_prefix = bool(word) and term.endswith("*")
        term = term.rstrip("*") if word else term
        if not _WORD.search(term):
            continue
        expression = f'"{spaced(term)}"'.replace("\0", " ") + "*" * is_prefix
        if minus:
            unwanted.append(expression)
            continue
        wanted.append(term)
        if joins:
            groups[-1].append(expression)
        else:
            groups.append([expression])
        joins = False
    required = [f"({' OR '.join(group)})" for group in groups if group]
    if not required:
        raise UsageError(
            f"no word to search for in {text!r}; use `--scan` to find any text, including punctuation"
        )
    match = " AND ".join(required)
    if unwanted:
        match = f"({match}) NOT ({' OR '.join(unwanted)})"
    return Query(match, tuple(wanted))
