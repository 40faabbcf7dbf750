"""The reports of ``dragoman usage``: the table with notes, single rows, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from dragoman.archive.finding import FoundFile
from dragoman.archive.ledger.entries import RULES, Rule
from dragoman.archive.ledger.groups import UNKNOWN, By, LedgerGroup, keys, summary
from dragoman.archive.ledger.ledger import Ledger, LedgerFilter, LedgerRow
from dragoman.archive.ledger.prices import Rates
from dragoman.archive.ledger.rate_limits import Limits, newest_limits
from dragoman.cli.reports.usage_table import money_of, table, tokens_of
from dragoman.cli.tables import money


class Report:
    """One query to the ledger, and its reports."""

    def __init__(
        self,
        ledger: Ledger,
        files: Sequence[FoundFile],
        by: By,
        choice: LedgerFilter,
        limits_cache: str | None = None,
    ) -> None:
        self._ledger = ledger
        self._files = files
        self._by: By = by
        self._choice = choice
        self._limits_cache = limits_cache

    def text(self, width: int, *, color: bool) -> Iterator[str]:
        """A table, and notes on what it leaves out."""
        told = summary(self._ledger, self._by, self._choice)
        if told.groups:
            yield from table(told.groups, told.total, self._by, width, color=color)
        else:
            yield f"no usage found in {_files(self._files)}"
        yield from self._notes(told.total)
        limits = newest_limits(self._files, cache=self._limits_cache)
        if limits is not None:
            yield ""
            yield from limit_lines(limits, datetime.now(UTC))

    def _notes(self, whole: LedgerGroup) -> Iterator[str]:
        notes: list[str] = []
        silent = self._ledger.silent_sessions(self._choice)
        if silent:
            notes.append(
                f"{_sessions(len(silent))} without reported usage, not included in the totals "
                f"({_some([facts.session for facts in silent])})"
            )
        unknown = self._ledger.prices.unknown()
        if unknown:
            notes.append(f"no known price for {_some(unknown)}: add your own (docs/usage.md)")
        if whole.unpriced_tokens:
            notes.append(f"{whole.unpriced_tokens:,} tokens are not included in the cost")
        notes += [f"not read: {problem}" for problem in self._ledger.problems.values()]
        if notes:
            yield ""
            yield from notes

    # JSON.

    def json(self) -> Iterator[str]:
        import json  # msgspec's encoder does not indent

        told = summary(self._ledger, self._by, self._choice)
        limits = newest_limits(self._files, cache=self._limits_cache)
        answer: dict[str, Any] = {
            "by": self._by,
            "groups": [_group(group) for group in told.groups],
            "total": _group(told.total),
            "silent_sessions": [
                facts.session for facts in self._ledger.silent_sessions(self._choice)
            ],
            "models_without_price": self._ledger.prices.unknown(),
            "problems": self._ledger.problems,
            "limits": msgspec.to_builtins(limits) if limits is not None else None,
        }
        yield json.dumps(answer, indent=2, ensure_ascii=False)

    # Rows.

    def explanation(self, group: str | None, *, as_json: bool) -> Iterator[str]:
        """Every row of a group, or of all groups: its file and line, rule and price."""
        rows = list(self._rows(group))
        if as_json:
            for row in rows:
                yield msgspec.json.encode(row).decode()
            return
        if not rows:
            yield f"no rows{f' of {group}' if group else ''}"
        for row in rows:
            yield from self._row(row)
        yield from self._legend(rows)

    def _rows(self, group: str | None) -> Iterator[LedgerRow]:
        key_of = keys(self._by, self._ledger, self._choice)
        entries = self._ledger.entries(self._choice)
        rows = self._ledger.rows(self._choice)
        for (_, entry), row in zip(entries, rows, strict=True):
            key = key_of(entry)
            if group is None or key == group or (self._by == "session" and key.startswith(group)):
                yield row

    def _row(self, row: LedgerRow) -> Iterator[str]:
        at = row.at.astimezone().strftime("%Y-%m-%d %H:%M:%S") if row.at else UNKNOWN["day"]
        cost = money(row.cost) if row.cost is not None else "no price"
        yield f"{at}  {row.model or UNKNOWN['model']}  {tokens_of(row.usage)}  {cost}  [{row.rule}]"
        response = f"  response {row.response_id}" if row.response_id is not None else ""
        yield f"    {row.file}:{row.line}  session {row.session_id}{response}"

    def _legend(self, rows: Sequence[LedgerRow]) -> Iterator[str]:
        if not rows:
            return
        yield ""
        rules: dict[Rule, None] = dict.fromkeys(row.rule for row in rows)
        for rule in rules:
            yield f"[{rule}] {RULES[rule]}"
        for model in sorted({row.model for row in rows if row.model is not None}):
            price = self._ledger.prices.of(model)
            if price is None:
                yield f"{model}: no known price"
                continue
            named = f" as {price.model}" if price.model != model else ""
            for period in price.periods:
                since = f" from {period.from_date}" if period.from_date else ""
                for rates in period.rates:
                    yield f"{model}{named}: {rates_text(rates)}{since} ({price.version})"


def rates_text(rates: Rates) -> str:
    above = f", requests above {rates.above:,} tokens" if rates.above else ""
    hour = rates.cache_write_1h_input
    for_hour = f"${hour} written for an hour, " if hour is not None else ""
    return (
        f"${rates.input} input, ${rates.cached_input} cached, ${rates.cache_write_input} written, "
        f"{for_hour}${rates.output} output per million{above}"
    )


def limit_lines(limits: Limits, now: datetime) -> Iterator[str]:
    """The rate limit windows, and when they reset."""
    told = f" (reported {_when(limits.at)})" if limits.at is not None else ""
    yield f"limits{told}:"
    for window in limits.windows:
        used = f"{window.used_percent:.0f} % used" if window.used_percent is not None else "unknown"
        if window.resets_at is None:
            again = ""
        elif window.resets_at <= now:
            again = f", was reset {_when(window.resets_at)}"
        else:
            again = f", resets {_when(window.resets_at)} (in {_span(window.resets_at - now)})"
        yield f"  {window.name}: {used}{again}"


def _when(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def _span(left: timedelta) -> str:
    minutes = int(left.total_seconds()) // 60
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [f"{days} d" if days else "", f"{hours} h" if hours else ""]
    parts.append(f"{minutes} min" if not days else "")
    return " ".join(part for part in parts if part)


def _group(group: LedgerGroup) -> dict[str, Any]:
    told = msgspec.to_builtins(group)
    told["cost"] = float(group.cost) if group.cost is not None else None
    return {**told, "cost_text": money_of(group)} if group.usage is not None else told


def _files(files: Sequence[FoundFile]) -> str:
    return "1 file" if len(files) == 1 else f"{len(files):,} files"


def _sessions(count: int) -> str:
    return "1 session" if count == 1 else f"{count:,} sessions"


def _some(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
