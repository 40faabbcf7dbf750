"""What single sessions have cost, by the ledger.

Only the files of these sessions are read, and only if the ledger has not read them before. What a
sub-agent spent is the sub-agent's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from dragoman.archive.finding import cache_folder
from dragoman.archive.folders import config_folder
from dragoman.archive.ledger import Ledger
from dragoman.archive.ledger_groups import summary
from dragoman.archive.prices import Prices
from dragoman.archive.prices_own import own_prices
from dragoman.archive.saved import SavedSession

CURRENCY: Final = "USD"


class Cost(NamedTuple):
    """What a session has cost, as far as prices are known."""

    amount: Decimal | None
    """In :data:`CURRENCY`; None if nothing of it has a price."""
    unpriced_tokens: int = 0
    """Tokens that are not in the amount, since nobody knows their price."""

    @property
    def whole(self) -> Decimal | None:
        """The amount, if there is nothing beside it."""
        return None if self.unpriced_tokens else self.amount


def costs_of(
    sessions: Iterable[SavedSession], environment: Mapping[str, str] = os.environ
) -> dict[str, Cost]:
    """What these sessions have cost, by id. One that tells no usage is not among them."""
    sessions = list(sessions)
    folder = cache_folder(environment)
    book = Prices(own_prices(config_folder(environment)), memory=folder / "prices.json")
    files = {found.path: found for session in sessions for found in session.files()}
    ledger = Ledger.read(files.values(), prices=book, cache=folder / "usage.msgpack")
    wanted = {session.id for session in sessions}
    costs = {
        group.key: Cost(group.cost, group.unpriced_tokens)
        for group in summary(ledger, "session").groups
        if group.key in wanted and group.usage is not None
    }
    book.remember()
    return costs
