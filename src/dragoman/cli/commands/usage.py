"""``dragoman usage``: tokens and cost by time, project, model, session or harness, with the rule behind each."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast

from dragoman.cli import lazy_click as click
from dragoman.cli.agent_option import agent_option
from dragoman.cli.streams import standard_output

if TYPE_CHECKING:
    from dragoman.archive.ledger.groups import By

_BY = ("day", "week", "month", "block", "project", "model", "session", "harness")
_EVERY_GROUP = "*"


def _width() -> int:
    """The columns of the terminal, like ``shutil.get_terminal_size``, which imports compression."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(standard_output().fileno()).columns or 100
    except (ValueError, OSError):
        return 100  # no terminal


def _day() -> click.ParamType[datetime]:
    from dragoman.cli.moments import Day

    return Day()


@click.command(short_help="Show tokens and cost of all sessions.")
@click.option(
    "--by",
    type=click.Choice(_BY),
    default="day",
    show_default=True,
    help="Group by. A block is five hours, starting with the first use after the block before.",
)
@click.option(
    "--since",
    type=click.later(_day),
    metavar="DAY",
    help="From this day on (2026-11-15, 7d, today).",
)
@click.option(
    "--until", type=click.later(_day), metavar="DAY", help="Up to and including this day."
)
@click.option("--project", metavar="TEXT", help="Only sessions whose directory contains this text.")
@agent_option("Only sessions of this agent: {agents}.")
@click.option("--model", metavar="TEXT", help="Only models whose name contains this text.")
@click.option(
    "--path",
    "paths",
    multiple=True,
    type=click.Path(exists=True),
    help="Read this file or folder instead of the agents' home directories. Repeatable.",
)
@click.option(
    "--explain",
    is_flag=False,
    flag_value=_EVERY_GROUP,
    metavar="[GROUP]",
    help="Show every counted row: its file and line, rule and price.",
)
@click.option("--prices", type=click.Path(), help="File with your own prices (docs/usage.md).")
@click.option("--no-cache", is_flag=True, help="Read every file again, without the cache.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def usage(
    by: str,
    since: datetime | None,
    until: datetime | None,
    project: str | None,
    harness: str | None,
    model: str | None,
    paths: tuple[str, ...],
    explain: str | None,
    prices: str | None,
    no_cache: bool,
    as_json: bool,
) -> int:
    """Show tokens and cost, from the session files on this machine.

    Each model response counts once, even if several files repeat it. A session that reports no usage
    counts as unknown, not as zero. Models without a known price are listed, and not priced.

    \b
    dragoman usage
    dragoman usage --by project --since 7d
    dragoman usage --by model --explain gpt-5.5
    """
    if since is not None and until is not None and since > until:
        raise click.UsageError("--since is after --until")
    if harness is not None and paths:
        raise click.UsageError("use either --harness or --path: files have no agent of their own")

    from dragoman.archive.folders import config_folder, own_prices
    from dragoman.archive.ledger.ledger import Ledger, LedgerFilter, find_files
    from dragoman.archive.ledger.prices import Prices
    from dragoman.archive.places import ArchivePlace
    from dragoman.cli.reports import usage as usage_report
    from dragoman.folders import cache_path

    folder = cache_path(os.environ)
    files = [
        each
        for each in find_files(paths, cache=folder)
        if harness is None or each.harness == harness
    ]
    for problem in ArchivePlace.of(None, paths, folder, os.environ).problems():
        click.echo(f"dragoman: {problem}", err=True)
    own = prices if prices is not None else own_prices(config_folder(os.environ))
    book = Prices(own, memory=os.path.join(folder, "prices.json"))
    cache = None if no_cache else os.path.join(folder, "usage.msgpack")
    ledger = Ledger.read(files, prices=book, cache=cache)
    choice = LedgerFilter(
        since=since,
        until=until + timedelta(days=1) if until is not None else None,
        project=project,
        model=model,
    )
    limits = None if no_cache else os.path.join(folder, "limits.json")
    report = usage_report.Report(ledger, files, cast("By", by), choice, limits)
    out = standard_output()
    width = _width()
    if explain is not None:
        lines = report.explanation(None if explain == _EVERY_GROUP else explain, as_json=as_json)
    elif as_json:
        lines = report.json()
    else:
        lines = report.text(width, color=out.isatty() and "NO_COLOR" not in os.environ)
    for line in lines:
        click.echo(line)
    book.remember()
    return 0
