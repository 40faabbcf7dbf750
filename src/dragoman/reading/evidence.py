"""An index of everything the messages of a stream contain, used to check that no value was lost."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, cast

import msgspec

from dragoman.harnesses.contract.reading import Value
from dragoman.model.messages import Delta, Message

_KEPT: Final = 64 << 20
"""How many characters of text are kept for substring search. Older text is only matched whole."""
_SHORT: Final = 4
"""Shorter texts must match as a whole word."""
_SPACE: Final = re.compile(r"\s+")
_NOT_WORD: Final = re.compile(r"[\W_]+")


class Evidence:
    """All values that messages have contained so far."""

    def __init__(self) -> None:
        self._whole: set[str] = set()
        self._words: set[str] = set()
        self._numbers: set[float] = set()
        self._texts: list[str] = []
        self._size = 0
        self._all: str | None = None
        self._spaced: str | None = None

    def add(self, message: Message) -> None:
        # consecutive deltas form one text, so they are joined without a separator
        if isinstance(message, Delta):
            self._keep(message.text, joined=True)
        else:
            self._add(msgspec.to_builtins(message, builtin_types=(datetime,)))

    def _add(self, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in cast("dict[str, Any]", value).items():
                self._keep(key)
                self._add(inner)
        elif isinstance(value, list):
            for inner in cast("list[Any]", value):
                self._add(inner)
        elif isinstance(value, str):
            self._keep(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self._numbers.add(value)

    def _keep(self, text: str, *, joined: bool = False) -> None:
        if not joined:
            if text in self._whole:
                return
            self._whole.add(text)
            text += "\0"
        else:
            self._whole.add(text)
        if len(text) < 60:
            self._words.add(_NOT_WORD.sub("", text).lower())
        self._texts.append(text)
        self._size += len(text)
        self._all = self._spaced = None
        while self._size > _KEPT:
            self._size -= len(self._texts.pop(0))

    def holds(self, value: Value) -> bool:
        """Whether some message contained the value, in one of its forms."""
        return any(all(map(self._has, form)) for form in value.forms)

    def _has(self, part: Any) -> bool:
        if isinstance(part, bool) or part is None or part == "":
            return True
        if isinstance(part, int | float):
            return part in self._numbers or self._has(str(part))
        if not isinstance(part, str):
            return False
        if part in self._whole or _NOT_WORD.sub("", part).lower() in self._words:
            return True
        if self._all is None:
            self._all = "".join(self._texts)
        if len(part) < _SHORT:
            return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", self._all) is not None
        if part in self._all:
            return True
        if self._spaced is None:
            self._spaced = _SPACE.sub(" ", self._all)
        return _SPACE.sub(" ", part).strip() in self._spaced


def missing_values(values: Iterable[Value], evidence: Evidence) -> list[Value]:
    """Return the values that no message contained."""
    return [value for value in values if not evidence.holds(value)]
