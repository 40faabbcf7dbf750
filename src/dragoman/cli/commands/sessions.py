"""``dragoman sessions``: lists saved sessions, newest first."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from dragoman.cli import lazy_click as click
from dragoman.cli.agent_option import agent_option
from dragoman.cli.archive_options import home_option, open_archive, when
from dragoman.cli.streams import standard_output

if TYPE_CHECKING:
    from dragoman.archive.api import SessionArchive
    from dragoman.archive.ledger.costs import Cost
    from dragoman.archive.saved import SavedSession

_SHORT_ID = 13


@click.command(short_help="List saved sessions, newest first.")
@click.option(
    "--project", metavar="DIR", help="Only sessions of this folder, or of a folder with this name."
)
@click.option(
    "--since", type=click.later(when), help="Only sessions active since: 7d, 2026-11-15 …"
)
@click.option("--until", type=click.later(when), help="Only sessions inactive since.")
@agent_option("Only sessions of this agent: {agents}.")
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), help="Show at most this many.  [default: 30]"
)
@click.option(
    "--all", "everything", is_flag=True, help="Show all sessions, including sub-agents and reviews."
)
@click.option(
    "--archived/--not-archived", default=None, help="Only archived sessions, or only others."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
@home_option
def sessions(
    project: str | None,
    since: float | None,
    until: float | None,
    harness: str | None,
    limit: int | None,
    everything: bool,
    archived: bool | None,
    as_json: bool,
    paths: tuple[str, ...],
) -> int:
    """List saved sessions, newest first.

    Pass an id, or a unique prefix of it, to `dragoman show`. The cost comes from the usage ledger: a
    question mark means that the model has no known price, a dash that the session reports no usage. A
    sub-agent's cost is not part of its parent's.

    \b
    dragoman sessions --project . --since 7d
    dragoman sessions --json | jq 'select(.state == "failed") | .session_id'
    """
    archive = open_archive(paths)
    if limit is None and not everything and not as_json:
        limit = 30

    def listed() -> list[SavedSession]:
        return archive.sessions(
            project=project,
            since=since,
            until=until,
            harness=harness,
            archived=archived,
            top=not everything and not as_json,
            limit=limit,
        )

    def write(found: list[SavedSession]) -> None:
        if as_json:
            _write_json(found, _costs(found))
        elif found:
            _write_table(found, _costs(found))
            if len(found) == limit:
                newest = f"Showing the newest {limit}; use -n for more, --all for all."
                click.echo(newest, err=True)
        else:
            where = ", ".join(archive.place.existing_folders)
            asked = any(given is not None for given in (project, since, until, harness, archived))
            click.echo(f"dragoman: no {'matching ' * asked}sessions in {where}", err=True)

    is_terminal = standard_output().isatty()
    if archive.wait_index(0.0) is None:
        write(listed())
        return 0
    from dragoman.cli.indexing import wait_for

    # A terminal shows the list as soon as it is final. A program waits for the whole index, so that its
    # output does not depend on how far the index is.
    is_final = partial(_is_final, archive, listed, limit, since) if is_terminal else None
    is_left_alone = wait_for(archive, is_final)
    found = listed()
    write(found)
    if is_left_alone and wait_for(archive):
        whole = listed()
        if [each.id for each in whole] != [each.id for each in found]:
            write(whole)  # a file held newer messages than its modification time suggested
    return 0


def _is_final(
    archive: SessionArchive,
    listed: Callable[[], list[SavedSession]],
    limit: int | None,
    since: float | None,
) -> bool:
    return archive.is_final(listed(), limit=limit, since=since)


def _costs(found: list[SavedSession]) -> dict[str, Cost]:
    from dragoman.archive.ledger.costs import costs_of

    return costs_of(found)


def _write_json(found: list[SavedSession], costs: Mapping[str, Cost]) -> None:
    import json

    from dragoman.archive.ledger.costs import CURRENCY

    for session in found:
        spent = costs.get(session.id)
        whole = spent.whole if spent is not None else None
        money = {"cost": None, "currency": None}
        if whole is not None:
            money = {"cost": float(whole), "currency": CURRENCY}
        click.echo(json.dumps({**session.as_dict(), **money}, ensure_ascii=False))


def _write_table(found: list[SavedSession], costs: Mapping[str, Cost]) -> None:
    from dragoman.cli.tables import Column, count, table
    from dragoman.reading.ages import since

    ids = _short_ids(found)
    # Sub-agents are listed below the session that started them.
    rows = [
        (
            ids[session.id],
            _when(session.last_at),
            _project(session.project),
            "  " * (depth - 1) + "└ " * (depth > 0) + (_flat(session.title) or "-"),
            (f"open, {since(session.last_at)}" if session.state == "open" else session.state)
            + (" (undone)" if session.undone and session.undone == session.turn_count else ""),
            str(session.turn_count),
            count(session.tokens),
            _money(costs.get(session.id)),
            _flat(session.model) or "-",
        )
        for session, depth in _nested(found)
    ]
    columns = (
        Column("id", most=40),
        Column("last"),
        Column("project", most=18),
        Column("title", gives_way=True),
        Column("state"),
        Column("turns", right=True),
        Column("tokens", right=True),
        Column("cost", right=True),
        Column("model", most=20),
    )
    out = standard_output()
    width = os.get_terminal_size(out.fileno()).columns if out.isatty() else 200
    click.echo("\n".join(table(columns, rows, width)))


def _nested(found: list[SavedSession]) -> list[tuple[SavedSession, int]]:
    """The sessions with sub-agents and reviews after their parents, and the depth of each."""
    below: dict[str | None, list[SavedSession]] = {}
    ids = {each.id for each in found}
    for each in found:
        is_started = each.origin in ("sub-agent", "review") and each.parent_id in ids - {each.id}
        below.setdefault(each.parent_id if is_started else None, []).append(each)
    nested: list[tuple[SavedSession, int]] = []
    left = [(each, 0) for each in reversed(below.pop(None, []))]
    while left or below:
        if not left:  # a cycle: sessions that name each other as parent
            left = [(each, 0) for each in below.pop(next(iter(below)))]
        each, depth = left.pop()
        nested.append((each, depth))
        left += [(child, depth + 1) for child in reversed(below.pop(each.id, []))]
    return nested


def _money(cost: Cost | None) -> str:
    """The cost: a dash without usage, a question mark without a known price."""
    from dragoman.cli.tables import money

    if cost is None:
        return "-"
    if cost.amount is None:
        return "?"
    return money(cost.amount) + ("+?" if cost.unpriced_tokens else "")


def _short_ids(found: list[SavedSession]) -> dict[str, str]:
    """The shortest unique prefixes of the ids, of a readable length."""
    length = _SHORT_ID
    ids = [session.id for session in found]
    while length < 36 and len({each[:length] for each in ids}) < len(set(ids)):
        length += 1
    return {each: _flat(each[:length]) for each in ids}


def _when(at: float) -> str:
    then, now = time.localtime(at), time.localtime()
    if then[:3] == now[:3]:
        return time.strftime("%H:%M", then)
    return time.strftime("%m-%d %H:%M" if then.tm_year == now.tm_year else "%Y-%m-%d", then)


def _project(cwd: str | None) -> str:
    name = (cwd or "").replace("\\", "/").rstrip("/").rpartition("/")[2]
    return _flat(name or cwd) or "-"


def _flat(text: str | None) -> str:
    """A name on one line, without control characters."""
    if not text or text.isprintable():
        return text or ""
    return "".join(c if c.isprintable() else " " for c in text)
