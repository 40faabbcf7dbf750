"""Texts in the pieces in which a model streams them."""

from __future__ import annotations

from collections.abc import Iterator

_PIECE = 16 * 1024


def pieces(text: str) -> Iterator[str]:
    """A text as a model streams it: word by word, or in larger pieces when there is much of it."""
    if len(text) <= _PIECE:
        start = 0
        while start < len(text):
            end = text.find(" ", start + 1)
            end = len(text) if end < 0 else end
            yield text[start:end]
            start = end
        return
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]
