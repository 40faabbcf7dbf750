"""What the commands on saved sessions share: opening the archive, times, and a word while it is indexed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from dragoman.archive.api import Archive
    from dragoman.archive.indexing import Progress, Report

_BAR: Final = 24
_UNITS: Final = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


class When(click.ParamType[float]):
    """A moment: ``7d``, ``12h``, ``today``, ``yesterday`` or ``2026-11-15`` with or without a time."""

    name = "when"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if not isinstance(value, str):
            return value
        from datetime import datetime, timedelta

        now = datetime.now().astimezone()
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        if value in ("today", "yesterday"):
            return (midnight - timedelta(days=value == "yesterday")).timestamp()
        if value[-1:] in _UNITS and value[:-1].replace(".", "", 1).isdigit():
            return now.timestamp() - float(value[:-1]) * _UNITS[value[-1]]
        try:
            return datetime.fromisoformat(value).astimezone().timestamp()
        except ValueError:
            self.fail(
                f"{value!r} is no time; say 7d, 12h, today, yesterday or 2026-11-15", param, ctx
            )


def home_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--path",
        "paths",
        multiple=True,
        metavar="PATH",
        help="Look at these files or folders instead of the agent's own home.",
    )(command)


def open_archive(
    paths: tuple[str, ...], *, wanted: str | None = None, newest: bool = False
) -> Archive:
    """The archive, with its index brought up to date, and a word about it on standard error.

    Where only one session is ``wanted``, or the ``newest``, a large archive is not waited for.
    """
    from dragoman.archive.api import Archive

    archive = Archive(paths=paths)
    bar = _Bar()
    report: Report | None = None
    try:
        is_one = wanted is not None or newest
        report = archive.prepare(wanted, bar.show) if is_one else archive.index(bar.show)
    except KeyboardInterrupt:
        bar.clear()
        _tell("stopped indexing; what is done is kept, and the next command goes on from there")
    finally:
        bar.clear()
    if archive.note:
        _tell(archive.note)
    if report is not None:
        if report.waited_for is not None:
            _tell("another program is indexing; this is what it has done so far")
        for path, why in report.unreadable[:5]:
            _tell(f"cannot read {path}: {why}")
        if len(report.unreadable) > 5:
            _tell(f"cannot read {len(report.unreadable) - 5} more files")
    return archive


def session_path(name: str) -> str:
    """The file of this name; if there is none, that of the saved session whose id begins so."""
    if os.path.exists(name) or os.sep in name:
        return name
    with open_archive((), wanted=name) as archive:
        return archive.get(name).path


def _tell(sentence: str) -> None:
    click.echo(f"dragoman: {sentence}", err=True)


class _Bar:
    """A line on standard error, if that is a terminal and it takes long enough to be read."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._is_shown = False
        self._last = 0.0

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if not sys.stderr.isatty() or now - self._began < 0.4 or now - self._last < 0.1:
            return
        self._last, self._is_shown = now, True
        share = progress.bytes / progress.all_bytes if progress.all_bytes else 1.0
        filled = round(share * _BAR)
        left = (now - self._began) * (1 - share) / share if share > 0.02 else None
        more = f", {left:.0f} s left" if left is not None else ""
        bar = "█" * filled + "░" * (_BAR - filled)
        words = f"indexing {bar} {progress.files:,} of {progress.all_files:,} sessions{more}"
        click.echo(f"\r\x1b[K{words}", err=True, nl=False)

    def clear(self) -> None:
        if self._is_shown:
            click.echo("\r\x1b[K", err=True, nl=False)
            self._is_shown = False
