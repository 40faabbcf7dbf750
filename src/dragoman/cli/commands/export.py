"""``dragoman export``: writes a session as one file to keep, print or share."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

from dragoman.cli import completing
from dragoman.cli import lazy_click as click
from dragoman.cli.archive_options import home_option, saved_session
from dragoman.cli.streams import standard_output

if TYPE_CHECKING:
    from dragoman.archive.saved import SavedSession
    from dragoman.reading.conversion import Conversion


@click.command(short_help="Write a session to a file: HTML, Markdown, text, JSON.")
@click.argument("session", required=False, shell_complete=completing.sessions_and_files)
@click.option(
    "-o", "--output", metavar="FILE", help="File to write. Its extension selects the format."
)
@click.option(
    "--to",
    "--format",
    "to",
    metavar="FORMAT",
    help="Format, whatever the extension.",
    shell_complete=completing.formats,
)
@click.option(
    "--redact/--no-redact",
    default=None,
    help="Mask keys, tokens, passwords, e-mail addresses and home directories. [default: only for html]",
)
@click.option(
    "--include",
    metavar="WHAT",
    default="",
    help="Also include these, comma-separated: context, raw.",
)
@click.option(
    "--from",
    "dialect",
    metavar="DIALECT",
    help="Dialect to read. Detected by default.",
    shell_complete=completing.dialects,
)
@click.option("--last", is_flag=True, help="Export the newest saved session.")
@click.option("--force", is_flag=True, help="Overwrite the output file if it exists.")
@home_option
def export(
    session: str | None,
    output: str | None,
    to: str | None,
    redact: bool | None,
    include: str,
    dialect: str | None,
    last: bool,
    force: bool,
    paths: tuple[str, ...],
) -> int:
    """Write SESSION as one file. SESSION is the id of a saved session, a session file or a recording.

    The page lists what was masked; standard error counts it. Masking finds text that looks like a
    secret, not text in images. Check the result before you share it.

    \b
    dragoman export 01a1e219 -o session.html
    dragoman export rollout-….jsonl --to markdown --redact | less
    """
    from dragoman.archive.exporting import check_target, format_for, is_file, masked_summary
    from dragoman.model.secrets import secrets_in

    if (session is None) != last:
        raise click.UsageError("which session? Give an ID, a FILE or --last.")
    if output == "-":
        output = None
    if output is None and to is None:
        raise click.UsageError("give -o FILE, or --to FORMAT to write to standard output.")
    if output is not None:
        to = to or format_for(output)
    path = session if session is not None and is_file(session) else None
    source = path or saved_session(session, paths)
    if output is not None:
        read = [source] if isinstance(source, str) else [each.path for each in source.files()]
        for each in read:
            check_target(each, output, force=force)
    conversion = _conversion(
        source,
        dialect,
        to=to,
        include=[part.strip() for part in include.split(",") if part.strip()],
        color=output is None and standard_output().isatty(),
        width=shutil.get_terminal_size().columns if output is None else 100,
        redact=redact,
        secrets=secrets_in(os.environ),
    )
    if output is None:
        conversion.to_stream(standard_output().buffer)
    else:
        conversion.to_file(output)
    if conversion.was_stopped:
        return 130
    if conversion.masked is not None:
        click.echo(f"dragoman: {masked_summary(conversion.masked)}", err=True)
    if problem := conversion.problem(session or ""):
        click.echo(f"dragoman: {problem}", err=True)
        return 1
    return 0


def _conversion(source: str | SavedSession, dialect: str | None, **options: Any) -> Conversion:
    from dragoman.archive.exporting import SavedConversion
    from dragoman.reading.conversion import Conversion, open_source

    if isinstance(source, str):
        return Conversion(open_source(source), dialect=dialect, **options)
    return SavedConversion(source.messages(), **options)
