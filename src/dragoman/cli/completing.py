"""Shell completion of formats, dialects and saved sessions.

Completion runs while the user types, so it must be quick and silent: it never updates the index, and
offers the sessions that the index knew when a command last used it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    from dragoman.client.examining import Capabilities

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


def harnesses(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The agents that can be run."""
    from dragoman.client.surveying import driven_names

    return _named([(each.name, each.title) for each in driven_names()], incomplete)


def receivers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The agents that sessions can be handed off to."""
    from dragoman.archive.handoff.handing_off import receivers as known

    return _named([(each.name, each.title) for each in known()], incomplete)


def access(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The levels, and the values that the installed release accepts."""
    offered = _offered(ctx)
    levels = dict.fromkeys(each.level for each in offered.access if each.level)
    known = [(level, "") for level in levels]
    return _named([*known, *((each.value, each.summary) for each in offered.access)], incomplete)


def asking(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The approval modes that the installed release accepts."""
    return _named([(each.value, each.summary) for each in _offered(ctx).asking], incomplete)


def efforts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return _named([(each, "") for each in _offered(ctx).efforts], incomplete)


def models(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return _named([(each, "") for each in _offered(ctx).models], incomplete)


def _offered(ctx: click.Context) -> Capabilities:
    import asyncio

    from dragoman.client.examining import capabilities

    harness, command = ctx.params.get("harness"), ctx.params.get("command")
    return asyncio.run(capabilities(command, harness=harness))


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
