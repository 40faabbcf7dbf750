"""``dragoman harnesses``: lists the agents, with their release, sign-in state, choices and abilities."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from dragoman.cli import completing
from dragoman.cli import lazy_click as click
from dragoman.cli.streams import standard_output

if TYPE_CHECKING:
    from dragoman.client.surveying import Survey


@click.command(short_help="List agents: what is installed, and what each can do.")
@click.argument("name", required=False, shell_complete=completing.harnesses)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, one per agent.")
def harnesses(name: str | None, as_json: bool) -> int:
    """List the agents that Dragoman can run, or only the agent NAME.

    The values of access and asking are those that the installed release accepts. Use them with
    `dragoman run --harness NAME --access VALUE --ask VALUE`.
    """
    from dragoman.client.surveying import survey, unusable_plugins

    found = asyncio.run(survey(harness=name))
    for plugin in unusable_plugins() if name is None else ():
        click.echo(f"dragoman: plug-in {plugin.name} is unusable: {plugin.problem}", err=True)
    if as_json:
        import msgspec

        for each in found:
            click.echo(msgspec.json.encode(_as_row(each)).decode())
        return 0
    out = standard_output()
    for line in page(found, colour=out.isatty() and not os.environ.get("NO_COLOR")):
        click.echo(line)
    return 0


def page(found: list[Survey], *, colour: bool) -> list[str]:
    """The agents as lines for a terminal of 80 columns or more."""
    from dragoman.cli.live.cells import hung
    from dragoman.cli.live.ink import Ink
    from dragoman.rendering import render

    ink = Ink(colour=colour)
    lines: list[str] = []
    for each in found:
        mark = ink("✓", "green") if each.program is not None else ink("✗", "yellow")
        head = f"{each.title} {each.release}" if each.release else each.title
        lines += [""] * bool(lines)
        lines.append(f"{mark} {ink(head, 'bold')}  --harness {each.name}")
        offered = each.capabilities
        facts = [
            ("program", each.program or each.problem or ""),
            ("account", _account(each)),
            ("transports", ", ".join(each.transports)),
            *(("access", f"{c.value} ({c.level}): {c.summary}") for c in offered.access),
            *(("asking", f"{c.value}: {c.summary}") for c in offered.asking),
            ("effort", ", ".join(offered.efforts)),
            ("models", ", ".join(offered.models)),
            ("can", ", ".join(sorted(offered.can))),
            *(("note", words) for words in offered.notes),
        ]
        before = ""
        for label, words in facts:
            if not words:
                continue
            shown = label if label != before else ""
            rows = hung(f"  {shown:<11}", render.flat(words), 79)
            lines += [ink(rows[0][:13], "dim") + rows[0][13:], *rows[1:]] if rows else []
            before = label
    return lines


def _account(each: Survey) -> str:
    if each.signed_in:
        return "signed in"
    if each.needs_sign_in:
        return f"not signed in: run {each.capabilities.sign_in_command}"
    return "unknown" if each.signed_in is None else "no sign-in needed"


def _as_row(each: Survey) -> dict[str, Any]:
    offered = asdict(each.capabilities)
    offered["can"] = sorted(each.capabilities.can)
    return {
        "name": each.name,
        "title": each.title,
        "installed": each.program is not None,
        "program": each.program,
        "problem": each.problem,
        "release": each.release,
        "signed_in": each.signed_in,
        "needs_sign_in": each.needs_sign_in,
        "transports": each.transports,
        **offered,
    }
