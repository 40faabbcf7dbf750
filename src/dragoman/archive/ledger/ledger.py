"""The ledger: what every model response cost in tokens and money, and how that was determined.

A row is one response, or one counted difference where nothing finer is reported, with its file and
line, the rule it was counted by and the price used. A session that reports no usage may still have
spent tokens, so such sessions are listed separately.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import TypeAlias

import msgspec

from dragoman.archive.finding import FoundFile, by_hand, walk_all
from dragoman.archive.homes import all_homes
from dragoman.archive.ledger.entries import (
    QUARTER,
    FileUsage,
    LedgerEntry,
    LedgerSession,
    Rule,
    Subtotal,
)
from dragoman.archive.ledger.files import read_all_usage
from dragoman.archive.ledger.merging import FileEntry as FoundEntry
from dragoman.archive.ledger.merging import entries_of, merge, merge_sessions
from dragoman.archive.ledger.prices import Prices
from dragoman.folders import cache_path
from dragoman.model.usage import Usage

_Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = Iterable[str | os.PathLike[str]]


class LedgerRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One line of the ledger."""

    session_id: str
    turn_id: str | None
    at: datetime | None
    model: str | None
    project: str | None
    usage: Usage
    file: str
    line: int
    rule: Rule
    response_id: str | None = None
    """The id of the model response, if the harness gives it one."""
    price_version: str | None
    """The source of the price; None for a model without a known price."""
    cost: Decimal | None
    """US dollars; None for a model without a known price, which is not the same as zero."""


class LedgerFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Selects rows. Bounds in time exclude rows without a time."""

    since: datetime | None = None
    until: datetime | None = None
    """The first moment no longer included."""
    project: str | None = None
    """A directory, including everything below it, or any part of a path."""
    model: str | None = None
    """A part of the model's name."""

    @property
    def keeps_subtotals(self) -> bool:
        """Whether no subtotal spans the bounds in time."""
        bounds = [bound.timestamp() for bound in (self.since, self.until) if bound is not None]
        return not any(bound % QUARTER for bound in bounds)

    def takes(self, at: float | None, project: str | None, model: str | None) -> bool:
        return self._takes_time(at) and self._takes_project(project) and self._takes_model(model)

    def _takes_time(self, at: float | None) -> bool:
        if self.since is None and self.until is None:
            return True
        if at is None:
            return False
        since = self.since.timestamp() if self.since is not None else at
        return since <= at and (self.until is None or at < self.until.timestamp())

    def _takes_project(self, project: str | None) -> bool:
        return self.project is None or (project is not None and self.project in project)

    def _takes_model(self, model: str | None) -> bool:
        return self.model is None or (model is not None and self.model.lower() in model.lower())


EVERYTHING = LedgerFilter()
_AGENTS = frozenset(("sub-agent", "review"))


class Ledger:
    """The usage in many files, with each response counted once."""

    def __init__(self, file_usages: Mapping[str, FileUsage], prices: Prices | None = None) -> None:
        self.prices = prices if prices is not None else Prices()
        self._file_usages = file_usages
        self._merged = merge(file_usages)
        self._sessions = merge_sessions(file_usages.items())
        self.problems = {
            path: file_usage.problem
            for path, file_usage in file_usages.items()
            if file_usage.problem
        }
        """Why files could not be read, by path."""

    @classmethod
    def read(
        cls, files: Iterable[FoundFile], *, prices: Prices | None = None, cache: _Path | None = None
    ) -> Ledger:
        """Read these files. ``cache`` is a file in which their usage is cached."""
        return cls(read_all_usage(files, cache=cache), prices)

    @cached_property
    def _found(self) -> list[FoundEntry]:
        return entries_of(self._file_usages, self._merged)

    def entries(self, choice: LedgerFilter = EVERYTHING) -> Iterator[FoundEntry]:
        """Yield the entries behind the rows, which is faster if there are many."""
        if choice == EVERYTHING:
            return iter(self._found)
        takes = choice.takes
        return (
            found
            for found in self._found
            if takes(found.entry.at, found.entry.project, found.entry.model)
        )

    def subtotals(self, choice: LedgerFilter = EVERYTHING) -> Iterator[Subtotal | LedgerEntry]:
        """Yield the same tokens for summing, merged into subtotals where possible."""
        if not choice.keeps_subtotals:
            return (found.entry for found in self.entries(choice))
        every = chain(self._merged.subtotals, (found.entry for found in self._merged.entries))
        takes = choice.takes
        return (
            subtotal for subtotal in every if takes(subtotal.at, subtotal.project, subtotal.model)
        )

    def rows(self, choice: LedgerFilter = EVERYTHING) -> Iterator[LedgerRow]:
        """Yield every row, ordered by file and line."""
        for file, entry in self.entries(choice):
            price = self.prices.of(entry.model)
            yield LedgerRow(
                session_id=entry.session,
                turn_id=entry.turn,
                at=None if entry.at is None else datetime.fromtimestamp(entry.at, UTC),
                model=entry.model,
                project=entry.project,
                usage=entry.usage,
                file=file,
                line=entry.line,
                rule=entry.rule,
                response_id=entry.response,
                price_version=price.version if price is not None else None,
                cost=price.rates(entry.at, entry.input).cost(entry.usage) if price else None,
            )

    @property
    def sessions(self) -> Mapping[str, LedgerSession]:
        """What the files contain about each session that has a file."""
        return self._sessions

    def harness_of(self, session: str) -> str | None:
        """Return the harness of a session, if it is known."""
        facts = self._sessions.get(session)
        return facts.harness if facts is not None else self._harnesses_of_copied.get(session)

    @cached_property
    def _harnesses_of_copied(self) -> dict[str, str]:
        """The harnesses of sessions that have no file left: that of the file which their rows were copied to."""
        found: dict[str, str] = {}
        for _, file_usage in sorted(self._file_usages.items()):
            own = next((each.harness for each in file_usage.sessions if each.harness), None)
            if own is not None:
                for subtotal in file_usage.subtotals:
                    found.setdefault(subtotal.session, own)
        return found

    def sub_agents(self) -> dict[str, list[str]]:
        """Return the sub-agents of each session, and those of its sub-agents."""
        children: dict[str, list[str]] = {}
        for facts in self._sessions.values():
            if facts.origin in _AGENTS and facts.parent is not None:
                children.setdefault(facts.parent, []).append(facts.session)
        below: dict[str, list[str]] = {}
        for session in children:
            found: dict[str, None] = {}
            left = [session]
            while left:
                for each in children.get(left.pop(), ()):
                    if each not in found and each != session:
                        found[each] = None
                        left.append(each)
            below[session] = list(found)
        return below

    def silent_sessions(self, choice: LedgerFilter = EVERYTHING) -> list[LedgerSession]:
        """Return the sessions that had turns but report no usage, so that what they spent is unknown."""
        reporting = {subtotal.session for subtotal in self._merged.subtotals} | self._merged.shared
        return [
            facts
            for facts in self._sessions.values()
            if facts.turns
            and facts.session not in reporting
            and choice.takes(facts.at, facts.project, facts.model)
        ]


def find_files(
    paths: Paths = (),
    environment: Mapping[str, str] = os.environ,
    *,
    cache: _Path | None = None,
) -> list[FoundFile]:
    """Return the named files, or all session files of every harness on this machine.

    ``cache`` is the folder in which the homes of harnesses are cached.
    """
    named = list(paths)
    if named:
        return list(by_hand(named))
    folder = str(cache) if cache is not None else cache_path(environment)
    return walk_all(((home, home.folder(environment)) for home in all_homes(cache)), folder)
