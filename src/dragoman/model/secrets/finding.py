"""Find every secret in a text: known tokens, known places, and values of names that sound secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from dragoman.model.secrets.assigning import assigned, lowered
from dragoman.model.secrets.judging import is_dummy
from dragoman.model.secrets.literals import needs_of
from dragoman.model.secrets.places import PLACES
from dragoman.model.secrets.tokens import SHORTEST, TOKENS, Token

_SHORTEST_TEXT: Final = 5
_RUN: Final = b"w" * SHORTEST
_IN_TOKEN: Final = bytes(
    ord("w") if (chr(code).isalnum() and code < 128) or chr(code) in "_-." else ord(" ")
    for code in range(256)
)
_IN_WORD: Final = bytes(
    code if chr(code).isalnum() and code < 128 else ord(" ") for code in range(256)
)
_COLOURS: Final = re.compile(r"(?:\x1b|\\x1b|\\033|\\e|\\u001[bB])\[[0-9;?]{0,16}[A-Za-z]")
_ESCAPES: Final = re.compile(r"(?:\\[nrtbfv]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})")
"""What can come right before a token and ends in a letter or a digit."""


@dataclass(frozen=True, slots=True)
class FoundSecret:
    begin: int
    end: int
    kind: str


def find_secrets(text: str) -> list[FoundSecret]:
    """Every secret in the text, in order, without overlaps."""
    if len(text) < _SHORTEST_TEXT:
        return []
    if "\x1b" in text or "[0m" in text:
        text = _COLOURS.sub(_blank, text)
    lower = lowered(text)
    found = [*_in_places(text, lower), *_named(text, lower)]
    if len(text) >= SHORTEST:
        found += _tokens(text)
    if len(found) < 2:
        return found
    found.sort(key=lambda each: (each.begin, -each.end))
    kept = [found[0]]
    for each in found[1:]:
        last = kept[-1]
        if each.begin >= last.end:
            kept.append(each)
        elif each.end > last.end:
            kept[-1] = FoundSecret(last.begin, each.end, last.kind)
    return kept


_BY_WORD: Final = {
    word: tuple(place for place in PLACES if word in place.words)
    for word in sorted({word for place in PLACES for word in place.words})
}
_BY_SIGN: Final = tuple(
    (sign, tuple(place for place in PLACES if sign in place.signs))
    for sign in sorted({sign for place in PLACES for sign in place.signs})
)


_needs: Final = cache(needs_of)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _in_places(text: str, lower: str) -> list[FoundSecret]:
    # The set of all words costs less than looking for each word of the table.
    plain = lower.replace("\\n", " ") if "\\n" in lower else lower
    words = {*plain.encode("latin-1", "replace").translate(_IN_WORD).split()}
    places = [place for word in _BY_WORD.keys() & words for place in _BY_WORD[word]]
    places += [place for sign, places in _BY_SIGN if sign in text for place in places]
    return [
        FoundSecret(begin, end, place.kind)
        for place in dict.fromkeys(places)
        if _needs(place.pattern).are_met(text, lower)
        for begin, end in place.find(text)
    ]


def _named(text: str, lower: str) -> list[FoundSecret]:
    return [FoundSecret(begin, end, "password or key") for begin, end in assigned(text, lower)]


@cache
def _by_beginning() -> dict[str, tuple[Token, ...]]:
    made: dict[str, list[Token]] = {}
    for token in TOKENS:
        made.setdefault(token.prefix[:2], []).append(token)
    return {beginning: tuple(tokens) for beginning, tokens in made.items()}


def _tokens(text: str) -> Iterator[FoundSecret]:
    """Yield the known tokens. Only long runs of word characters are examined."""
    # One byte per character says whether it can be part of a token. This is far faster than a pattern.
    classes = text.encode("latin-1", "replace").translate(_IN_TOKEN)
    tokens = _by_beginning()
    at = classes.find(_RUN)
    while at >= 0:
        end = classes.find(b" ", at)
        end = len(text) if end < 0 else end
        found = _token_at(text, at, tokens)
        if found is None and (text[at] in "-._" or (at and text[at - 1] in "\\%[;0123456789")):
            begin = _next_beginning(text, at, end)
            found = _token_at(text, begin, tokens) if at < begin < end else None
        if found is not None:
            yield found
        at = classes.find(_RUN, end)


def _token_at(text: str, at: int, tokens: dict[str, tuple[Token, ...]]) -> FoundSecret | None:
    for beginning in (text[at : at + 2], text[at], ""):
        if beginning in tokens:
            for token in tokens[beginning]:
                end = token.end(text, at)
                if end >= 0 and not is_dummy(text[at:end]):
                    return FoundSecret(at, end, token.kind)
    return None


def _next_beginning(text: str, at: int, end: int) -> int:
    """Find where else in a run a token may start: after an escape, a diff's sign, or an option's dashes."""
    escape = _ESCAPES.search(text, max(0, at - 16), min(end, at + 8))
    if escape and escape.start() < at < escape.end():
        return escape.end()
    while at < end and text[at] in "-._":
        at += 1
    return at
