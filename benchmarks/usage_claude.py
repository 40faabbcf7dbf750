"""``dragoman usage`` beside ``ccusage`` over homes of Claude Code: the same files, and an oracle that knows the answer.

Each trap is a home in which a simple sum goes wrong: one row for each content block, forks that copy rows,
sub-agents in files of their own, cache writes of an hour. The oracle (``tests/support/claude/oracle.py``) shares no
code with Dragoman; "row by row" adds up every row as it stands. Tokens are input and output, cached ones included.

``python benchmarks/usage_claude.py [--ccusage FOLDER]``. Without a folder, ccusage is installed into a temporary one
with npm; without npm, Dragoman is compared with the oracle alone. Exits with 1 if they differ.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from usage import install

_ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(_ROOT / "tests"))

from support.claude import oracle  # noqa: E402
from support.claude.homes import FORK, STORY, MadeHome, recorded_home  # noqa: E402

_OURS = "from dragoman.cli.main import run; run()"


class Count(NamedTuple):
    """What one program makes of a home."""

    tokens: int
    output: int
    cost: float | None = None

    def __str__(self) -> str:
        money = f"${self.cost:.4f}" if self.cost is not None else ""
        return f"{self.tokens:>12,}{self.output:>9,}{money:>10}"


def _only(*ids: str) -> Callable[[Path], None]:
    """Keep only the files of these sessions of the recorded home."""

    def make(home: Path) -> None:
        recorded_home(home)
        for path in home.rglob("*.jsonl"):
            if path.stem not in ids:
                path.unlink()

    return make


def _hourly(home: Path) -> None:
    recorded_home(home)
    for path in home.rglob("*.jsonl"):
        text = path.read_text(encoding="utf-8")
        path.write_text(
            text.replace('"ephemeral_1h_input_tokens":0', '"ephemeral_1h_input_tokens":12').replace(
                '"ephemeral_5m_input_tokens":0', '"ephemeral_5m_input_tokens":10'
            ),
            encoding="utf-8",
        )


def _made(seed: int) -> Callable[[Path], None]:
    return lambda home: (MadeHome(home, seed), None)[1]


TRAPS: dict[str, Callable[[Path], None]] = {
    "one row for each block": _only(STORY),
    "a fork beside its parent": _only(STORY, FORK),
    "a fork, its parent gone": _only(FORK),
    "all recordings": lambda home: (recorded_home(home), None)[1],
    "cache writes with lifetimes": _hourly,
    **{f"made up, number {seed}": _made(seed) for seed in (3, 5, 14)},
}


def naive(home: Path) -> Count:
    counts = oracle.naive(home.rglob("*.jsonl"))
    return Count(counts["input"] + counts["output"], counts["output"])


def true(home: Path) -> Count:
    counts = oracle.true(home.rglob("*.jsonl"))["total"]["total"]
    return Count(counts["input"] + counts["output"], counts["output"])


def ours(home: Path, scratch: Path) -> tuple[Count, float | None]:
    """What Dragoman counts, and what the agent itself reports, where it does."""
    command = [sys.executable, "-c", _OURS, "usage", "--by", "harness", "--json", "--no-cache"]
    total = _ask(command, home, scratch)["total"]
    usage: dict[str, int] = total["usage"]
    tokens = usage["input_tokens"] + usage["output_tokens"]
    return Count(tokens, usage["output_tokens"], total["cost"]), total["reported_cost"]


def theirs(home: Path, scratch: Path, ccusage: Path) -> Count:
    program = ccusage / "node_modules/@ccusage/ccusage-linux-x64/bin/ccusage"
    program.chmod(0o755)
    totals = _ask([str(program), "daily", "--offline", "--json"], home, scratch)["totals"]
    return Count(totals["totalTokens"], totals["outputTokens"], totals["totalCost"])


def _ask(command: list[str], home: Path, scratch: Path) -> dict[str, Any]:
    empty = scratch / "empty"
    env: Mapping[str, str] = {
        **os.environ,
        "HOME": str(empty),
        "CODEX_HOME": str(empty),
        "CLAUDE_CONFIG_DIR": str(home),
        "DRAGOMAN_CACHE": str(scratch / "cache"),
        "TZ": "UTC",
    }
    done = subprocess.run(command, env=env, capture_output=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ccusage", type=Path)
    options = parser.parse_args()
    right = True
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        (scratch / "empty").mkdir()
        ccusage: Path | None = options.ccusage or install(scratch / "ccusage")
        who = ["row by row", "oracle", "dragoman", *(["ccusage"] if ccusage else [])]
        heads = "".join(f"{each:>12}{'output':>9}{'':>10}" for each in who)
        print(f"{'':30}{heads}  agent reports")
        for title, make in TRAPS.items():
            home = scratch / "home"
            make(home)
            mine, reported = ours(home, scratch)
            known = true(home)
            is_right = mine[:2] == known[:2]
            right = right and is_right
            row = [naive(home), known, mine]
            row += [theirs(home, scratch, ccusage)] if ccusage else []
            note = f"  ${reported:.4f}" if reported is not None else "  -"
            print(f"{title:30}{''.join(map(str, row))}{note}{'' if is_right else '  WRONG'}")
            shutil.rmtree(home)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
