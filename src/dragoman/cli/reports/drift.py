"""The report of ``dragoman doctor --drift``: what is new in the installed release's schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from msgspec import to_builtins

from dragoman.cli import lazy_click as click

if TYPE_CHECKING:
    from dragoman.client.drift import Drifted

DRIFTED: Final = 3
"""The exit code for: something is new."""
_SHOWN: Final = 60


async def check_drift(command: str | None, *, harness: str | None = None, as_json: bool) -> int:
    from dragoman.client.drift import find_drift

    found = await find_drift(command, harness=harness)
    if as_json:
        click.echo(json.dumps(to_builtins(found), ensure_ascii=False))
    else:
        for line in page(found):
            click.echo(line)
    return DRIFTED if found.drift.new else 0


def page(found: Drifted) -> list[str]:
    """The comparison as lines for a terminal."""
    drift = found.drift
    lines = [
        f"{found.program}, {found.release or 'release unknown'}: {drift.names} names in its schema",
        f"compared with the schemas of {drift.reviewed[0]} to {drift.reviewed[-1]} and with what Dragoman decodes",
    ]
    parts = (
        ("affects permissions", drift.permissions),
        ("kept as unknown", drift.unknown),
        ("new", [name for name in drift.new if name not in drift.permissions]),
    )
    for title, names in parts:
        lines += ["", f"{title}: {len(names) or 'nothing'}"]
        lines += [f"  {name}" for name in names[:_SHOWN]]
        if len(names) > _SHOWN:
            lines.append(f"  … and {len(names) - _SHOWN} more; --json lists all")
    return lines
