"""Sessions in which tokens are easily counted wrong, each with the count that is right.

Every trap is one that a release of Codex really sets (``harnesses/codex/NOTES.md`` says which); the rows are
those of the recordings, cut down to what matters. ``write(folder)`` gives the traps with what they cost.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from corpus_trap_rows import NOTHING, Clock, File, Tokens, Trap, plus

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["NOTHING", "TRAPS", "Clock", "Files", "Tokens", "Trap", "plus", "write"]

Files: TypeAlias = Iterator[tuple[str, list[bytes]]]
"""Names, and rows."""


def _turns(file: File, count: int = 2) -> None:
    for number in range(count):
        file.turn()
        for step in range(3):
            file.spends(9000 + 700 * step + 131 * number, 8000, 300 + step, 120)
        file.end()


def plain(trap: Trap, clock: Clock) -> Files:
    file = File(trap, clock)
    file.meta()
    _turns(file, 3)
    yield file.id, file.rows


def doubled_counts(trap: Trap, clock: Clock) -> Files:
    """0.42 to 0.125: two counts for a response, the first of all without any."""
    file = File(trap, clock)
    file.meta("0.104.0")
    file.turn()
    file.event("token_count", info=None, rate_limits=None)
    for step in range(4):
        own = file.spends(7000 + step, 5000, 200, 90)
        file.count(own)
    file.end()
    yield file.id, file.rows


def repeated_after_resume(trap: Trap, clock: Clock) -> Files:
    file = File(trap, clock)
    file.meta()
    file.turn()
    own = file.spends(12000, 9000, 400, 100)
    file.end()
    for _ in range(3):
        file.turn()
        file.count(own)
        own = file.spends(14000, 11000, 410, 100)
        file.end()
    yield file.id, file.rows


def counter_of_each_process(trap: Trap, clock: Clock) -> Files:
    """Up to 0.77: totals begin anew when a session is resumed, here with more than before."""
    file = File(trap, clock)
    file.meta("0.53.0")
    for step in range(3):
        file.total = NOTHING
        file.turn()
        file.spends(5000 + 900 * step, 4000, 250 + step, 60)
        file.end()
    yield file.id, file.rows


def counter_after_overflow(trap: Trap, clock: Clock) -> Files:
    file = File(trap, clock)
    file.meta()
    _turns(file, 1)
    file.turn()
    file.count(NOTHING, NOTHING)
    file.total = NOTHING
    file.spends(31000, 2000, 500, 20)
    file.spends(32000, 31000, 510, 20)
    file.end()
    yield file.id, file.rows


def records_beside_counts(trap: Trap, clock: Clock) -> Files:
    file = File(trap, clock)
    file.ordinal = 0
    file.meta("0.166.0", history_mode="paginated")
    for _ in range(2):
        file.turn()
        for step in range(3):
            own = file.spends(8000 + step, 6000, 200, 40, told=False)
            file.record(own)
            file.count(own)
        file.end()
    yield file.id, file.rows


def _copy(parent: File, rows: list[bytes], child: File, version: str) -> None:
    """Begin a file with its own header and a copy of these rows, written at one go."""
    child.meta(version, forked_from_id=parent.id)
    for line in rows:
        row = json.loads(line)
        child.row(row["type"], row["payload"])
    child.total = parent.total


def forks_that_copy(trap: Trap, clock: Clock, *, keep_parent: bool = True) -> Files:
    """0.87 to 0.149: two forks hold all that their parent had spent."""
    parent = File(trap, clock)
    parent.meta("0.146.0")
    _turns(parent)
    for _ in range(2):
        child = File(trap, clock)
        _copy(parent, parent.rows, child, "0.146.0")
        _turns(child, 1)
        yield child.id, child.rows
    _turns(parent, 1)
    if keep_parent:
        yield parent.id, parent.rows


def forks_of_a_lost_session(trap: Trap, clock: Clock) -> Files:
    """The parent's file is gone, and the turn that only it had, with it."""
    lost = Trap("")
    parent = File(lost, clock)
    parent.meta("0.146.0")
    _turns(parent)
    trap.spent = dict(lost.spent)
    for _ in range(2):
        child = File(trap, clock)
        _copy(parent, parent.rows, child, "0.146.0")
        _turns(child, 1)
        yield child.id, child.rows


def sub_agents_that_copy(trap: Trap, clock: Clock) -> Files:
    """Each agent begins with its parent's unfinished turn, a longer part of it each time."""
    parent = File(trap, clock)
    parent.meta("0.142.0")
    parent.turn()
    for _ in range(3):
        parent.spends(10000, 8000, 300, 50)
        child = File(trap, clock, model="gpt-5.6-luna")
        source = {"subagent": {"thread_spawn": {"parent_thread_id": parent.id, "depth": 1}}}
        copied = list(parent.rows)
        child.meta("0.142.0", source=source)
        for line in copied:
            row = json.loads(line)
            child.row(row["type"], row["payload"])
        child.total = parent.total
        _turns(child, 1)
        yield child.id, child.rows
    parent.spends(11000, 9000, 310, 50)
    parent.end()
    yield parent.id, parent.rows


def forks_that_refer(trap: Trap, clock: Clock) -> Files:
    """Since 0.151: the fork has only its own rows, but its totals include its parent's."""
    parent = File(trap, clock)
    parent.ordinal = 0
    parent.meta("0.166.0", history_mode="paginated")
    child = File(trap, clock)
    for file in (parent, child):
        if file is child:
            file.ordinal = 0
            file.total = parent.total
            file.meta("0.166.0", history_mode="paginated", forked_from_id=parent.id)
        file.turn()
        for _ in range(3):
            own = file.spends(20000, 18000, 400, 10, told=False)
            file.record(own)
            file.count(own)
        file.end()
        yield file.id, file.rows


def revert(trap: Trap, clock: Clock) -> Files:
    """A second file for the same session, whose totals go on from an earlier place."""
    first = File(trap, clock)
    first.ordinal = 0
    first.meta("0.166.0", history_mode="paginated")
    kept = NOTHING
    for number in range(3):
        first.turn()
        own = first.spends(16000, 12000, 350, 30, told=False)
        first.record(own)
        first.count(own)
        first.end()
        kept = first.total if number == 0 else kept
    second = File(trap, clock, of=first.id)
    second.ordinal = 0
    second.total = kept
    second.meta("0.166.0", history_mode="paginated")
    second.turn()
    own = second.spends(16000, 12000, 350, 30, told=False)
    second.record(own)
    second.count(own)
    second.end()
    yield first.id, first.rows
    yield f"{second.id}-reverted", second.rows


def models_change(trap: Trap, clock: Clock) -> Files:
    file = File(trap, clock)
    file.meta()
    for model in ("gpt-5.5", "gpt-5.6-luna", "gpt-5.5", "house-model"):
        file.turn(model=model)
        file.spends(21000, 15000, 900, 300)
        file.end()
    yield file.id, file.rows


def no_usage(trap: Trap, clock: Clock) -> Files:
    for _ in range(3):
        file = File(trap, clock)
        file.meta()
        file.turn()
        file.end()
        trap.silent += 1
        yield file.id, file.rows


def more_cached_than_input(trap: Trap, clock: Clock) -> Files:
    file = File(trap, clock)
    file.meta()
    file.turn()
    file.spends(1000, 1500, 100, 10)
    file.spends(9000, 4000, 100, 10)
    file.end()
    yield file.id, file.rows


def long_requests(trap: Trap, clock: Clock) -> Files:
    """Above 272,000 tokens a request costs twice as much: not what a day's sum is above."""
    file = File(trap, clock)
    file.meta()
    file.turn()
    for size in (150_000, 271_999, 272_000, 272_001, 300_000):
        file.spends(size, size // 2, 1000, 0)
    file.end()
    yield file.id, file.rows


def put_away_and_compressed(trap: Trap, clock: Clock) -> Files:
    """The same session twice: as it was, and compressed among the archived ones."""
    file = File(trap, clock)
    file.meta()
    _turns(file)
    yield file.id, file.rows
    yield f"{file.id}.zst", file.rows


TRAPS: tuple[Callable[[Trap, Clock], Files], ...] = (
    plain,
    doubled_counts,
    repeated_after_resume,
    counter_of_each_process,
    counter_after_overflow,
    records_beside_counts,
    forks_that_copy,
    forks_of_a_lost_session,
    sub_agents_that_copy,
    forks_that_refer,
    revert,
    models_change,
    no_usage,
    more_cached_than_input,
    long_requests,
    put_away_and_compressed,
)


def write(home: Path, make: Callable[[Trap, Clock], Files], hour: int = 0) -> Trap:
    """Put one trap's files into a Codex home."""
    trap = Trap(make.__name__.replace("_", " "))
    day = home / "sessions" / "2026" / "11" / "10"
    put_away = home / "archived_sessions"
    for folder in (day, put_away):
        folder.mkdir(parents=True, exist_ok=True)
    for name, rows in make(trap, Clock(hour)):
        if name.endswith(".zst"):
            packed = zstd.compress(b"".join(rows))
            (put_away / f"rollout-2026-11-10T08-00-00-{name[:-4]}.jsonl.zst").write_bytes(packed)
        else:
            path = day / f"rollout-2026-11-10T08-00-00-{name}.jsonl"
            path.write_bytes(b"".join(rows))
    return trap
