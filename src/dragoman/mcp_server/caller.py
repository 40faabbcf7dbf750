"""Which sessions are the caller's own, so that an agent that searches its history does not find its question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dragoman.wire.loose import as_dict, as_list

_NAMES: Final = ("SESSION_ID", "SESSION_IDS", "THREAD_ID")
_DEEPEST: Final = 4


def session_ids(meta: Mapping[str, Any], environment: Mapping[str, str]) -> frozenset[str]:
    """Return every id that may be that of the calling session.

    Agents name it in the call or in the environment of their servers, each under a name of its own. Whatever is
    not the id of a session matches none, so all candidates are returned.
    """
    return frozenset((*_texts(dict(meta), _DEEPEST), *_in_environment(environment)))


def _in_environment(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if name.endswith(_NAMES):
            yield from (part.strip() for part in value.split(",") if part.strip())


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth:
        for each in (*as_dict(value).values(), *as_list(value)):
            yield from _texts(each, depth - 1)
