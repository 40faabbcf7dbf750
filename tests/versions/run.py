"""Plays the core stories with many releases of Codex, and prints what came of them.

``python tests/versions/run.py [RELEASE …] [--only WORD] [--write] [--keep DIR]``, or ``make test-versions``.
Not part of ``make test``: each release comes from npm, and is kept for the next time (see releases.py).
The model is a stand-in on loopback: no key, no cost. Ends with 1 if a story failed, if a release that
cannot play it was not refused by us, or if a session's file tells something else than was told live.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import app_server_stories
import exec_stories
from page import FAILED, PAGE, PASSED, REFUSED, Verdict, replaced, tables
from plays import Play
from releases import NotInstalled, cache, default, install, number, resolve
from scenarios import Scenario

from dragoman.errors import Unsupported

SCENARIOS = (*app_server_stories.STORIES.all, *exec_stories.STORIES.all)
SECONDS = 90
"""No story may take longer."""


def play(scenario: Scenario, release: str, program: Path, keep: Path | None = None) -> Verdict:
    """One story with one release, in a process, a home and a workspace of its own."""
    can, began = number(release) >= scenario.since, time.monotonic()
    mark, reason, compared = FAILED, "", dict[str, list[str]]()
    journal = _journal(keep, scenario, release)
    with (
        tempfile.TemporaryDirectory(prefix="versions-", ignore_cleanup_errors=True) as folder,
        Play(program, number(release), Path(folder), journal) as stage,
    ):
        try:
            asyncio.run(_within(scenario, stage))
            compared = stage.compared()
            mark, reason = (PASSED, "") if can else (FAILED, "it was not refused")
        except Unsupported as refusal:
            mark, reason = _refused(refusal, release, can)
        except Exception as problem:  # whatever it is, the other stories are played
            reason = _told(problem)
        if keep is not None and (mark == FAILED or any(compared.values())):
            _save(stage, keep / release)
    return Verdict(
        scenario=scenario,
        release=release,
        mark=mark,
        reason=reason,
        alike=sum(not found for found in compared.values()),
        sessions=len(compared),
        unlike=[text for found in compared.values() for text in found],
        seconds=time.monotonic() - began,
    )


async def _within(scenario: Scenario, stage: Play) -> None:
    async with asyncio.timeout(SECONDS):
        await scenario.story(stage)


def _refused(refusal: Unsupported, release: str, can: bool) -> tuple[str, str]:
    """A refusal is right if the release cannot, and if its sentence says which one can."""
    if can:
        return FAILED, f"refused, though this release can: {refusal}"
    if not refusal.needs or release not in str(refusal):
        return FAILED, f"the refusal names no release: {refusal}"
    return REFUSED, refusal.needs


def _told(problem: BaseException) -> str:
    while isinstance(problem, BaseExceptionGroup):
        problem = cast("BaseExceptionGroup[BaseException]", problem).exceptions[0]
    places = traceback.extract_tb(problem.__traceback__)
    ours = [place for place in places if Path(place.filename).parent == Path(__file__).parent]
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}: {ours[-1].line}" if ours else ""
    return f"{type(problem).__name__}: {problem} ({where})"


def _journal(keep: Path | None, scenario: Scenario, release: str) -> Path | None:
    if keep is None:
        return None
    (keep / release).mkdir(parents=True, exist_ok=True)
    words = "".join(each if each.isalnum() else "-" for each in scenario.name)
    path = keep / release / f"{scenario.mode}.{words}.jsonl"
    path.unlink(missing_ok=True)
    return path


def _save(stage: Play, folder: Path) -> None:
    for path in stage.repo.parent.glob("home/sessions/**/rollout-*"):
        (folder / path.name).write_bytes(path.read_bytes())


def main(arguments: Sequence[str]) -> int:
    """Play what was asked for; 0 if all is well."""
    options = _options(arguments)
    programs: dict[str, Path] = {}
    try:
        names = options.releases or default(options.cache)
    except NotInstalled as problem:
        print(problem, file=sys.stderr)
        return 2
    for name in names:
        try:
            release = resolve(name, options.cache)
            programs[release] = install(release, options.cache)
        except NotInstalled as problem:
            print(f"{name}: {problem}", file=sys.stderr)
            return 2
    wanted = [one for one in SCENARIOS if options.only in f"{one.mode}: {one.name}"]
    plays = [(one, release) for release in programs for one in wanted]

    def go(one: tuple[Scenario, str]) -> Verdict:
        verdict = play(*one, programs[one[1]], options.keep)
        _report(verdict)
        return verdict

    with ThreadPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(go, plays))
    made = tables(verdicts)
    print(f"\n{made}")
    bad = [verdict for verdict in verdicts if not verdict.is_good]
    print(f"{len(verdicts)} stories, {len(bad)} not as they should be")
    if options.write:
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
    return 1 if bad else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("releases", nargs="*", help="default: chosen ones, and the newest on npm")
    parser.add_argument(
        "--only", default="", metavar="WORD", help="stories with this in their name"
    )
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep journals, and what failed")
    parser.add_argument("--cache", type=Path, default=cache(), help="where releases are kept")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    return parser.parse_args(arguments)


def _report(verdict: Verdict) -> None:
    story = f"{verdict.release:>8} {verdict.scenario.mode}: {verdict.scenario.name}"
    lines = [f"{verdict.mark} {story} ({verdict.seconds:.1f} s)"]
    if verdict.mark == FAILED:
        lines.append(f"    {verdict.reason[:1500]}")
    lines += [f"    live ≠ disk: {text[:600]}" for text in verdict.unlike]
    print("\n".join(lines), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
