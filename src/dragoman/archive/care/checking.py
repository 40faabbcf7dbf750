"""Find problems in saved sessions: within each file, and between files.

Within a file: what its harness's checker finds, and damaged compression. Between files: a wrong
name, two files for one session, a missing parent, a fork that starts beyond its parent's end.
Besides: the index, and the lists that harnesses keep. Each finding says what to do; nothing is
changed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from dragoman.archive.care.lists import out_of_step
from dragoman.archive.session_files import named_id, session_files
from dragoman.errors import UnreadableSource
from dragoman.harnesses import all_harnesses
from dragoman.harnesses.contract.care import Care, Checker, Fault
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.history import Origin
from dragoman.reading.identity import FIRST_LINES, harness_of_file, identify
from dragoman.reading.sources import Damage, Line, batches
from dragoman.wire.lines import LongLine

_RECENT: Final = timedelta(minutes=5)
_REPAIRED: Final = "`dragoman doctor --sessions --repair FILE` writes a copy without it"
_FIXES: Final = {
    "turn": "`--repair` writes a copy with an end",
    "time": "nothing; rows are read in the order of the file",
    "newline": "nothing; programs that append to the file must start a new line",
    "chain": "`--repair` writes a copy in which it follows the row before it",
    "header": "`--repair` writes a copy with a new one",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFinding:
    """One problem with one file."""

    path: str
    line: int
    """Counted from 1; 0 for the whole file."""
    kind: str
    what: str
    fix: str
    is_broken: bool = True
    """False for an oddity that hides no content."""


@dataclass(slots=True)
class FileReport:
    """The result of reading one file to its end."""

    path: Path
    harness: Harness
    checker: Checker
    findings: list[FileFinding] = field(default_factory=list[FileFinding])
    origin: Origin | None = None
    size: int = 0
    """The uncompressed size in bytes."""
    lines: int = 0


class IndexMismatch(NamedTuple):
    """How the index differs from a file."""

    what: str
    fix: str
    is_broken: bool = False
    """Whether the next update of the index will not fix it."""


Index: TypeAlias = Callable[[FileReport], IndexMismatch | None]
"""Returns how the index differs from a file, or None."""


def check_file(path: str | Path, now: datetime | None = None) -> FileReport:
    """Read a file to its end and return its problems."""
    path = Path(path)
    report: FileReport | None = None
    problem: UnreadableSource | None = None
    try:
        for batch in batches(path):
            if report is None:
                report = _begin(path, batch)
            for line in batch:
                _receive(report, line)
    except UnreadableSource as unreadable:
        problem = unreadable
    report = report or _begin(path, ())
    if problem is not None:
        report.findings.append(
            _about_file(path, "unreadable", problem.problem, "check its permissions")
        )
        return report
    is_fresh = _is_fresh(path, now)
    report.findings += [
        _finding(path, fault, is_fresh=is_fresh and fault.is_at_end)
        for fault in report.checker.finish()
    ]
    return report


def _begin(path: Path, batch: Iterable[Line | Damage]) -> FileReport:
    """Start a report with the checker of the harness that wrote the file."""
    first = [
        line.head if isinstance(line, LongLine) else line
        for line in batch
        if not isinstance(line, Damage)
    ][:FIRST_LINES]
    harness = harness_of_file(str(path), first)
    care = harness.care if harness is not None else None
    if harness is None or care is None:
        # Neither content nor name identifies it: the usual harness still finds lines that cannot be read.
        harness, care = _usual()
    report = FileReport(path, harness, care.make_checker())
    report.origin = identify(harness.name, str(path), first) if first else None
    return report


def _usual() -> tuple[Harness, Care]:
    return next((each, each.care) for each in all_harnesses() if each.care is not None)


def _receive(report: FileReport, line: Line | Damage) -> None:
    if isinstance(line, Damage):
        fix = "`--repair` writes a copy of what can still be read"
        report.findings.append(_about_file(report.path, "compression", line.problem, fix))
        return
    report.lines += 1
    data = line.head if isinstance(line, LongLine) else line
    report.size += line.length if isinstance(line, LongLine) else len(data)
    report.checker.receive_line(data)


def check(
    paths: Iterable[str | Path] = (), *, index: Index | None = None, now: datetime | None = None
) -> Iterator[FileFinding]:
    """Yield the problems of the sessions at these paths, or of all sessions, file by file.

    ``index`` checks each file against the index. If all sessions are checked, so are the lists that
    harnesses keep.
    """
    paths = list(paths)
    reports: list[FileReport] = []
    known: dict[str, list[FileReport]] = {}
    for path in session_files(paths):
        report = check_file(path, now)
        yield from report.findings
        report.findings = []
        step = index(report) if index is not None else None
        if step is not None:
            yield _about_file(path, "index", step.what, step.fix, broken=step.is_broken)
        reports.append(report)
        if report.checker.session_id is not None:
            known.setdefault(report.checker.session_id, []).append(report)
    elsewhere = _Elsewhere(known)
    for report in reports:
        yield from _between(report, known, elsewhere)
    if not paths:
        files = {name: [each.path for each in same] for name, same in known.items()}
        for path, what, fix in out_of_step(files):
            yield _about_file(path, "list", what, fix, broken=False)


class _Elsewhere:
    """Sessions in the homes that were not checked themselves, located on first use."""

    def __init__(self, known: dict[str, list[FileReport]]) -> None:
        self._known = known
        self._paths: dict[str, Path] | None = None

    def find(self, session_id: str) -> FileReport | None:
        if session_id in self._known:
            return self._known[session_id][0]
        if self._paths is None:
            self._paths = {name: path for path in session_files() if (name := named_id(path))}
        path = self._paths.get(session_id)
        return check_file(path) if path is not None else None


def _between(
    report: FileReport, known: dict[str, list[FileReport]], elsewhere: _Elsewhere
) -> Iterator[FileFinding]:
    path, session_id, origin = report.path, report.checker.session_id, report.origin
    if session_id is None:
        return
    named = named_id(path)
    if named is not None and not session_id.startswith(named):  # a name may have its beginning
        what = f"the file is named after {named} but contains {session_id}"
        yield _about_file(path, "name", what, "`--repair` writes a copy with the right name")
    same = [each.path for each in known[session_id] if each is not report]
    if same and (origin is None or origin.kind != "revert") and not _is_reverted(known[session_id]):
        what = f"{same[0]} contains the same session"
        yield _about_file(path, "duplicate", what, "keep one of them", broken=False)
    if origin is None or (origin.parent_session_id is None and origin.base is None):
        return
    parent_id = origin.base.session_id if origin.base else origin.parent_session_id
    parent = elsewhere.find(parent_id or "")
    if parent is None:
        needs = origin.base is not None
        what = f"its parent {parent_id} is missing" + (
            ", and with it the beginning of the session" if needs else ""
        )
        fix = "restore the parent's file" if needs else "nothing; it can be read without its parent"
        yield _about_file(path, "orphan", what, fix, broken=needs)
    elif origin.base is not None:
        yield from _beyond(report, parent)


def _beyond(report: FileReport, parent: FileReport) -> Iterator[FileFinding]:
    assert report.origin is not None
    assert report.origin.base is not None
    base, last = report.origin.base, parent.checker.last_ordinal
    if last is not None and base.end_ordinal is not None:
        too_far = base.end_ordinal > last + 1
    else:
        too_far = base.end_offset is not None and base.end_offset > parent.size
    if too_far:
        what = f"it continues from beyond the end of its parent, {parent.path}"
        fix = "restore the parent's file; its last rows are missing"
        yield _about_file(report.path, "base", what, fix)


def _is_reverted(reports: list[FileReport]) -> bool:
    return any(each.origin is not None and each.origin.kind == "revert" for each in reports)


def _finding(path: Path, fault: Fault, *, is_fresh: bool) -> FileFinding:
    what, broken = fault.what, fault.is_broken
    fix = _FIXES.get(fault.kind, _REPAIRED)
    if is_fresh and broken:
        what, broken = (
            f"{what}; the file was just written, so the session may still be running",
            False,
        )
        fix = "check again when the session has ended"
    elif not broken and fault.kind not in _FIXES:
        fix = "nothing; no content is hidden"  # `--repair` only changes what is broken
    return FileFinding(
        path=str(path), line=fault.line, kind=fault.kind, what=what, fix=fix, is_broken=broken
    )


def _about_file(path: Path, kind: str, what: str, fix: str, *, broken: bool = True) -> FileFinding:
    return FileFinding(path=str(path), line=0, kind=kind, what=what, fix=fix, is_broken=broken)


def _is_fresh(path: Path, now: datetime | None) -> bool:
    now = now or datetime.now(UTC)
    return now - datetime.fromtimestamp(path.stat().st_mtime, UTC) < _RECENT
