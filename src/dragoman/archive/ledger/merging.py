"""Putting the accounts of many files together so that nothing is counted twice.

The same response may be told by its session's own file, by every fork and sub-agent that was given a
copy of its rows, by a second copy of the file, and by the recording of the program that wrote it. An
entry is known by its session and its mark (see ``ledger_entries``); how often one file tells a mark
tells how often it was spent. Streams that tell nothing but the totals of turns count only for sessions
of which nothing finer is known. The order of the files does not matter, nor how often one is given.

A session that one file alone tells of needs none of this: its subtotals count as they are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from dragoman.archive.ledger.entries import Account, Entry, SessionFacts, Subtotal
from dragoman.model.usage import Usage


class Found(NamedTuple):
    """An entry and the file that it is taken from."""

    file: str
    entry: Entry


_Key: TypeAlias = tuple[object, ...]


class Merged(NamedTuple):
    """What many files tell, each thing once."""

    subtotals: list[Subtotal]
    """Of sessions that one file alone tells of."""
    shared: frozenset[str]
    """Sessions that several tell of."""
    entries: list[Found]
    """The entries of those."""


def merge(accounts: Mapping[str, Account]) -> Merged:
    """Everything that these accounts hold, by the paths of their files."""
    tellers: Counter[str] = Counter()
    for account in accounts.values():
        tellers.update({subtotal.session for subtotal in account.subtotals})
    shared = frozenset(session for session, count in tellers.items() if count > 1)
    subtotals: list[Subtotal] = []
    doubtful: list[tuple[Account, Found]] = []
    for path, account in sorted(accounts.items()):
        own = [subtotal for subtotal in account.subtotals if subtotal.session not in shared]
        subtotals += own
        if len(own) < len(account.subtotals):
            doubtful += [
                (account, Found(path, entry))
                for entry in account.entries
                if entry.session in shared
            ]
    return Merged(subtotals, shared, _once(doubtful))


def entries_of(accounts: Mapping[str, Account], merged: Merged) -> list[Found]:
    """Every entry once, in the order of files and lines."""
    kept = [
        Found(path, entry)
        for path, account in accounts.items()
        for entry in account.entries
        if entry.session not in merged.shared
    ]
    kept += merged.entries
    kept.sort(key=lambda found: (found.file, found.entry.line))
    return kept


def merge_sessions(accounts: Iterable[tuple[str, Account]]) -> dict[str, SessionFacts]:
    """What all files together tell about each session."""
    known: dict[str, SessionFacts] = {}
    for _, account in sorted(accounts, key=lambda pair: pair[0]):
        for facts in account.sessions:
            old = known.get(facts.session)
            if old is None:
                known[facts.session] = msgspec.structs.replace(facts)
                continue
            times = [at for at in (old.at, facts.at) if at is not None]
            old.at = min(times, default=None)
            old.model = old.model or facts.model
            old.project = old.project or facts.project
            old.parent = old.parent or facts.parent
            old.turns = max(old.turns, facts.turns)
    return known


def _once(doubtful: Sequence[tuple[Account, Found]]) -> list[Found]:
    best: dict[_Key, tuple[_Key, Found]] = {}
    seen: Counter[_Key] = Counter()
    streams: dict[str, dict[str, list[Found]]] = defaultdict(lambda: defaultdict(list))
    told_by_own = {
        (found.entry.session, found.entry.turn)
        for account, found in doubtful
        if account.is_only_of(found.entry.session) and found.entry.has_named_turn
    }
    for account, found in doubtful:
        file, entry = found
        is_own = account.is_only_of(entry.session)
        if not is_own and (entry.session, entry.turn) in told_by_own:
            continue  # copied rows may be cut short, and a live stream may repeat old ones
        if entry.is_of_turn:
            streams[entry.session].setdefault(account.fingerprint, []).append(found)
            continue
        in_file = (file, entry.session, *entry.mark)
        seen[in_file] += 1
        key = (entry.session, seen[in_file], *entry.mark)
        rank = (
            not is_own,
            entry.at is None,
            entry.at or 0.0,
            file,
            entry.line,
        )
        if key not in best or rank < best[key][0]:
            best[key] = (rank, found)
    kept = [found for _, found in best.values()]
    finer = {session for session, *_ in best}
    for session, by_content in streams.items():
        if session not in finer:
            kept += _turns_once(by_content.values())
    return kept


def _turns_once(streams: Iterable[list[Found]]) -> list[Found]:
    """Streams that tell totals only, of one session: one after another, as its counter went on."""
    kept: list[Found] = []
    before: Usage | None = None
    for stream in sorted((_of_one_file(each) for each in streams), key=_by_total):
        for found in stream:
            entry = found.entry
            own = entry.usage
            if entry.rule != "first turn total":
                before = own if before is None else before + own
            elif before is not None and before.fits_in(own) and before != own:
                before, own = own, own - before
            else:
                before = own
            kept.append(Found(found.file, _worth(entry, own)))
    return kept


def _of_one_file(stream: list[Found]) -> list[Found]:
    """A stream that was given under several names counts once."""
    first = min(found.file for found in stream)
    return [found for found in stream if found.file == first]


def _by_total(stream: list[Found]) -> tuple[int, int, str]:
    entry = stream[0].entry
    return entry.total_input, entry.total_output, stream[0].file


def _worth(entry: Entry, own: Usage) -> Entry:
    return msgspec.structs.replace(
        entry,
        input=own.input_tokens,
        cached=own.cached_input_tokens,
        cache_write=own.cache_write_input_tokens,
        output=own.output_tokens,
        reasoning=own.reasoning_output_tokens,
    )
