"""Which stories are played with which programs, and what is printed about them."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import alone
import driven
from programs import NotInstalled, cache, install, release_of
from stories import ALONE, DRIVEN, TrialStory
from subjects import SUBJECTS, Subject
from trial import Trial
from trial_page import PAGE, replaced, tables
from verdicts import Board, Cells

from dragoman.harnesses import find_harness

STORIES = (*driven.STORIES.all, *alone.STORIES.all)
SECONDS = 400
"""No story may take longer."""


def play(name: str, program: Path, only: str, keep: Path | None) -> Board:
    """All stories of one program, one after the other, in this process."""
    board = Board()
    subject = SUBJECTS[name]
    for story in STORIES:
        if not is_for(story, subject) or not any(only in cell for cell in story.cells):
            continue
        began = time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix=f"trial-{name}-"))
        cells = Cells(board, name, story.table, story.cells)
        problem: BaseException | None = None
        try:
            with Trial(subject, program, folder, board) as trial:
                asyncio.run(_within(story, trial, cells))
                trial.check_nothing_runs()
                if story.compares:
                    trial.compare(story.table)
        except Exception as raised:  # whatever it is, the other stories are played
            problem = raised
        cells.finish(problem)
        print(f"  {name}: {story.cells[0]} … {time.monotonic() - began:.1f} s", flush=True)
        if keep is not None:
            _keep(folder, keep / name, f"{story.table} {story.cells[0]}")
        shutil.rmtree(folder, ignore_errors=True)
    return board


def _keep(folder: Path, keep: Path, about: str) -> None:
    def odd(inside: str, names: list[str]) -> list[str]:
        paths = [Path(inside, name) for name in names]
        return [path.name for path in paths if not (path.is_file() or path.is_dir())]

    target = keep / "".join(each if each.isalnum() else "-" for each in about)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target, symlinks=True, ignore=odd)


async def _within(story: TrialStory, trial: Trial, cells: Cells) -> None:
    async with asyncio.timeout(SECONDS):
        await story.play(trial, cells)


def is_for(story: TrialStory, subject: Subject) -> bool:
    """Whether a story can be tried with a program at all."""
    if story.table == ALONE:
        return subject.run is not None
    assert story.table == DRIVEN
    found = find_harness(subject.harness or subject.name)
    return found is not None and bool(found.transports)


def main(arguments: Sequence[str]) -> int:
    """Play what was asked for; 0 if all is well."""
    options = _options(arguments)
    programs: dict[str, Path] = {}
    missing: list[str] = []
    for name in options.names or SUBJECTS:
        if name not in SUBJECTS:
            print(f"unknown program {name!r} (use {', '.join(SUBJECTS)})", file=sys.stderr)
            return 2
        try:
            programs[name] = install(SUBJECTS[name].program, options.cache)
        except NotInstalled as problem:
            print(f"{name} is left out: {problem}", file=sys.stderr)
            missing.append(name)
    if missing and os.environ.get("CI"):
        return 2
    board = Board()
    for name, program in programs.items():
        board.releases[name] = release_of(SUBJECTS[name].program, program)
    with ProcessPoolExecutor(options.jobs) as pool:
        working = [
            pool.submit(play, name, program, options.only, options.keep)
            for name, program in programs.items()
        ]
        for each in working:
            board.merge(each.result())
    made = tables(board)
    print(f"\n{made}")
    for text in board.unlike:
        print(f"live ≠ disk: {text[:600]}")
    print(f"{len(board.verdicts)} cells, {len(board.bad)} not as they should be")
    if options.write:
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
    return 1 if board.bad or board.unlike else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/trials/run.py")
    parser.add_argument("names", nargs="*", help="default: all of them")
    parser.add_argument("--only", default="", metavar="WORD", help="stories with this in a cell")
    parser.add_argument("--write", action="store_true", help=f"write the tables into {PAGE.name}")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep homes, outputs and files")
    parser.add_argument("--cache", type=Path, default=cache(), help="where programs are kept")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args(arguments)
