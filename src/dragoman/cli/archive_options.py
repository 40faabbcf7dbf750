"""What the commands on saved sessions share: opening the archive, the newest session, times."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from dragoman.archive.api import Archive
    from dragoman.archive.saved import SavedSession

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


def open_archive(paths: tuple[str, ...], *, wanted: str | None = None) -> Archive:
    """The archive, with its index being brought up to date for as long as the command runs.

    If one session is ``wanted``, that one is there when this returns, if it is anywhere. Whoever
    needs more waits for it (:func:`dragoman.cli.indexing.wait_for`).
    """
    from dragoman.archive.api import Archive

    archive = Archive(paths=paths)
    context = click.get_current_context(silent=True)
    if context is not None:
        context.call_on_close(archive.close)
    if wanted is not None:
        _prepare(archive, wanted)
    is_behind = archive.begin_index() is not None
    for sentence in archive.troubles():
        click.echo(f"dragoman: {sentence}", err=True)
    if wanted is not None and is_behind and not archive.has(wanted):
        from dragoman.cli.indexing import wait_for

        wait_for(archive, lambda: archive.has(wanted, exactly=True))
    return archive


def _prepare(archive: Archive, wanted: str) -> None:
    from dragoman.cli.indexing import Bar

    bar = Bar()
    try:
        archive.prepare(wanted, bar.show)
    finally:
        bar.clear()


def last_session(archive: Archive, project: str | None = None) -> SavedSession:
    """The newest session, as soon as it is known which one that is."""
    if archive.wait_index(0.0) is not None:
        from dragoman.cli.indexing import wait_for

        def is_known() -> bool:
            newest = archive.sessions(project=project, top=True, limit=1)
            return archive.is_final(newest, limit=1)

        wait_for(archive, is_known)
    return archive.last(project=project)


def session_path(name: str) -> str:
    """The file of this name; if there is none, that of the saved session whose id begins so."""
    if os.path.exists(name) or os.sep in name:
        return name
    return open_archive((), wanted=name).get(name).path
