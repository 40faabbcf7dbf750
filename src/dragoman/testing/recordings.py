"""Check a folder of recordings: ``python -m dragoman.testing.recordings DIR``.

Two rules apply to every file: each line is accounted for, with each of its values found in some
message; and the live stream of a run gives the same conversation as the session file it
left. Files are named ``<harness>/<release>/<scenario>.<kind>.jsonl``.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.harnesses import all_harnesses
from dragoman.harnesses.contract.harness import Harness
from dragoman.reading.audit import Account, LostValue, audit
from dragoman.testing.conformance.pairs import Pair, compare, recordings, release_number


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
    """Values of duplicate lines that no message of their file contains."""
    fields: Counter[str] = field(default_factory=Counter[str])
    """Fields that are not read, on lines that emitted a message; how many values there are in each."""

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
        report.fields.update(unread.place for unread in account.unread)
        for pair in compare(harness, recording):
            row.pairs += 1
            if pair.differences():
                report.unlike.append(pair)
            else:
                row.alike += 1
    return report


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
        report.rows.items(), key=lambda item: (release_number(item[0][0]), item[0][1])
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
    for harness in all_harnesses():
        folder = root if root.name == harness.name else root / harness.name
        report = check(harness, folder / "runs" if (folder / "runs").is_dir() else folder)
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
        for place, count in report.fields.most_common():
            print(f"not read: {place} ({count} values)")
        for pair in report.unlike:
            print(f"unlike: {pair.live.path}")
            for difference in pair.differences()[:3]:
                print(f"    {str(difference)[:600]}")
    if not found:
        names = " or ".join(
            f"{harness.name}/RELEASE/SCENARIO.KIND.jsonl" for harness in all_harnesses()
        )
        print(f"no recordings in {root}: expected {names}", file=sys.stderr)
        return 2
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
