"""Prices of tokens: rates for each model, from a bundled table or the user's own file.

Long requests cost more per token, and prices change over time, so a price applies to a single
request, never to the sum of a day. The table is generated from ``genai-prices``
(``benchmarks/known_prices.py``). If that library is installed (``dragoman[prices]``), it knows more
models and may be newer: then it is asked instead, once per model because it is slow to load, and
the answer is cached. A model without a known price has no price, not a price of zero.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from dragoman.archive.folders import write_whole
from dragoman.archive.ledger.own_prices import OwnPrices
from dragoman.archive.sealed import sealed, unsealed
from dragoman.model.usage import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice as LibraryPrice

_Path: TypeAlias = str | os.PathLike[str]
_MILLION: Final = Decimal(1_000_000)
_LIBRARY: Final = "genai-prices"
_DATED: Final = r"[-@](\d{8}|\d{4}-\d\d-\d\d)$|-latest$"
_MAKERS: Final = ("openai", "anthropic", "google")
"""The providers that are tried if a model's name does not include one."""


class Rates(msgspec.Struct, frozen=True):
    """US dollars per million tokens, for requests of a certain length."""

    input: Decimal
    cached_input: Decimal
    cache_write_input: Decimal
    output: Decimal
    above: int = 0
    """The rates apply to requests with more input tokens than this."""
    cache_write_1h_input: Decimal | None = None
    """For cache writes that are kept for an hour; None if they cost the same as others."""

    def cost(self, usage: Usage) -> Decimal:
        """Return the cost of these tokens. Cached and cache-write tokens are part of the input."""
        cached = min(usage.cached_input_tokens, usage.input_tokens)
        written = min(usage.cache_write_input_tokens, usage.input_tokens - cached)
        plain = usage.input_tokens - cached - written
        longer = min(usage.cache_write_1h_input_tokens, written)
        for_longer = self.cache_write_1h_input
        return (
            self.input * plain
            + self.cached_input * cached
            + self.cache_write_input * (written - longer)
            + (self.cache_write_input if for_longer is None else for_longer) * longer
            + self.output * usage.output_tokens
        ) / _MILLION


class Period(msgspec.Struct, frozen=True):
    """Rates that apply from a date on, or at certain hours."""

    rates: list[Rates]
    """By length of the request, shortest first."""
    from_date: date | None = None
    hours: tuple[time, time] | None = None
    """Start and end in UTC; may span midnight."""

    def holds(self, at: datetime) -> bool:
        if self.from_date is not None:
            return at.date() >= self.from_date
        if self.hours is None:
            return True
        start, end = self.hours
        now = at.time()
        return start <= now < end if start <= end else now >= start or now < end


class Price(msgspec.Struct, frozen=True):
    """The price of one model."""

    model: str
    """The model's name in the price table."""
    version: str
    """The source of the price."""
    periods: list[Period]
    """Later ones take precedence."""

    def rates(self, at: float | None, input_tokens: int) -> Rates:
        """Return the rates for a request at that time (seconds since 1970) and of that length."""
        period = self.periods[0]
        if len(self.periods) > 1:
            moment = datetime.fromtimestamp(at, UTC) if at is not None else datetime.max
            period = next((one for one in reversed(self.periods) if one.holds(moment)), period)
        chosen = period.rates[0]
        for rates in period.rates:
            if input_tokens > rates.above:
                chosen = rates
        return chosen

    @property
    def depends_on_time(self) -> bool:
        return len(self.periods) > 1


class Prices:
    """Prices by model: the user's own first, then the library's."""

    def __init__(self, own: _Path | None = None, *, memory: _Path | None = None) -> None:
        """``own`` is the user's price file; ``memory`` is the cache for the library's answers."""
        self._own = OwnPrices.read(own) if own is not None else OwnPrices()
        self._memory = memory
        self._known: dict[str, Price | None] = {}
        self._remembered: dict[str, Price | None] | None = None
        self._has_news = False

    def of(self, model: str | None) -> Price | None:
        """Return the price of a model, or None if it is not known."""
        if model is None:
            return None
        if model not in self._known:
            self._known[model] = self._own_price(model) or self._library_price(model)
        return self._known[model]

    def unknown(self) -> list[str]:
        """Return the models without a known price that were looked up."""
        return sorted(model for model, price in self._known.items() if price is None)

    def _own_price(self, model: str) -> Price | None:
        own = self._own.find(model)
        if own is None:
            return None
        if own.same_as is not None:
            return self.of(own.same_as)
        rates = [
            Rates(*tier.rates(), above=tier.above, cache_write_1h_input=tier.cache_write_1h_input)
            for tier in own.all_tiers()
        ]
        return Price(model, self._own.version, [Period(rates)])

    # The library's table.

    def _library_price(self, model: str) -> Price | None:
        if self._remembered is None:
            self._remembered = self._recall()
        if model not in self._remembered:
            self._remembered[model] = look_up(model)
            self._has_news = True
        return self._remembered[model]

    def _recall(self) -> dict[str, Price | None]:
        """Return what is known without the library: common models, and those looked up before."""
        known = recall(KNOWN)
        return {**known, **recall(self._memory)} if self._memory is not None else known

    def remember(self) -> None:
        """Save the library's answers, if possible."""
        if self._memory is not None and self._has_news and self._remembered is not None:
            keep(self._memory, self._remembered)
            self._has_news = False


KNOWN: Final = os.path.join(os.path.dirname(__file__), "prices_known.json")
"""The library's answers for common models, as of one version; used if it is not installed."""


def recall(path: _Path) -> dict[str, Price | None]:
    """Return the cached answers in a file, if they are for the table in use."""
    kept = _read(path)
    is_current = (kept.version, kept.format) == (table_version(), _FORMAT)
    return kept.prices if is_current else {}


def keep(path: _Path, answers: dict[str, Price | None]) -> bool:
    """Save answers to a file. Return whether that succeeded."""
    data = msgspec.json.encode(_PriceCache(table_version(), answers, _FORMAT))
    return write_whole(path, data if path == KNOWN else sealed(data))


def _read(path: _Path) -> _PriceCache:
    try:
        with open(path, "rb") as file:
            data = file.read()
        return _decoder.decode(data if path == KNOWN else unsealed(data))
    except (OSError, ValueError, msgspec.DecodeError):
        return _PriceCache("", {})  # only a cache, so start over


_FORMAT: Final = 2
"""Incremented when prices cover more than before: answers that were saved before are looked up again."""


class _PriceCache(msgspec.Struct):
    version: str
    prices: dict[str, Price | None]
    format: int = 1


_decoder = msgspec.json.Decoder(_PriceCache)


@cache
def table_version() -> str:
    """Return the version of the price table: the library's if installed, or the bundled one."""
    return library_version() or _read(KNOWN).version


@cache
def library_version() -> str | None:
    """Return the library's name and version, which is also that of its prices; None if not installed."""
    found = find_spec("genai_prices")
    if found is None:
        return None
    if found.origin is not None:
        # Read it from the folder name: ``importlib.metadata`` imports the email package, which is
        # slow.
        beside = os.listdir(os.path.dirname(os.path.dirname(found.origin)))
        named = [
            name
            for name in beside
            if name.startswith("genai_prices-") and name.endswith(".dist-info")
        ]
        if len(named) == 1:
            return f"{_LIBRARY} {named[0].removesuffix('.dist-info').partition('-')[2]}"
    from importlib.metadata import version

    return f"{_LIBRARY} {version(_LIBRARY)}"


def look_up(model: str) -> Price | None:
    """Return the price of a model from the table in use. Nothing is downloaded."""
    if library_version() is not None:
        return _from_library(model)
    table = _read(KNOWN).prices
    return next((found for name in _names(model) if (found := table.get(name))), None)


def _names(model: str) -> Iterator[str]:
    """Yield the names a table may use for a model: without provider prefix, and without date or tag."""
    name = model.lower()
    yield name
    name = name.rpartition("/")[2].rpartition(":")[0] or name.rpartition("/")[2]
    yield name
    yield re.sub(_DATED, "", name)


def _from_library(model: str) -> Price | None:
    from genai_prices import types
    from genai_prices.data_snapshot import get_snapshot

    for maker in (None, *_MAKERS):
        try:
            _, found = get_snapshot().find_provider_model(model, None, maker, None)
            break
        except LookupError:
            continue
    else:
        return None
    prices = found.prices
    if isinstance(prices, types.ModelPrice):
        periods = [_period(prices)]
    else:
        periods = [_period(one.prices, one.constraint) for one in prices]
    known = [period for period in periods if period is not None]
    return Price(found.id, table_version(), known) if known else None


def _period(price: LibraryPrice, constraint: object = None) -> Period | None:
    from genai_prices import types

    if price.input_mtok is None or price.output_mtok is None:
        return None  # not priced per token
    kinds = [
        price.input_mtok,
        price.input_mtok if price.cache_read_mtok is None else price.cache_read_mtok,
        price.input_mtok if price.cache_write_mtok is None else price.cache_write_mtok,
        price.output_mtok,
    ]
    for_longer = price.cache_write_1h_mtok
    starts = {0}
    for kind in (*kinds, for_longer):
        if isinstance(kind, types.TieredPrices):
            starts |= {tier.start for tier in kind.tiers}

    def at(kind: Decimal | types.TieredPrices, start: int) -> Decimal:
        if isinstance(kind, Decimal):
            return kind
        fitting = [tier.price for tier in kind.tiers if tier.start <= start]
        return fitting[-1] if fitting else kind.base

    rates = [
        Rates(
            *(at(kind, start) for kind in kinds),
            above=start,
            cache_write_1h_input=at(for_longer, start) if for_longer is not None else None,
        )
        for start in sorted(starts)
    ]
    if isinstance(constraint, types.StartDateConstraint):
        return Period(rates, from_date=constraint.start_date)
    if isinstance(constraint, types.TimeOfDateConstraint):
        begin, end = constraint.start_time, constraint.end_time
        return Period(rates, hours=(begin.replace(tzinfo=None), end.replace(tzinfo=None)))
    return Period(rates)
