"""A session as one HTML file with its secrets masked, beside codex-transcripts, which masks nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import corpus
from table import homes, peers
from table.figures import Figure
from table.racing import Command, race
from table.rows.commands import PROGRAM


def html(scratch: Path) -> Iterator[Figure]:
    program = peers.codex_transcripts()
    if program is None:
        return
    folder = homes._made("html-50", _one_session)
    path = next(folder.glob("*.jsonl"))
    out = scratch / "html"
    out.mkdir(parents=True, exist_ok=True)
    to = ["--to", "html", "--redact", "--force", "-o", str(out / "ours.html")]
    times = race(
        {
            "theirs": Command([str(program), "json", str(path), "-o", str(out / "theirs")]),
            "ours": Command([PROGRAM, "convert", str(path), *to]),
        },
        2,
    )
    ratio = times["ours"].wall / times["theirs"].wall
    note = f"{times['ours'].wall:.1f} s, {times['theirs'].wall:.1f} s"
    yield Figure("HTML, 50 MB, masked / codex-transcripts", ratio, 1.0, note=note)


def _one_session(folder: Path) -> None:
    pool = corpus.bodies()
    name = "rollout-2026-11-15T09-00-00-01a1e150-0007-7a30-8813-000000000007.jsonl"
    corpus.write(folder / name, 7, pool, paginated=False, size=50_000_000)
