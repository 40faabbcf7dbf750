"""Options and helpers shared by the commands that read saved sessions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dragoman.cli import lazy_click as click
from dragoman.errors import UsageError

if TYPE_CHECKING:
    from dragoman.archive.api import SessionArchive
    from dragoman.archive.saved import SavedSession


def when() -> click.ParamType[float]:
    """The type of a point in time."""
    from dragoman.cli.moments import When

    return When()


def home_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--path",
        "paths",
        multiple=True,
        type=click.Path(exists=True),
        help="Read these files or folders instead of the agents' home directories. Repeatable.",
    )(command)


def open_archive(paths: tuple[str, ...], *, wanted: str | None = None) -> SessionArchive:
    """Open the archive and start updating its index, which continues while the command runs.

    If one session is ``wanted``, it is indexed before this returns, if it exists. A command that needs
    more of the index waits for it (:func:`dragoman.cli.indexing.wait_for`).
    """
    from dragoman.archive.api import SessionArchive

    archive = SessionArchive(paths=paths)
    click.on_close(archive.close)
    if wanted is not None:
        _prepare(archive, wanted)
    is_behind = archive.begin_index() is not None
    for sentence in archive.troubles():
        click.echo(f"dragoman: {sentence}", err=True)
    if wanted is not None and is_behind and not archive.has(wanted):
        from dragoman.cli.indexing import wait_for

        wait_for(archive, lambda: archive.has(wanted, exactly=True))
    return archive


def _prepare(archive: SessionArchive, wanted: str) -> None:
    from dragoman.cli.indexing import Bar

    bar = Bar()
    try:
        archive.prepare(wanted, bar.show)
    finally:
        bar.clear()


def last_session(archive: SessionArchive, project: str | None = None) -> SavedSession:
    """The newest session. Waits only until the index knows which session that is."""
    if archive.wait_index(0.0) is not None:
        from dragoman.cli.indexing import wait_for

        def is_known() -> bool:
            newest = archive.sessions(project=project, top=True, limit=1)
            return archive.is_final(newest, limit=1)

        wait_for(archive, is_known)
    return archive.last(project=project)


def saved_session(
    session: str | None, paths: tuple[str, ...] = (), *, project: str | None = None
) -> SavedSession:
    """The saved session with this id, id prefix or name; the newest one for None."""
    return _find(open_archive(paths, wanted=session), session, project)


def _find(archive: SessionArchive, session: str | None, project: str | None = None) -> SavedSession:
    return last_session(archive, project) if session is None else archive.get(session)


def session_path(name: str | None) -> str:
    """The path of a file, or of the saved session with this name; of the newest session for None."""
    if name is not None and (os.path.exists(name) or os.sep in name):
        return name
    with open_archive((), wanted=name) as archive:
        return _find(archive, name).path


def session_to_resume(name: str | None, last: bool, directory: str) -> str | None:
    """The full id of the session that ``--resume`` or ``--last`` selects; None if neither was given."""
    found = find_to_resume(name, last, directory)
    return found.id if found is not None else None


def find_to_resume(name: str | None, last: bool, directory: str) -> SavedSession | None:
    """The session that ``--resume`` or ``--last`` selects; None if neither was given.

    ``--last`` means the newest session of exactly this directory. The newest of all may belong to another
    project, and a session of a subdirectory was granted access to less.
    """
    if last and name:
        raise click.UsageError("use either --resume or --last: each selects a session")
    if name == "" and not last:
        raise click.UsageError("--resume needs the ID or name of a session (or use --last)")
    if not last and name is None:
        return None
    # Closed before the session is resumed: a command that runs for hours must not hold the index open.
    with open_archive((), wanted=None if last else name) as archive:
        if not last:
            return _find(archive, name)
        newest = last_session(archive)
        here = os.path.realpath(directory)
        for each in (newest, *_sessions_below(archive, directory)):
            if each.project is not None and os.path.realpath(each.project) == here:
                return each
        raise UsageError(
            f"no session to resume in {directory}; the newest one elsewhere is "
            f"{newest.id} in {newest.project} (--resume {newest.id})"
        )


def _sessions_below(archive: SessionArchive, directory: str) -> Iterator[SavedSession]:
    """The sessions of a directory and its subdirectories, newest first, once the index is complete."""
    if archive.wait_index(0.0) is not None:
        from dragoman.cli.indexing import wait_for

        wait_for(archive)
    yield from archive.sessions(project=directory, top=True)
