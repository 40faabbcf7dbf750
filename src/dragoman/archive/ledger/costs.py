"""The cost of single sessions, computed by the ledger and cached for lists.

Only the files of these sessions are read, and only if the ledger has not read them before. What a
sub-agent spent counts for the sub-agent. A cached cost is valid as long as files and prices are
unchanged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from decimal import Decimal
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dragoman.about import VERSION
from dragoman.archive.sealed import sealed, unsealed
from dragoman.folders import cache_path

if TYPE_CHECKING:
    from dragoman.archive.saved import SavedSession

CURRENCY: Final = "USD"
_MEMORY: Final = "costs.json"
_MOST: Final = 20_000
"""How many sessions are cached, the newest ones."""


class Cost(NamedTuple):
    """The cost of a session, as far as prices are known."""

    amount: Decimal | None
    """In :data:`CURRENCY`; None if nothing has a known price."""
    unpriced_tokens: int = 0
    """Tokens without a known price, which are not included in the amount."""

    @property
    def whole(self) -> Decimal | None:
        """The amount, if it includes all tokens."""
        return None if self.unpriced_tokens else self.amount


def costs_of(
    sessions: Iterable[SavedSession], environment: Mapping[str, str] = os.environ
) -> dict[str, Cost]:
    """Return the costs of these sessions by id. A session that reports no usage is not included."""
    own = _own_prices(environment)
    memory = _CostCache(os.path.join(cache_path(environment), _MEMORY), _stamp(own))
    wanted = {session.id: session for session in sessions}
    states = _states(list(wanted.values()))
    costs = {name: memory.recall(name, state) for name, state in states.items()}
    missing = [wanted[name] for name, cost in costs.items() if cost is _UNKNOWN]
    if missing:
        counted = _count(missing, own, environment)
        costs |= {session.id: counted.get(session.id) for session in missing}
        memory.remember({name: (states[name], costs[name]) for name in costs})
    return {name: cost for name, cost in costs.items() if cost is not None}


def _count(
    sessions: list[SavedSession], own: str | None, environment: Mapping[str, str]
) -> dict[str, Cost]:
    from dragoman.archive.ledger.groups import summary
    from dragoman.archive.ledger.ledger import Ledger  # slow to import
    from dragoman.archive.ledger.prices import Prices

    folder = cache_path(environment)
    book = Prices(own, memory=os.path.join(folder, "prices.json"))
    files = {found.path: found for session in sessions for found in session.files()}
    ledger = Ledger.read(files.values(), prices=book, cache=os.path.join(folder, "usage.msgpack"))
    costs = {
        group.key: Cost(group.cost, group.unpriced_tokens)
        for group in summary(ledger, "session").groups
        if group.usage is not None
    }
    book.remember()
    return costs


_UNKNOWN: Final = Cost(None, -1)
"""Not computed yet."""


class _CostCache:
    """A cache file with costs. It may be deleted at any time; the last writer wins."""

    def __init__(self, path: str, stamp: str) -> None:
        self._path = path
        self._stamp = stamp
        self._kept: dict[str, Any] = {}
        try:
            with open(path, "rb") as file:
                found: Any = json.loads(unsealed(file.read()))
        except (OSError, ValueError):
            return
        match found:
            case {"stamp": known, "sessions": dict()} if known == stamp:
                self._kept = found["sessions"]
            case _:
                pass

    def recall(self, session_id: str, state: str) -> Cost | None:
        """Return the cached cost for these files; None for a session that reports no usage."""
        match self._kept.get(session_id):
            case [str(known), None, 0] if known == state:
                return None
            case [str(known), str(amount), int(unpriced)] if known == state:
                return Cost(Decimal(amount) if amount else None, unpriced)
            case _:
                return _UNKNOWN

    def remember(self, costs: Mapping[str, tuple[str, Cost | None]]) -> None:
        from dragoman.archive.folders import write_whole

        for name, (state, cost) in costs.items():
            self._kept.pop(name, None)
            if cost is None:
                self._kept[name] = [state, None, 0]
            else:
                amount = "" if cost.amount is None else str(cost.amount)
                self._kept[name] = [state, amount, cost.unpriced_tokens]
        newest = dict(list(self._kept.items())[-_MOST:])
        data = json.dumps({"stamp": self._stamp, "sessions": newest}, separators=(",", ":"))
        write_whole(self._path, sealed(data.encode()))


def _own_prices(environment: Mapping[str, str]) -> str | None:
    from dragoman.archive.folders import config_folder, own_prices

    return own_prices(config_folder(environment))


def _stamp(own: str | None) -> str:
    """Return a value that changes with everything that determines cost, except the tokens."""
    library = find_spec("genai_prices")
    table = os.path.join(os.path.dirname(__file__), "prices_known.json")
    if library is not None and library.origin:
        table = os.path.dirname(library.origin)
    places = [table]
    places += [own] if own is not None else []
    return " ".join([VERSION, *(f"{place} {os.stat(place).st_mtime_ns}" for place in places)])


def _states(sessions: list[SavedSession]) -> dict[str, str]:
    from dragoman.archive.saved import SavedSession  # imports the store

    return {
        name: " ".join(f"{size:x}-{mtime_ns:x}" for size, mtime_ns in files)
        for name, files in SavedSession.file_states(sessions).items()
    }
