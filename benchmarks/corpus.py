"""A corpus of rollouts in the shape of real ones, made here: ``python benchmarks/corpus.py DIR MB``.

Half of the sessions are legacy (as 0.142 writes them), half paginated (as 0.166 does). The rows, their
order and their fields are those of the recordings; the sizes are those of working sessions: about
twelve model responses a turn, each with a summary of reasoning and its encrypted form, a command with
a few kilobytes of output (log-normal, at most 40 KB, as Codex cuts it), now and then a patch or a text,
and a compaction whenever the context is full. Outputs are pieces of Python's own library, so that escapes
and characters are those of code, a quarter of them without a header; prompts, texts and thoughts are prose in
several languages; rate limits change with every response. Half of the bytes are in two long sessions, a tenth
in many of less than 100 KB. The same seed always gives the same bytes.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from corpus_session import Session


def bodies() -> str:
    """Some megabytes of code to cut pieces from."""
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(library.glob("*.py"))[:120]
    return "".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


def write(path: Path, seed: int, pool: str, *, paginated: bool, size: int) -> Path:
    """One session of about this many bytes."""
    written = 0
    with path.open("wb") as file:
        for row in Session(seed, pool, paginated=paginated).rows():
            written += file.write(row)
            if written >= size:
                return path
    return path


def make(folder: Path, megabytes: int) -> list[Path]:
    """Sessions of this size together: half of it in two long ones, a tenth in small ones."""
    folder.mkdir(parents=True, exist_ok=True)
    pool = bodies()
    size = megabytes * 1_000_000
    paths = [
        write(folder / "long-legacy.jsonl", 0, pool, paginated=False, size=size // 4),
        write(folder / "long-paginated.jsonl", 1, pool, paginated=True, size=size // 4),
    ]
    left, seed = size - sum(path.stat().st_size for path in paths), 2
    while left > 0:
        is_small = left < size // 10
        paginated = seed % 2 == 1
        path = folder / f"{'paginated' if paginated else 'legacy'}-{seed:05d}.jsonl"
        own = 24_000 + seed % 8 * 9_000 if is_small else 1_500_000 + seed % 7 * 700_000
        paths.append(write(path, seed, pool, paginated=paginated, size=own))
        left -= path.stat().st_size
        seed += 1
    return paths


def main() -> int:
    if len(sys.argv) != 3 or not sys.argv[2].isdigit():
        print("usage: python benchmarks/corpus.py DIR MEGABYTES", file=sys.stderr)
        return 2
    paths = make(Path(sys.argv[1]), int(sys.argv[2]))
    size = sum(path.stat().st_size for path in paths)
    print(f"{len(paths)} sessions, {size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
