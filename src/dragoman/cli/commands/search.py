"""``dragoman search``: full-text search in all saved sessions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from dragoman.cli import lazy_click as click
from dragoman.cli.agent_option import agent_option
from dragoman.cli.archive_options import home_option, open_archive, when
from dragoman.cli.streams import standard_output

if TYPE_CHECKING:
    from dragoman.archive.api import SessionArchive
    from dragoman.archive.search.searching import SearchHit


@click.command(short_help="Search all saved sessions.")
@click.argument("query")
@click.option(
    "--in",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="Only this kind: prompt, text, thinking, tool_call, tool_output, notice … Repeatable.",
)
@click.option("--project", metavar="DIR", help="Only sessions of this folder.")
@click.option(
    "--since", type=click.later(when), help="Only messages since this time: 7d, 2026-11-15 …"
)
@click.option("--until", type=click.later(when), help="Only messages before this time.")
@click.option("--tool", metavar="NAME", help="Only calls and outputs of this tool: Bash, Edit …")
@click.option("--errors", is_flag=True, help="Only errors.")
@click.option("--session", "session_id", metavar="ID", help="Only this session.")
@agent_option("Only sessions of this agent: {agents}.")
@click.option(
    "-C", "--around", type=click.IntRange(0, 20), default=0, help="Also show this many neighbours."
)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Show at most this many.",
)
@click.option("--scan", is_flag=True, help="Read every file for exactly this text.")
@click.option("-i", "--ignore-case", is_flag=True, help="With --scan: ignore upper and lower case.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
@home_option
def search(
    query: str,
    kinds: tuple[str, ...],
    project: str | None,
    since: float | None,
    until: float | None,
    tool: str | None,
    errors: bool,
    session_id: str | None,
    harness: str | None,
    around: int,
    limit: int,
    scan: bool,
    ignore_case: bool,
    as_json: bool,
    paths: tuple[str, ...],
) -> int:
    """Search all saved sessions, best match first.

    Several words must all match; put a "phrase" in quotes; pre* matches a prefix; -word excludes; OR
    matches either side. The index holds the start and end of long outputs; --scan reads everything and
    finds any text. Exit code 1: nothing found.

    \b
    dragoman search "rate limit" --in tool_output --since 7d
    dragoman search '"connection reset" -proxy' --errors
    dragoman search --scan 'x[i] += dx' --tool Bash
    """
    archive = open_archive(paths, wanted=session_id)
    is_whole = True
    if session_id is None and archive.wait_index(0.0) is not None:
        from dragoman.cli.indexing import wait_for

        is_whole = wait_for(archive)
    from dragoman.archive.search.searching import (
        Filters,  # imported before the clock starts, because that takes time
    )

    filters = Filters(
        kinds=kinds,
        project=project,
        since=since,
        until=until,
        tool=tool,
        errors=errors,
        session_id=archive.get(session_id).id if session_id is not None else None,
        harness=harness,
    )
    began = time.perf_counter()
    if scan:
        found = archive.scan(query, filters, limit=limit, ignore_case=ignore_case)
    else:
        found = archive.search(query, filters, limit=limit)
    took = time.perf_counter() - began
    if as_json:
        for hit in found.hits:
            _write_json(hit)
        if not is_whole:
            click.echo("dragoman: the search covered only part of the sessions", err=True)
        return 0 if found.hits else 1
    _write(archive, found.hits, around)
    how = "by reading every file" if found.is_scan else "in the index"
    order = "" if found.is_ranked or not found.hits else ", newest first"
    if not found.hits and not scan:
        order = "; --scan also reads long outputs in full"
    number = f"{len(found.hits)}{'+' * (len(found.hits) == limit)}"
    part = "" if is_whole else "; the search covered only part of the sessions"
    click.echo(f"{number} found {how} in {took * 1000:.0f} ms{order}{part}", err=True)
    return 0 if found.hits else 1


def _write(archive: SessionArchive, hits: list[SearchHit], around: int) -> None:
    is_terminal = standard_output().isatty()
    for number, hit in enumerate(hits):
        match = hit.match
        head = [match.session_id[:13], f"turn {match.turn}", match.tool or "", _kind(match.kind)]
        if match.is_error:
            head.append("failed")
        if match.at is not None:
            head.append(time.strftime("%Y-%m-%d %H:%M", time.localtime(match.at)))
        if match.cwd:
            head.append(match.cwd)
        line = _safe(" · ".join(filter(None, head)))
        click.echo(
            ("\n" if number else "") + (click.style(line, bold=True) if is_terminal else line)
        )
        if not around:
            click.echo(f"  {_words(hit, is_terminal)}")
            continue
        for near in archive.around(match, around):
            is_it = near.match.entry_id == match.entry_id
            words = _words(hit if is_it else near, is_terminal)
            click.echo(f"{'>' if is_it else ' '} {_kind(near.match.kind)}: {words}")


def _kind(kind: str) -> str:
    return "tool_output" if kind == "tool_result" else kind


def _words(hit: SearchHit, is_terminal: bool) -> str:
    if hit.snippet is None:
        return "(file missing)"
    text, at, parts = hit.snippet.text, 0, list[str]()
    for begin, end in hit.snippet.spans:
        if begin < at:
            continue
        found = _safe(text[begin:end])
        parts += [_safe(text[at:begin]), click.style(found, fg="yellow") if is_terminal else found]
        at = end
    return "".join([*parts, _safe(text[at:])])


def _safe(text: str) -> str:
    from dragoman.rendering.harmless import flat

    return flat(text)


def _write_json(hit: SearchHit) -> None:
    import json

    match = hit.match
    told: dict[str, Any] = {
        "session_id": match.session_id,
        "turn": match.turn,
        "kind": _kind(match.kind),
        "tool": match.tool,
        "at": match.at,
        "is_error": match.is_error,
        "project": match.cwd,
        "title": match.title,
        "path": match.path,
        "line": match.line,
        "score": round(match.score, 4),
        "snippet": hit.snippet.text if hit.snippet else None,
    }
    click.echo(json.dumps(told, ensure_ascii=False))
