"""The reports of ``dragoman doctor --sessions``: damage in saved sessions, and ``--repair`` into copies."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.cli import lazy_click as click
from dragoman.cli.streams import standard_output

if TYPE_CHECKING:
    from dragoman.archive.care.checking import FileFinding
    from dragoman.archive.care.repairing import Repair
    from dragoman.client.proving import Proof

REPAIRED = "repaired-sessions"
"""The default folder for copies."""


def check_sessions(paths: Sequence[str], *, as_json: bool) -> int:
    """List findings; returns 1 if something is broken."""
    from dragoman.archive.api import SessionArchive
    from dragoman.archive.care.checking import check
    from dragoman.cli.archive_options import session_path

    ink = _ink()
    counts: Counter[bool] = Counter()
    with SessionArchive() as archive:  # only reports on the index as the last command left it
        for finding in check(map(session_path, paths), index=archive.index_check()):
            counts[finding.is_broken] += 1
            if as_json:
                click.echo(json.dumps(asdict(finding), ensure_ascii=False))
            else:
                for row in _rows(finding, ink):
                    click.echo(row)
    if not as_json:
        broken, odd = counts[True], counts[False]
        last = f"{broken} broken" if broken else "nothing is broken"
        last += f", {odd} odd" if odd else ""
        click.echo(ink(last, "red" if broken else "green"))
    return 1 if counts[True] else 0


def _rows(finding: FileFinding, ink: Any) -> list[str]:
    from dragoman.rendering import render

    hue = "red" if finding.is_broken else "yellow"
    mark = ink("✗" if finding.is_broken else "!", hue)
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return [
        f"{mark} {ink(render.flat(place), 'bold')}: {render.flat(finding.what)}",
        f"  {ink('→ ' + render.flat(finding.fix), 'dim')}",
    ]


async def repair_sessions(
    paths: Sequence[str], folder: str | None, *, command: str | None, as_json: bool
) -> int:
    """Write repaired copies and verify each; returns 1 if one could not be verified."""
    from dragoman.archive.care.checking import check_file
    from dragoman.archive.care.repairing import repair
    from dragoman.archive.session_files import session_files
    from dragoman.cli.archive_options import session_path
    from dragoman.client.proving import Proof, prove

    ink = _ink()
    failed = repaired = 0
    for path in session_files(map(session_path, paths)):
        report = check_file(path)
        named = [finding for finding in report.findings if finding.is_broken]
        if not named and not (
            report.path.is_file() and _is_misnamed(path, report.checker.session_id)
        ):
            continue
        done = repair(path, folder or REPAIRED)
        repaired += 1
        proof = Proof(accepted=None, text="it has no session id to resume")
        if done.session_id is not None and not done.problems:
            proof = await prove(
                done.target,
                done.session_id,
                harness=done.harness,
                has_turns=done.turns > 0,
                beside=_beside(report.origin),
                command=command,
            )
        is_good = not done.problems and proof.accepted is not False
        failed += not is_good
        if as_json:
            click.echo(json.dumps(_as_row(done, proof, is_good=is_good), ensure_ascii=False))
        else:
            for row in _told(done, proof, ink):
                click.echo(row)
    if not as_json:
        click.echo(
            f"{repaired} repaired, {failed} with problems" if repaired else "nothing to repair"
        )
    return 1 if failed else 0


def _is_misnamed(path: Path, session_id: str | None) -> bool:
    from dragoman.archive.session_files import named_id

    return session_id is not None and named_id(path) not in (None, session_id)


def _beside(origin: Any) -> list[tuple[Path, str]]:
    """The file that a session continues, without which the agent cannot read it."""
    from dragoman.cli.archive_options import open_archive
    from dragoman.errors import UsageError

    if origin is None or origin.base is None:
        return []
    name = str(origin.base.session_id)
    try:
        with open_archive((), wanted=name) as archive:
            return [(Path(archive.get(name).path), name)]
    except UsageError:
        return []


def _as_row(done: Repair, proof: Proof, *, is_good: bool) -> dict[str, Any]:
    return {
        "source": str(done.source),
        "target": str(done.target),
        "dropped": str(done.dropped_path) if done.dropped_path else None,
        "lost": str(done.dropped_path) if done.dropped_path else None,  # the name before 0.2
        "actions": [action._asdict() for action in done.actions],
        "deeds": [action._asdict() for action in done.actions],  # the name of "actions" before 0.2
        "problems": done.problems,
        "messages": done.messages,
        "proof": asdict(proof),
        "good": is_good,
    }


def _told(done: Repair, proof: Proof, ink: Any) -> list[str]:
    from dragoman.rendering import render

    rows = [f"{ink(str(done.source), 'bold')} → {done.target}"]
    for action in done.actions:
        place = f"line {action.line}: " if action.line else ""
        rows.append(f"  {place}{render.flat(action.what)}")
    if done.dropped_path is not None:
        rows.append(f"  dropped rows: {done.dropped_path}")
    if done.problems:
        rows += [ink(f"  ✗ {render.flat(problem)}", "red") for problem in done.problems]
    else:
        rows.append(
            ink(f"  ✓ read again: {done.messages} messages, all messages of the original", "green")
        )
    mark, hue = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "dim")}[proof.accepted]
    rows.append(ink(f"  {mark} {render.flat(proof.text)}", hue))
    return rows


def _ink() -> Any:
    from dragoman.cli.live.ink import Ink

    return Ink(colour=standard_output().isatty() and not os.environ.get("NO_COLOR"))
