"""Shell completion of formats, dialects and saved sessions.

Completion runs while the user types, so it must be quick and silent: it never updates the index, and
offers the sessions that the index knew when a command last used it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

_MOST: Final = 50


def formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from dragoman.reading.conversion import all_formats

    return _named([(each.name, each.summary) for each in all_formats()], incomplete)


def dialects(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from dragoman.reading.conversion import all_dialects

    return _named([(each.name, each.summary) for each in all_dialects()], incomplete)


def sessions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Session ids with their titles, newest first."""
    return _named([(each.id, _flat(each.title)) for each in _newest()], incomplete)[:_MOST]


def sessions_and_files(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    # Files come first: at a file item, click's bash script drops the items before it.
    return [CompletionItem(incomplete, type="file"), *sessions(ctx, param, incomplete)]


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def approvals(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The approval modes that the installed release accepts."""
    import asyncio

    from dragoman.client.examining import approval_modes

    modes = asyncio.run(approval_modes(ctx.params.get("command")))
    return _named([(each, "") for each in modes], incomplete)


def _named(known: list[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name, help=text) for name, text in known if name.startswith(incomplete)]


def _newest() -> list[Any]:
    from dragoman.archive.api import SessionArchive
    from dragoman.errors import DragomanError

    try:
        with SessionArchive() as archive:
            return archive.sessions(limit=500)
    except (DragomanError, OSError):
        return []  # a completion cannot show an error


def _flat(title: str | None) -> str:
    return " ".join((title or "").split())[:60]
