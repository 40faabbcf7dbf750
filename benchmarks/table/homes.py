"""The corpora, made once and kept in ``~/.cache/dragoman/bench``.

Every home of Codex is half legacy and half paginated, partly not in English; a quarter of the outputs have no
header, and rate limits change with every response. The home of Claude Code is made of recordings, repeated under
new ids.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import claude_home
import corpus
import indexing
import usage
from corpus_traps import Tokens

_FOLDER = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "dragoman", "bench", "2")


def _made(name: str, make: Callable[[Path], object]) -> Path:
    folder = _FOLDER / name
    if not folder.exists():
        half = _FOLDER / f"{name}.half"
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(parents=True)
        note = make(half)
        (half / "oracle.json").write_text(json.dumps(note if isinstance(note, tuple) else None))
        half.rename(folder)
    return folder


def codex(files: int, megabytes: int) -> tuple[Path, Tokens]:
    """A home for ``usage``, and what its sessions have spent."""
    home = _made(f"codex-{files}", lambda home: usage.make_home(home, files, megabytes))
    a, b, c, d, e = json.loads((home / "oracle.json").read_text())
    return home, (a, b, c, d, e)


def many(sessions: int, gigabytes: float) -> Path:
    """A home for lists, searches and the index."""
    return _made(f"many-{sessions}", lambda home: indexing.make(home, sessions, gigabytes))


def claude(megabytes: int) -> Path:
    return _made(f"claude-{megabytes}", lambda home: claude_home.make(home, megabytes))


def reading(megabytes: int) -> dict[str, list[Path]]:
    """Files to read, by kind."""
    folder = _made(f"reading-{megabytes}", lambda folder: corpus.make(folder, megabytes))
    bare = _made("without-headers", _without_headers)
    paths = sorted(folder.glob("*.jsonl"))
    return {
        "all": paths,
        "small": [path for path in paths if path.stat().st_size < 100_000],
        "long": [path for path in paths if path.name.startswith("long-")],
        "without headers": sorted(bare.glob("*.jsonl")),
    }


def _without_headers(folder: Path) -> None:
    """Sessions in which no output has a header."""
    pool = corpus.bodies()
    for seed in range(4):
        path = corpus.write(
            folder / f"{seed}.jsonl", seed, pool, paginated=seed % 2 == 1, size=5_000_000
        )
        rows = [_bare(line) for line in path.read_bytes().splitlines(keepends=True)]
        path.write_bytes(b"".join(rows))


def _bare(line: bytes) -> bytes:
    if b'function_call_output"' not in line or b"Output:\\n" not in line:
        return line
    row = json.loads(line)
    row["payload"]["output"] = row["payload"]["output"].partition("Output:\n")[2]
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
