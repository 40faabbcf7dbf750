"""Repair a session file by writing a copy. The original is never modified.

The file's own harness repairs it. The copy gets the name the session requires; dropped bytes go to
``*.lost.jsonl`` next to it. Then the copy is read back: it must have no malformed line, and must
contain every message that could still be read from the original.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import msgspec

from dragoman.archive.care.checking import FileReport, check_file
from dragoman.archive.session_files import named_id
from dragoman.errors import UnreadableSource, UsageError
from dragoman.harnesses.contract.care import Dropped, RepairAction, Repairer
from dragoman.model.messages import (
    Malformed,
    Message,
    SessionEnded,
    SessionStarted,
    ToolCall,
    ToolResult,
    TurnEnded,
    UsageReport,
    encode,
)
from dragoman.reading.audit import audit
from dragoman.reading.read import read
from dragoman.reading.sources import Damage, batches
from dragoman.wire.lines import LongLine


@dataclass(slots=True)
class Repair:
    """The result of repairing one file."""

    source: Path
    target: Path
    """The repaired copy."""
    dropped_path: Path | None = None
    """The file with the bytes that were dropped."""
    actions: list[RepairAction] = field(default_factory=list[RepairAction])
    problems: list[str] = field(default_factory=list[str])
    """What is still wrong with the copy. Normally empty."""
    messages: int = 0
    """How many messages the copy contains."""
    turns: int = 0
    harness: str = ""
    session_id: str | None = None


def repair(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Repair:
    """Write a repaired copy of a session file into a folder, and verify it by reading it back.

    Raises ``UsageError`` instead of overwriting an existing file.
    """
    source = Path(path)
    report = check_file(source)
    if not report.lines:
        raise UnreadableSource(str(source), "it is empty")
    target = _target(report, Path(folder))
    dropped_path = target.with_suffix(".lost.jsonl")
    for each in (target, dropped_path):
        if each.exists():
            raise UsageError(f"{each} already exists; use -o to name another folder")
    named = named_id(source)
    repairer = report.checker.repairer(named)
    target.parent.mkdir(parents=True, exist_ok=True)
    done = Repair(
        source,
        target,
        harness=report.harness.name,
        session_id=report.checker.session_id or named,
    )
    with target.open("xb") as out:
        for line in _repaired_lines(source, repairer, done):
            out.write(line + b"\n")
    done.actions += sorted(repairer.actions, key=lambda action: action.line)
    if target.name != source.name:
        done.actions.append(RepairAction(0, f"the copy is named after its session: {target.name}"))
    if repairer.dropped:
        done.dropped_path = dropped_path
        with dropped_path.open("xb") as out:
            for dropped in repairer.dropped:
                out.write(_dropped_row(dropped) + b"\n")
    _prove(done, {dropped.line for dropped in repairer.dropped})
    return done


def _target(report: FileReport, folder: Path) -> Path:
    name = report.path.name.removesuffix(".zst").removesuffix(".gz")
    session_id = report.checker.session_id
    care = report.harness.care
    if (
        care is not None
        and session_id is not None
        and named_id(report.path) not in (None, session_id)
    ):
        name = PurePosixPath(care.place(name, session_id)).name
    return folder / name


def _repaired_lines(source: Path, repairer: Repairer, done: Repair) -> Iterator[bytes]:
    for batch in batches(source):
        for line in batch:
            if isinstance(line, Damage):
                done.actions.append(
                    RepairAction(0, f"kept what came before the damage: {line.problem}")
                )
            elif isinstance(line, LongLine):
                done.problems.append(f"a line of {line.length} bytes is too long and was dropped")
            else:
                yield from repairer.receive_line(line)
    yield from repairer.finish()


def _dropped_row(dropped: Dropped) -> bytes:
    row: dict[str, object] = {"line": dropped.line, "problem": dropped.problem}
    try:
        row["raw"] = dropped.raw.decode()
    except UnicodeDecodeError:
        row["raw_base64"] = b64encode(dropped.raw).decode()
    return msgspec.json.encode(row)


def _prove(done: Repair, gone: set[int]) -> None:
    """Read the copy and compare it with the original, except for the dropped lines."""
    account = audit(done.target)
    done.messages, done.turns = account.messages.total(), account.messages["turn_started"]
    done.problems += [f"line {line}: {problem}" for line, problem in account.malformed]
    if account.damage is not None:
        done.problems.append(account.damage)
    broken = [fault for fault in check_file(done.target).findings if fault.is_broken]
    done.problems += [f"line {fault.line}: {fault.what}" for fault in broken]
    new = Counter(_message_keys(done.target))
    for line, key in _keyed_lines(done.source):
        # If a repeated row was dropped, its neighbours may now be reported differently.
        if key not in new and not {line, line + 1} & gone:
            done.problems.append(
                f"the content of line {line} of the original is missing in the copy"
            )


def _message_keys(path: Path) -> Iterator[bytes]:
    return (key for _, key in _keyed_lines(path))


_BY_THE_WAY = (Malformed, SessionStarted, SessionEnded, TurnEnded, UsageReport)
"""Messages that may change when rows around them are restored: names, ends, totals."""


def _keyed_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield a key for each message of a file, except those that depend on surrounding rows."""
    for message in read(path):
        is_given_up = isinstance(message, ToolResult) and message.status == "abandoned"
        if not isinstance(message, _BY_THE_WAY) and not is_given_up:
            yield message.line, _key(message)


def _key(message: Message) -> bytes:
    """Return what must reappear in the copy. A call is identified by its id, since restored rows may add detail."""
    if isinstance(message, ToolCall | ToolResult):
        return f"{type(message).__name__} {message.call_id}".encode()
    bare = msgspec.structs.replace(message, line=0, session_id=None, turn_id=None, at=None)
    return encode(bare)
