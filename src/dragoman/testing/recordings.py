"""Check a folder of recordings: ``python -m dragoman.testing.recordings DIR``.

Two rules apply to every file: each line is accounted for, with each value of a duplicate line found
in some message; and the live stream of a run gives the same conversation as the session file it
left. Files are named ``<harness>/<release>/<scenario>.<kind>.jsonl``.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.harnesses import HARNESSES
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Limit
from dragoman.model.messages import Message, SessionStarted
from dragoman.model.turns import Turn, fold
from dragoman.reading.audit import Account, LostValue, audit
from dragoman.reading.read import read
from dragoman.testing.likeness import Difference, differences

_LEAVES = {
    "exec": "exec-rollout",
    "appserver": "rollout",
    "appserver-v1": "appserver-v1-rollout",
    "proto": "proto-rollout",
    "mcpserver": "mcpserver-rollout",
}
"""Kinds of live streams, and the kind of the session file that the same run left."""


@dataclass(frozen=True, slots=True, order=True)
class Recording:
    """A file, and what its name says about it."""

    release: str
    scenario: str
    kind: str
    path: Path

    @classmethod
    def at(cls, path: Path) -> Recording:
        scenario, kind, _ = path.name.rsplit(".", 2)
        return cls(path.parent.name, scenario, kind, path)

    def left(self) -> list[Path]:
        """Return the session files that the same run left: its own, its sub-agents' and its forks'."""
        kind = _LEAVES.get(self.kind)
        if kind is None:
            return []
        one = self.path.with_name(f"{self.scenario}.{kind}.jsonl")
        many = sorted(self.path.parent.glob(f"{self.scenario}.{kind}[0-9].jsonl"))
        return [one] if one.exists() else many

    def is_resumed_later(self) -> bool:
        """Whether later runs, recorded in the same folder, resumed the same session."""
        return any(self.path.parent.glob(f"{self.scenario}.{self.kind}-resume*.jsonl"))


def recordings(folder: Path) -> Iterator[Recording]:
    """Return the recordings of one harness, by release and name."""
    found = [Recording.at(path) for path in folder.glob("*/*.jsonl")]
    return iter(sorted(found, key=lambda each: (_number(each.release), each.scenario, each.kind)))


@dataclass(slots=True)
class Pair:
    """One session in a live stream, and in the files it left."""

    live: Recording
    one: list[Turn]
    other: list[Turn]
    limits: list[Limit]

    def differences(self, without: Limit | None = None) -> list[Difference]:
        """Return the differences, as if the limit ``without`` did not exist."""
        limits = [limit for limit in self.limits if limit is not without]
        return differences(self.one, self.other, limits)

    def needed(self) -> list[Limit]:
        """Return the limits without which the two would differ."""
        return [limit for limit in self.limits if self.differences(without=limit)]


def compare(harness: Harness, recording: Recording) -> Iterator[Pair]:
    """Compare a live stream with the session files its run left, session by session.

    Sessions missing from the stream are skipped: ``codex exec`` reports only its own.
    """
    live_dialect, live = _read_recording(recording.path)
    live_turns = fold(live)
    files: dict[str | None, list[tuple[str, list[Message]]]] = defaultdict(list)
    agents: set[str | None] = set()
    for path in recording.left():
        dialect, messages = _read_recording(path)
        started = next((one for one in messages if isinstance(one, SessionStarted)), None)
        if started and started.parent_session_id:
            agents.add(started.session_id)
        files[started.session_id if started else None].append((dialect, messages))
    for session_id, held in files.items():
        one = [turn for turn in live_turns if turn.session_id in (session_id, None)]
        other = [
            turn
            for _, messages in held
            for turn in fold(messages)
            if turn.session_id == session_id  # others were copied from another session
        ]
        if not one:
            continue
        if recording.is_resumed_later():
            other = other[: len(one)]
        dialects = {live_dialect, *(dialect for dialect, _ in held)}
        limits = [
            limit
            for limit in harness.limits
            if any(limit.applies(dialect, recording.release) for dialect in dialects)
            and (session_id in agents or limit.aspect != "agent usage")
        ]
        yield Pair(recording, one, other, limits)


def _read_recording(path: Path) -> tuple[str, list[Message]]:
    dialect = audit(path).dialect or ""
    return dialect, list(read(path, dialect=dialect or None))


@dataclass(slots=True)
class ReportRow:
    """One line of the table."""

    files: int = 0
    lines: int = 0
    duplicates: int = 0
    unknown: int = 0
    malformed: int = 0
    unaccounted: int = 0
    pairs: int = 0
    alike: int = 0

    def add(self, account: Account) -> None:
        self.files += 1
        self.lines += account.lines
        self.duplicates += account.duplicates.total()
        self.unknown += account.unknown.total()
        self.malformed += len(account.malformed)
        self.unaccounted += len(account.unaccounted)


@dataclass(slots=True)
class RecordingsReport:
    """The result of checking a folder of recordings."""

    rows: dict[tuple[str, str], ReportRow] = field(
        default_factory=lambda: defaultdict[tuple[str, str], ReportRow](ReportRow)
    )
    unlike: list[Pair] = field(default_factory=list[Pair])
    unread: list[Path] = field(default_factory=list[Path])
    unaccounted: list[tuple[Path, list[int]]] = field(default_factory=list[tuple[Path, list[int]]])
    unknown: Counter[str] = field(default_factory=Counter[str])
    lost: list[tuple[Path, LostValue]] = field(default_factory=list[tuple[Path, LostValue]])
    """Values on duplicate lines that no message of their file contains."""

    @property
    def is_good(self) -> bool:
        return not (self.unlike or self.unread or self.unaccounted or self.lost)


def check(harness: Harness, folder: Path) -> RecordingsReport:
    """Check both rules for the recordings of one harness."""
    report = RecordingsReport()
    for recording in recordings(folder):
        account = audit(recording.path)
        if account.dialect is None:
            if account.lines:
                report.unread.append(recording.path)
            continue
        row = report.rows[recording.release, account.dialect]
        row.add(account)
        report.unknown.update(account.unknown)
        if account.unaccounted:
            report.unaccounted.append((recording.path, account.unaccounted))
        report.lost += [(recording.path, lost) for lost in account.lost]
        for pair in compare(harness, recording):
            row.pairs += 1
            if pair.differences():
                report.unlike.append(pair)
            else:
                row.alike += 1
    return report


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in release.split("."))


def table(report: RecordingsReport) -> str:
    """Format the report as a table by release and dialect."""
    head = (
        "release",
        "dialect",
        "files",
        "lines",
        "duplicates",
        "unknown",
        "malformed",
        "lost",
        "live = disk",
    )
    rows: list[tuple[str, ...]] = [head]
    for (release, dialect), row in sorted(
        report.rows.items(), key=lambda item: (_number(item[0][0]), item[0][1])
    ):
        alike = f"{row.alike}/{row.pairs}" if row.pairs else ""
        numbers = (
            row.files,
            row.lines,
            row.duplicates,
            row.unknown,
            row.malformed,
            row.unaccounted,
        )
        rows.append((release, dialect, *map(str, numbers), alike))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def main(arguments: list[str]) -> int:
    """Check every harness with a folder in DIR, or DIR itself; return 0 if everything passes."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: python -m dragoman.testing.recordings DIR", file=sys.stderr)
        return 2
    root = Path(arguments[0]).resolve()
    good, found = True, False
    for harness in HARNESSES:
        folder = root if root.name == harness.name else root / harness.name
        report = check(harness, folder)
        if not (report.rows or report.unread):
            continue
        found = True
        good = good and report.is_good
        print(f"{harness.title}\n\n{table(report)}\n")
        for path in report.unread:
            print(f"not read: {path}")
        for path, lines in report.unaccounted:
            print(f"lost: {path}: lines {lines[:5]}")
        for path, lost in report.lost:
            print(f"lost: {path}: line {lost.line}: {lost.place}: {lost.value!r}")
        for pair in report.unlike:
            print(f"unlike: {pair.live.path}")
            for difference in pair.differences()[:3]:
                print(f"    {str(difference)[:600]}")
    if not found:
        names = " or ".join(f"{harness.name}/RELEASE/SCENARIO.KIND.jsonl" for harness in HARNESSES)
        print(f"no recordings in {root}: expected {names}", file=sys.stderr)
        return 2
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
