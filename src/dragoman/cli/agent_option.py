"""The option ``--harness``, whose help names the agents that can be run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from dragoman.cli import completing
from dragoman.cli import lazy_click as click

_F = TypeVar("_F", bound=Callable[..., Any])


def _all_agents() -> Sequence[str]:
    from dragoman.client.surveying import driven_names

    return [each.name for each in driven_names()]


def _option_class() -> type[Any]:
    import click

    class _AgentOption(click.Option):
        """Its names are looked up only when help is shown: plug-ins take time to load."""

        def __init__(self, *words: Any, names: Callable[[], Sequence[str]], **options: Any) -> None:
            super().__init__(*words, **options)
            self._names = names

        def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
            record = super().get_help_record(ctx)
            if record is None:
                return None
            return record[0], record[1].replace("{agents}", ", ".join(self._names()))

    return _AgentOption


def agent_option(
    help: str, *, names: Callable[[], Sequence[str]] = _all_agents
) -> Callable[[_F], _F]:
    """``--harness NAME``. In ``help``, ``{agents}`` is replaced by the names of the agents."""
    return click.option(
        "--harness",
        metavar="NAME",
        shell_complete=completing.harnesses,
        help=help,
        cls=click.later(_option_class),
        names=names,
    )
