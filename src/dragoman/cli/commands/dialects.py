"""``dragoman dialects``: lists dialects, formats, and what each dialect cannot represent."""

from __future__ import annotations

from dragoman.cli import lazy_click as click


@click.command(short_help="List the dialects to read and the formats to write.")
@click.option("--limits", is_flag=True, help="Also list what each dialect cannot represent.")
def dialects(limits: bool) -> int:
    """List the dialects that Dragoman reads and the formats that it writes."""
    from dragoman.reading.conversion import all_dialects, all_formats, all_limits

    click.echo("Dialects (convert --from)\n")
    _table([(dialect.name, dialect.releases, dialect.summary) for dialect in all_dialects()])
    click.echo("\nFormats (convert --to)\n")
    _table([(each.name, each.summary) for each in all_formats()])
    if limits:
        click.echo("\nWhat a dialect cannot represent\n")
        _table([(limit.dialect, limit.releases, limit.what, limit.why) for limit in all_limits()])
    return 0


def _table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        click.echo("  " + "  ".join(cells).rstrip())
