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

from dragoman.archive.ledger.entries import FileUsage, LedgerEntry, LedgerSession, Subtotal
from dragoman.model.usage import Usage


class FileEntry(NamedTuple):
    """An entry and the file that it is taken from."""

    file: str
    entry: LedgerEntry


_Key: TypeAlias = tuple[object, ...]


class Merged(NamedTuple):
    """What many files tell, each thing once."""

    subtotals: list[Subtotal]
    """Of sessions that one file alone tells of."""
    shared: frozenset[str]
    """Sessions that several tell of."""
    entries: list[FileEntry]
    """The entries of those."""


def merge(file_usages: Mapping[str, FileUsage]) -> Merged:
    """Everything that these accounts hold, by the paths of their files."""
    file_counts: Counter[str] = Counter()
    for file_usage in file_usages.values():
        file_counts.update({subtotal.session for subtotal in file_usage.subtotals})
    shared = frozenset(session for session, count in file_counts.items() if count > 1)
    subtotals: list[Subtotal] = []
    doubtful: list[tuple[FileUsage, FileEntry]] = []
    for path, file_usage in sorted(file_usages.items()):
        own = [subtotal for subtotal in file_usage.subtotals if subtotal.session not in shared]
        subtotals += own
        if len(own) < len(file_usage.subtotals):
            doubtful += [
                (file_usage, FileEntry(path, entry))
                for entry in file_usage.entries
                if entry.session in shared
            ]
    return Merged(subtotals, shared, _once(doubtful))


def entries_of(file_usages: Mapping[str, FileUsage], merged: Merged) -> list[FileEntry]:
    """Every entry once, in the order of files and lines."""
    kept = [
        FileEntry(path, entry)
        for path, file_usage in file_usages.items()
        for entry in file_usage.entries
        if entry.session not in merged.shared
    ]
    kept += merged.entries
    kept.sort(key=lambda found: (found.file, found.entry.line))
    return kept


def merge_sessions(file_usages: Iterable[tuple[str, FileUsage]]) -> dict[str, LedgerSession]:
    """What all files together tell about each session."""
    known: dict[str, LedgerSession] = {}
    for _, file_usage in sorted(file_usages, key=lambda pair: pair[0]):
        for facts in file_usage.sessions:
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


def _once(doubtful: Sequence[tuple[FileUsage, FileEntry]]) -> list[FileEntry]:
    best: dict[_Key, tuple[_Key, FileEntry]] = {}
    seen: Counter[_Key] = Counter()
    streams: dict[str, dict[str, list[FileEntry]]] = defaultdict(lambda: defaultdict(list))
    in_own_file = {
        (found.entry.session, found.entry.turn)
        for file_usage, found in doubtful
        if file_usage.is_only_of(found.entry.session) and found.entry.has_named_turn
    }
    for file_usage, found in doubtful:
        file, entry = found
        is_own = file_usage.is_only_of(entry.session)
        if not is_own and (entry.session, entry.turn) in in_own_file:
            continue  # copied rows may be cut short, and a live stream may repeat old ones
        if entry.is_of_turn:
            streams[entry.session].setdefault(file_usage.fingerprint, []).append(found)
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


def _turns_once(streams: Iterable[list[FileEntry]]) -> list[FileEntry]:
    """Streams that tell totals only, of one session: one after another, as its counter went on."""
    kept: list[FileEntry] = []
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
            kept.append(FileEntry(found.file, _worth(entry, own)))
    return kept


def _of_one_file(stream: list[FileEntry]) -> list[FileEntry]:
    """A stream that was given under several names counts once."""
    first = min(found.file for found in stream)
    return [found for found in stream if found.file == first]


def _by_total(stream: list[FileEntry]) -> tuple[int, int, str]:
    entry = stream[0].entry
    return entry.total_input, entry.total_output, stream[0].file


def _worth(entry: LedgerEntry, own: Usage) -> LedgerEntry:
    return msgspec.structs.replace(
        entry,
        input=own.input_tokens,
        cached=own.cached_input_tokens,
        cache_write=own.cache_write_input_tokens,
        output=own.output_tokens,
        reasoning=own.reasoning_output_tokens,
    )
