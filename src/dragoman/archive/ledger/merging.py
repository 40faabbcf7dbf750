"""Merge the usage of many files such that nothing is counted twice.

The same response may appear in its session's own file, in every fork and sub-agent that got a copy
of its rows, in a second copy of the file, and in a recording of the program that wrote it. An entry
with a response id is identified by it, in whichever session it is; any other by its session and its
mark (see ``LedgerEntry.mark``): if one file contains the same mark several times, that many responses
were identical. Streams that report only totals of turns
count only for sessions of which nothing finer is known. The result depends neither on the order of
the files nor on how often one is given.

A session that appears in one file only needs none of this: its subtotals count as they are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from dragoman.archive.ledger.entries import FileUsage, LedgerEntry, LedgerSession, Subtotal
from dragoman.model.usage import Usage


class FileEntry(NamedTuple):
    """An entry and the file it comes from."""

    file: str
    entry: LedgerEntry


_Key: TypeAlias = tuple[object, ...]


class Merged(NamedTuple):
    """The usage in many files, without duplicates."""

    subtotals: list[Subtotal]
    """Those of sessions that appear in one file only."""
    shared: frozenset[str]
    """Sessions that appear in several files."""
    entries: list[FileEntry]
    """The entries of the shared sessions."""


def merge(file_usages: Mapping[str, FileUsage]) -> Merged:
    """Merge the usage of files, given by path."""
    file_counts: Counter[str] = Counter()
    for file_usage in file_usages.values():
        file_counts.update({subtotal.session for subtotal in file_usage.subtotals})
    in_doubt = {session for session, count in file_counts.items() if count > 1}
    for path in _sharing_responses(file_usages):
        in_doubt |= {subtotal.session for subtotal in file_usages[path].subtotals}
    shared = frozenset(in_doubt)
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


def _sharing_responses(file_usages: Mapping[str, FileUsage]) -> set[str]:
    """Return the files that share a response with another file, in any session."""
    seen: dict[bytes, str] = {}
    sharing: set[str] = set()
    for path, file_usage in file_usages.items():
        for response in file_usage.response_hashes():
            other = seen.setdefault(response, path)
            if other != path:
                sharing |= {path, other}
    return sharing


def entries_of(file_usages: Mapping[str, FileUsage], merged: Merged) -> list[FileEntry]:
    """Return every entry once, ordered by file and line."""
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
    """Combine what all files contain about each session."""
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
            old.harness = old.harness or facts.harness
            old.origin = old.origin or facts.origin
            old.costs = max(old.costs, facts.costs, key=_last_cost)
    return known


def _last_cost(costs: Sequence[tuple[float | None, float]]) -> float:
    return costs[-1][1] if costs else -1.0


def _once(doubtful: Sequence[tuple[FileUsage, FileEntry]]) -> list[FileEntry]:
    best: dict[_Key, tuple[_Key, FileEntry]] = {}
    seen: Counter[_Key] = Counter()
    streams: dict[str, dict[str, list[FileEntry]]] = defaultdict(lambda: defaultdict(list))
    in_own_file = {
        (found.entry.session, found.entry.turn)
        for file_usage, found in doubtful
        if file_usage.is_only_of(found.entry.session) and found.entry.has_named_turn
    }
    identified = _fully_identified(doubtful)
    for file_usage, found in doubtful:
        file, entry = found
        is_own = file_usage.is_only_of(entry.session)
        if entry.response is None and identified.get(entry.session, file) != file:
            continue  # a live stream may sum up several responses that the session's own file has
        if not is_own and (entry.session, entry.turn) in in_own_file:
            continue  # copied rows may be incomplete, and a live stream may repeat old ones
        if entry.is_of_turn:
            streams[entry.session].setdefault(file_usage.fingerprint, []).append(found)
            continue
        # Two responses can be identical. The n-th occurrence of a mark in one file is paired with the
        # n-th in another, so copies collapse while real repetitions within a file are kept.
        if entry.response is not None:
            key: _Key = entry.mark
        else:
            in_file = (file, entry.session, *entry.mark)
            seen[in_file] += 1
            key = (entry.session, seen[in_file], *entry.mark)
        # Among copies prefer the session's own file, then one that is no fork, then the count that came
        # last in a response, then one with a time, then the earliest; path and line only make the choice
        # independent of the order of the files.
        rank = (
            not is_own,
            file_usage.is_fork,
            -entry.output,
            entry.at is None,
            entry.at or 0.0,
            file,
            entry.line,
        )
        if key not in best or rank < best[key][0]:
            best[key] = (rank, found)
    kept = [found for _, found in best.values()]
    finer = {found.entry.session for _, found in best.values()}
    for session, by_content in streams.items():
        if session not in finer:
            kept += _turns_once(by_content.values())
    return kept


def _fully_identified(doubtful: Sequence[tuple[FileUsage, FileEntry]]) -> dict[str, str]:
    """Return the sessions of which a file of their own has a response id for each entry, with that file."""
    complete: dict[str, dict[str, bool]] = defaultdict(dict)
    for file_usage, (file, entry) in doubtful:
        if file_usage.is_only_of(entry.session):
            files = complete[entry.session]
            files[file] = files.get(file, True) and entry.response is not None
    return {
        session: min(file for file, is_complete in files.items() if is_complete)
        for session, files in complete.items()
        if any(files.values())
    }


def _turns_once(streams: Iterable[list[FileEntry]]) -> list[FileEntry]:
    """Join streams of one session that report only totals, in the order of its counter."""
    kept: list[FileEntry] = []
    before: Usage | None = None
    for stream in sorted((_of_one_file(each) for each in streams), key=_by_total):
        for found in stream:
            entry = found.entry
            own = entry.usage
            if entry.rule != "first turn total":
                before = own if before is None else before + own
            # The first total of a resumed stream includes what earlier streams reported: subtract it.
            elif before is not None and before.fits_in(own) and before != own:
                before, own = own, own - before
            else:
                before = own
            kept.append(FileEntry(found.file, _worth(entry, own)))
    return kept


def _of_one_file(stream: list[FileEntry]) -> list[FileEntry]:
    """Count a stream once that was given under several names."""
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
