"""Real rollouts, damaged in every way that disks, crashes and programs know."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

OLD: Final = 1_700_000_000
"""A time long ago: whatever was written then is not being written now."""


def _torn(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-3], lines[-3][: len(lines[-3]) // 2]]


def _nuls(lines: list[bytes]) -> list[bytes]:
    half = len(lines) // 2
    return [*lines[:half], lines[half][:40] + b"\0" * 300 + lines[half + 1], *lines[half + 2 :]]


def _doubled(lines: list[bytes]) -> list[bytes]:
    half = len(lines) // 2
    return [*lines[:half], lines[half], *lines[half:]]


def _swapped(lines: list[bytes]) -> list[bytes]:
    half = len(lines) // 2
    return [*lines[:half], lines[half + 1], lines[half], *lines[half + 2 :]]


def _endless(lines: list[bytes]) -> list[bytes]:
    return [line for line in lines if b'"task_complete"' not in line]


def _glued(lines: list[bytes]) -> list[bytes]:
    half = len(lines) // 2
    return [*lines[:half], lines[half].rstrip(b"\n"), *lines[half + 1 :]]


def _scribbled(lines: list[bytes]) -> list[bytes]:
    half = len(lines) // 2
    return [*lines[:half], b'{"timestamp": oops\n', b"\xff\xfe\n", *lines[half:]]


def _headless(lines: list[bytes]) -> list[bytes]:
    return lines[1:]


def _late_header(lines: list[bytes]) -> list[bytes]:
    """The first row comes third."""
    return [*lines[1:3], lines[0], *lines[3:]]


def _not_text(lines: list[bytes]) -> list[bytes]:
    """A byte in a text that no text has."""
    place = next(i for i, line in enumerate(lines) if i > 3 and b'"text":"' in line)
    return [
        line.replace(b'"text":"', b'"text":"\xff', 1) if i == place else line
        for i, line in enumerate(lines)
    ]


DAMAGE: Final[dict[str, Callable[[list[bytes]], list[bytes]]]] = {
    "torn": _torn,
    "nuls": _nuls,
    "doubled": _doubled,
    "swapped": _swapped,
    "endless": _endless,
    "glued": _glued,
    "scribbled": _scribbled,
    "headless": _headless,
    "late header": _late_header,
    "not text": _not_text,
}


def session_id_of(path: Path) -> str:
    found = re.search(rb'"id":"([0-9a-f-]{36})"', path.read_bytes())
    assert found is not None
    return found[1].decode()


def put(source: Path, folder: Path, damage: str | None = None) -> Path:
    """A copy under the name that its program would give it, damaged, and long ago."""
    lines = source.read_bytes().splitlines(keepends=True)
    if damage is not None:
        lines = DAMAGE[damage](lines)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rollout-2026-11-15T22-25-24-{session_id_of(source)}.jsonl"
    path.write_bytes(b"".join(lines))
    os.utime(path, (OLD, OLD))
    return path
