"""``dragoman show``: prints a saved session as a transcript, in the user's pager."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dragoman.cli import completing
from dragoman.cli import lazy_click as click
from dragoman.cli.archive_options import home_option, saved_session
from dragoman.cli.streams import standard_output

if TYPE_CHECKING:
    from dragoman.archive.saved import SavedSession
    from dragoman.model.messages import Message


@click.command(short_help="Read a saved session.")
@click.argument("session_id", metavar="ID", required=False, shell_complete=completing.sessions)
@click.option("--last", is_flag=True, help="Show the newest session.")
@click.option("--project", metavar="DIR", help="With --last: the newest session of this folder.")
@click.option("--turn", type=int, metavar="N", help="Only this turn; -1 is the last.")
@click.option("--tools", is_flag=True, help="Also show tool output, shortened.")
@click.option("--full", is_flag=True, help="Show all messages and outputs in full.")
@click.option("--context", is_flag=True, help="Also show the context that the model received.")
@click.option(
    "--line",
    type=click.IntRange(min=1),
    metavar="N",
    help="Print this line of the file, unchanged.",
)
@click.option("--json", "as_json", is_flag=True, help="Print messages as JSON lines.")
@click.option("--redact", is_flag=True, help="Mask keys, tokens, passwords and e-mail addresses.")
@home_option
def show(
    session_id: str | None,
    last: bool,
    project: str | None,
    turn: int | None,
    tools: bool,
    full: bool,
    context: bool,
    line: int | None,
    as_json: bool,
    redact: bool,
    paths: tuple[str, ...],
) -> int:
    """Show the saved session ID, or the newest one with --last.

    ID may be any unique prefix. Without --tools, the output of a call is shown only if it failed.
    Images, binary data and repeated outputs are replaced by the number of their line; --line prints
    that line.

    \b
    dragoman show 01a1e219 --turn -1 --tools
    dragoman show --last --full | less
    """
    if (session_id is None) != last:
        raise click.UsageError("which session? Give an ID or --last.")
    session = saved_session(session_id, paths, project=project)
    if line is not None:
        click.echo(_redacted_line(session.raw_line(line)) if redact else session.raw_line(line))
        return 0
    messages = session.turn(turn) if turn is not None else session.messages()
    if redact:
        messages = _redacted(messages)
    if as_json:
        _write_json(messages)
        return 0
    out = standard_output()
    is_terminal = out.isatty()
    pieces = _pieces(session, messages, tools=tools, full=full, context=context, colour=is_terminal)
    if is_terminal:
        os.environ.setdefault("LESS", "-FRX")
        click.echo_via_pager(pieces, color=True)
    else:
        for piece in pieces:
            out.write(piece)
        out.flush()
    return 0


def _redacted(messages: Iterable[Message]) -> Iterable[Message]:
    from dragoman.export.redact import Redactor
    from dragoman.model.secrets import secrets_in

    return Redactor(secrets_in(os.environ)).redact(messages)


def _redacted_line(line: bytes) -> bytes:
    from dragoman.export.redact import Redactor
    from dragoman.model.secrets import secrets_in

    return Redactor(secrets_in(os.environ)).source_line(line)


def _write_json(messages: Iterable[Message]) -> None:
    from dragoman.model.messages import encode

    out = standard_output()
    for message in messages:
        out.write(encode(message).decode() + "\n")
    out.flush()


def _pieces(
    session: SavedSession,
    messages: Iterable[Message],
    *,
    tools: bool,
    full: bool,
    context: bool,
    colour: bool,
) -> Iterator[str]:
    """The transcript in pieces, because a long one does not fit in memory."""
    from dragoman.archive.eliding import Elider
    from dragoman.archive.transcripts import transcript

    width = shutil.get_terminal_size().columns
    exporter = transcript(full=full, context=context, colour=colour, width=width)
    elider = Elider()
    for message in messages:
        if not (tools or full) and _is_quiet(message):
            continue
        text = exporter.export([message if full else elider.view(message)])
        if text:
            yield text.decode()
    yield exporter.finish().decode()
    yield from _footer(session)


def _is_quiet(message: Message) -> bool:
    """Whether this is the result of a successful call, which is hidden by default."""
    from dragoman.model.messages import ToolResult

    return isinstance(message, ToolResult) and not message.is_error


def _footer(session: SavedSession) -> Iterator[str]:
    if session.is_missing_its_base:
        yield "\n(This session continues another one, whose file is missing.)\n"
    for child in session.children():
        title = f": {child.title}" if child.title else ""
        what = child.origin or "forked from this session"
        yield f"\n{what} {child.id}{title}\n"
