"""``dragoman convert``: any dialect in, any format out, from a file or a pipe."""

from __future__ import annotations

import os
import shutil
from typing import cast

from dragoman.cli import completing
from dragoman.cli import lazy_click as click
from dragoman.cli.streams import standard_output


class _Names(click.ParamType[tuple[str, ...]]):
    """A comma-separated list of names."""

    name = "names"

    def convert(
        self, value: str | tuple[str, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(part.strip() for part in value.split(",") if part.strip())


@click.command(short_help="Convert a session file or a stream to another format.")
@click.argument("file", default="-", shell_complete=completing.files)
@click.option(
    "--from",
    "dialect",
    metavar="DIALECT",
    help="Dialect to read. Detected by default.",
    shell_complete=completing.dialects,
)
@click.option(
    "--to",
    default="messages",
    show_default=True,
    metavar="FORMAT",
    help="Format to write.",
    shell_complete=completing.formats,
)
@click.option(
    "--include",
    type=_Names(),
    default=(),
    metavar="WHAT",
    help="Also include these, comma-separated: context, deltas, raw.",
)
@click.option("--follow", is_flag=True, help="Keep reading as the file grows, until Ctrl-C.")
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output.")
@click.option("--force", is_flag=True, help="Overwrite the output file if it exists.")
@click.option(
    "--audit", is_flag=True, help="Account for every line instead; exit code 1 if one is lost."
)
@click.option(
    "--redact/--no-redact",
    default=None,
    help="Mask keys, tokens, passwords, e-mail addresses and home directories. [default: only for html]",
)
@click.option(
    "--max-line",
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="Keep only the start and end of longer lines.",
)
def convert(
    file: str,
    dialect: str | None,
    to: str,
    include: tuple[str, ...],
    follow: bool,
    output: str | None,
    force: bool,
    audit: bool,
    redact: bool | None,
    max_line: int | None,
) -> int:
    """Convert FILE, or standard input, to another format.

    FILE is a session file, a recording or the output of a run, compressed or not. `dragoman dialects`
    lists the dialects and formats.

    \b
    codex exec --json "fix the test" | dragoman convert --to text
    dragoman convert ~/.codex/sessions/2026/11/15/rollout-….jsonl --to markdown -o session.md
    """
    from dragoman.archive.exporting import masked_summary
    from dragoman.model.secrets import secrets_in
    from dragoman.reading.conversion import Conversion, open_source

    if follow and file == "-":
        raise click.UsageError("--follow needs a file; standard input is always read to its end.")
    if output == "-":
        output = None
    if output is not None and not audit:
        from dragoman.archive.exporting import check_target

        check_target(file, output, force=force)
    source = open_source(file)
    if audit:
        return _audit(source, file, dialect, max_line)
    conversion = Conversion(
        source,
        to=to,
        dialect=dialect,
        include=include,
        max_line=max_line,
        follow=follow,
        color=output is None and standard_output().isatty(),
        width=shutil.get_terminal_size().columns,
        redact=redact,
        secrets=secrets_in(os.environ),
    )
    if output is not None:
        conversion.to_file(output)
    else:
        conversion.to_stream(standard_output().buffer)
    if conversion.was_stopped:
        return 130
    if redact and conversion.masked is not None:
        click.echo(f"dragoman: {masked_summary(conversion.masked)}", err=True)
    if problem := conversion.problem(file):
        click.echo(f"dragoman: {problem}", err=True)
        return 1
    return 0


def _audit(source: object, file: str, dialect: str | None, max_line: int | None) -> int:
    from dragoman.cli.reports.audit import account_text
    from dragoman.reading.audit import audit
    from dragoman.reading.sources import Source

    account = audit(
        cast("Source", source), dialect=dialect, **({"max_line": max_line} if max_line else {})
    )
    click.echo(account_text(account, file))
    return 0 if account.is_whole else 1
