"""Ids of calls that an API accepts, each used once."""

from __future__ import annotations

import re
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]+\Z")
_LONGEST: Final = 64


class CallIds:
    """The ids of the calls of one new session. A call keeps its id if that fits and is not taken."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._count = 0

    def take(self, call_id: str) -> str:
        self._count += 1
        is_fit = len(call_id) <= _LONGEST and _PLAIN.match(call_id) and call_id not in self._taken
        taken = call_id if is_fit else f"call_handoff_{self._count}"
        while taken in self._taken:
            taken += "_"
        self._taken.add(taken)
        return taken
