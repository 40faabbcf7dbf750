"""Putting the accounts of many files together so that nothing is counted twice.

The same response may be told by its session's own file, by every fork and sub-agent that was given a
copy of its rows, by a second copy of the file, and by the recording of the program that wrote it. An
entry is known by its session and its mark (see ``ledger_entries``); how often one file tells a mark
tells how often it was spent. Streams that tell nothing but the totals of turns count only for sessions
of which nothing finer is known. The order of the files does not matter, nor how often one is given.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from dragoman.archive.ledger_entries import Account, Entry, SessionFacts
from dragoman.model.usage import Usage


class Found(NamedTuple):
    """An entry and the file that it is taken from."""

    file: str
    entry: Entry


_Key: TypeAlias = tuple[object, ...]


def merge(accounts: Iterable[tuple[str, Account]]) -> list[Found]:
    """The entries of all accounts, each once, in the order of files and lines."""
    given = sorted(dict(accounts).items())
    holders: dict[str, set[int]] = defaultdict(set)
    for number, (_, account) in enumerate(given):
        for session in {entry.session for entry in account.entries}:
            holders[session].add(number)
    shared = {session for session, numbers in holders.items() if len(numbers) > 1}
    kept: list[Found] = []
    doubtful: list[tuple[Account, Found]] = []
    for path, account in given:
        for entry in account.entries:
            if entry.session in shared:
                doubtful.append((account, Found(path, entry)))
            else:
                kept.append(Found(path, entry))
    if doubtful:
        kept += _once(doubtful)
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
