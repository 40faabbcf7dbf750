"""Summaries of the ledger by day, week, month, 5-hour block, project, model, session or harness.

Tokens are summed before they are priced, because that is fast, but only those with the same rates
are ever added up.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from dragoman.archive.ledger.entries import QUARTER, SHORT, LedgerEntry, LedgerSession, Subtotal
from dragoman.archive.ledger.ledger import EVERYTHING, Ledger, LedgerFilter
from dragoman.archive.ledger.prices import Period, Price, Rates
from dragoman.archive.ledger.reported import reported_costs
from dragoman.model.usage import Usage

By: TypeAlias = Literal["day", "week", "month", "block", "project", "model", "session", "harness"]
BY: Final[tuple[By, ...]] = get_args(By)
_NO_TIME: Final = "(no time)"
UNKNOWN: Final[dict[By, str]] = {
    "day": _NO_TIME,
    "week": _NO_TIME,
    "month": _NO_TIME,
    "block": _NO_TIME,
    "project": "(no directory)",
    "model": "(no model)",
    "session": "(no session)",
    "harness": "(unknown)",
}
_BY_TIME: Final[dict[By, str]] = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}
_HOUR: Final = 3600
BLOCK: Final = 5 * _HOUR
"""Seconds: the window in which subscription limits are counted."""


class LedgerGroup(msgspec.Struct, kw_only=True):
    """Entries that belong together, and their sum."""

    key: str
    usage: Usage | None = None
    """None if it consists only of sessions that report no usage."""
    cost: Decimal | None = None
    """US dollars for the tokens with a known price; None if there are none."""
    unpriced_tokens: int = 0
    """Input and output tokens of models without a known price, not included in ``cost``."""
    responses: int = 0
    sessions: int = 0
    silent_sessions: int = 0
    """Sessions that report no usage. What they spent is not included."""
    models: list[str] = []
    first_at: datetime | None = None
    reported_cost: float | None = None
    """US dollars that the agent itself reports for these sessions, their sub-agents included; None if it
    reports none, or none that can be split up like this."""
    sub_agents: int = 0
    """For a session: how many sub-agents it started, and those started, as far as they have usage."""
    usage_with_sub_agents: Usage | None = None
    cost_with_sub_agents: Decimal | None = None


class _GroupSum:
    """A group while it is summed: tokens by model and rates."""

    def __init__(self) -> None:
        self.buckets: dict[tuple[str | None, int], list[int]] = {}
        self.rates: dict[int, Rates | None] = {}
        self.odd = Decimal(0)
        self.responses = 0
        self.sessions: set[str] = set()
        self.silent: set[str] = set()
        self.first: float | None = None

    def add(self, other: _GroupSum) -> None:
        """Add another sum to this one."""
        for name, counts in other.buckets.items():
            bucket = self.buckets.setdefault(name, [0] * 6)
            for place, count in enumerate(counts):
                bucket[place] += count
        self.rates |= other.rates
        self.odd += other.odd
        self.responses += other.responses
        self.sessions |= other.sessions
        self.silent |= other.silent
        self.saw(other.first)

    def saw(self, at: float | None) -> None:
        if at is not None and (self.first is None or at < self.first):
            self.first = at


class Summary(msgspec.Struct, frozen=True):
    """All groups, and their total."""

    groups: list[LedgerGroup]
    """Ordered by time, or with the most tokens first."""
    total: LedgerGroup


def summary(ledger: Ledger, by: By, choice: LedgerFilter = EVERYTHING) -> Summary:
    """Sum up the ledger."""
    sums = _summed(ledger, by, choice)
    made = [_group(key, each) for key, each in sums.items()]
    reported = reported_costs(ledger, by, choice)
    for group in made:
        group.reported_cost = reported.get(group.key)
    if by == "session":
        _roll_up(made, sums, ledger)
    made.sort(key=_by_time if by in _BY_TIME or by == "block" else _by_size)
    whole = _GroupSum()
    for each in sums.values():
        whole.add(each)
    total = _group("total", whole)
    total.reported_cost = sum(reported.values()) if reported else None
    return Summary(made, total)


def _roll_up(made: list[LedgerGroup], sums: Mapping[str, _GroupSum], ledger: Ledger) -> None:
    """Add to each session what its sub-agents, and theirs, have spent."""
    below = ledger.sub_agents()
    for group in made:
        agents = [each for each in below.get(group.key, ()) if each in sums]
        if not agents:
            continue
        whole = _GroupSum()
        for each in (group.key, *agents):
            whole.add(sums[each])
        rolled = _group(group.key, whole)
        group.sub_agents = len(agents)
        group.usage_with_sub_agents = rolled.usage
        group.cost_with_sub_agents = rolled.cost


def _by_time(group: LedgerGroup) -> tuple[bool, str]:
    return group.first_at is None, group.key


def _by_size(group: LedgerGroup) -> tuple[int, str]:
    return -group.usage.total_tokens if group.usage is not None else 1, group.key


def keys(
    by: By, ledger: Ledger, choice: LedgerFilter = EVERYTHING
) -> Callable[[LedgerEntry | Subtotal | LedgerSession], str]:
    """Return a function that gives the group of an entry or a session."""
    unknown = UNKNOWN[by]
    if by in _BY_TIME:
        return _at_times(lambda at: datetime.fromtimestamp(at).strftime(_BY_TIME[by]))
    if by == "block":
        return _at_times(_blocks(each.at for each in ledger.subtotals(choice)))
    if by == "project":
        return lambda each: each.project or unknown
    if by == "model":
        return lambda each: each.model or unknown
    if by == "harness":
        return lambda each: ledger.harness_of(each.session) or unknown
    return lambda each: each.session


def _at_times(
    name: Callable[[float], str],
) -> Callable[[LedgerEntry | Subtotal | LedgerSession], str]:
    names: dict[int, str] = {}

    def key(each: LedgerEntry | Subtotal | LedgerSession) -> str:
        if each.at is None:
            return _NO_TIME
        quarter = int(each.at // QUARTER)
        found = names.get(quarter)
        if found is None:
            found = names[quarter] = name(each.at)
        return found

    return key


def _blocks(times: Iterable[float | None]) -> Callable[[float], str]:
    """Return a function that names the block of a time. A block starts at the full hour of the
    first use after the previous block.
    """
    starts: list[float] = []
    for at in sorted(at for at in times if at is not None):
        if not starts or at >= starts[-1] + BLOCK:
            starts.append(at // _HOUR * _HOUR)

    def name(at: float) -> str:
        place = bisect_right(starts, at) - 1
        if place < 0 or at >= starts[place] + BLOCK:
            return _NO_TIME  # a session without usage, at a time outside every block
        start = datetime.fromtimestamp(starts[place])
        return f"{start:%Y-%m-%d %H:%M}-{datetime.fromtimestamp(starts[place] + BLOCK):%H:%M}"

    return name


def _summed(ledger: Ledger, by: By, choice: LedgerFilter) -> dict[str, _GroupSum]:
    sums: dict[str, _GroupSum] = {}
    key_of = keys(by, ledger, choice)
    models = {subtotal.model for subtotal in ledger.subtotals(choice)}
    tariffs = {model: _Tariff(ledger.prices.of(model)) for model in models}
    by_subtotals = all(tariff.values_subtotals for tariff in tariffs.values())
    subtotals = (
        ledger.subtotals(choice)
        if by_subtotals
        else (found.entry for found in ledger.entries(choice))
    )
    for entry in subtotals:
        key = key_of(entry)
        sum_ = sums.get(key)
        if sum_ is None:
            sum_ = sums[key] = _GroupSum()
        model = entry.model
        tariff = tariffs[model]
        rates = tariff.short if entry.input <= tariff.limit else tariff.rates(entry)
        if rates is not None and entry.cached + entry.cache_write > entry.input:
            # Inconsistent: cached tokens are part of the input. In a sum with others the excess
            # would cancel out, so price the entry on its own.
            sum_.odd += rates.cost(entry.usage)
            rates = _VALUED
        name = (model, id(rates))
        bucket = sum_.buckets.get(name)
        if bucket is None:
            sum_.rates[id(rates)] = rates
            bucket = sum_.buckets[name] = [0] * 6
        bucket[0] += entry.input
        bucket[1] += entry.cached
        bucket[2] += entry.cache_write
        bucket[3] += entry.output
        bucket[4] += entry.reasoning
        bucket[5] += entry.cache_write_1h
        sum_.responses += entry.count
        sum_.sessions.add(entry.session)
        at = entry.at
        if at is not None and (sum_.first is None or at < sum_.first):
            sum_.first = at
    for facts in ledger.silent_sessions(choice):
        silent = sums.setdefault(key_of(facts), _GroupSum())
        silent.silent.add(facts.session)
        silent.saw(facts.at)
    return sums


class _Tariff:
    """The price of one model, prepared for many requests: most are short and cost the same."""

    __slots__ = ("limit", "price", "short")

    def __init__(self, price: Price | None) -> None:
        self.price = price
        self.short: Rates | None = None
        self.limit = -1
        """Requests with at most this many input tokens cost the short rate."""
        if price is not None and not price.depends_on_time:
            [self.short, *longer] = price.periods[0].rates
            self.limit = longer[0].above if longer else sys.maxsize

    @property
    def values_subtotals(self) -> bool:
        """Whether everything merged into one subtotal has the same rates."""
        return self.price is None or all(map(_values_subtotals, self.price.periods))

    def rates(self, entry: LedgerEntry | Subtotal) -> Rates | None:
        if self.price is None:
            return None
        return self.price.rates(entry.at, entry.input if entry.count == 1 else 0)


def _values_subtotals(period: Period) -> bool:
    return all(rates.above >= SHORT for rates in period.rates[1:]) and not any(
        moment.minute % 15 or moment.second for moment in period.hours or ()
    )


_NO_MONEY: Final = Decimal(0)
_VALUED: Final = Rates(_NO_MONEY, _NO_MONEY, _NO_MONEY, _NO_MONEY)
"""Stands for tokens whose cost was already added."""


def _group(key: str, sum_: _GroupSum) -> LedgerGroup:
    group = LedgerGroup(
        key=key,
        responses=sum_.responses,
        sessions=len(sum_.sessions),
        silent_sessions=len(sum_.silent),
        models=sorted({model for model, _ in sum_.buckets if model is not None}),
        first_at=datetime.fromtimestamp(sum_.first).astimezone()
        if sum_.first is not None
        else None,
    )
    for (_, name), counts in sum_.buckets.items():
        usage = Usage(*counts)
        group.usage = usage if group.usage is None else group.usage + usage
        rates = sum_.rates[name]
        if rates is None:
            group.unpriced_tokens += usage.total_tokens
        else:
            group.cost = (group.cost or _NO_MONEY) + rates.cost(usage)
    if sum_.odd:
        group.cost = (group.cost or _NO_MONEY) + sum_.odd
    return group
