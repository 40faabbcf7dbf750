"""Which values of a duplicate line need no message, and why: each harness has a table of places.

A place is the name of the line and the way to the value: ``item/started.item.type``. In a pattern ``*`` stands
for one name and ``**`` for any way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from dragoman.harnesses.contract.reading import Value
from dragoman.wire.loose import as_dict, as_list


class Omission(NamedTuple):
    """Some places, and why what is there is in no message."""

    why: str
    places: tuple[str, ...]


class Omissions:
    """A table of omissions, and the places that are exceptions to it."""

    def __init__(self, table: Iterable[Omission], exceptions: Iterable[str] = ()) -> None:
        self._patterns = [(_pattern(each.places), each.why) for each in table]
        self._exceptions = _pattern(exceptions)
        self.reason = lru_cache(maxsize=8192)(self._reason)

    def _reason(self, place: str) -> str | None:
        """Why what is at this place is in no message; None if it has to be."""
        if self._exceptions.fullmatch(place):
            return None
        return next((why for pattern, why in self._patterns if pattern.fullmatch(place)), None)

    def values(
        self, place: str, value: Any, forms: Callable[[Any], list[list[Any]]] | None = None
    ) -> Iterator[Value]:
        """The values in a value, as deep as they are nested, that no omission explains.

        ``forms`` lists other ways in which one may have been emitted.
        """
        if value is None or value in ("", [], {}) or isinstance(value, bool) or self.reason(place):
            return
        if isinstance(value, dict):
            for key, inner in as_dict(value).items():
                yield from self.values(f"{place}.{key}", inner, forms)
        elif isinstance(value, list):
            for inner in as_list(value):
                yield from self.values(f"{place}[]", inner, forms)
        else:
            yield Value(place, value, [[value], *(forms(value) if forms is not None else ())])


def _pattern(places: Iterable[str]) -> re.Pattern[str]:
    spelled = {"**.": r"(?:.*\.)?", "**": r".*", "*": r"[^.]*"}
    parts = (re.split(r"(\*\*\.?|\*)", place) for place in places)
    words = ("".join(spelled.get(part) or re.escape(part) for part in each) for each in parts)
    return re.compile("|".join(f"(?:{word})" for word in words) or r"(?!)")
