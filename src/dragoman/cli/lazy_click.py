"""What commands use of click, which is imported only when it is needed (:mod:`dragoman.cli.declaring`).

A command module imports it as ``from dragoman.cli import lazy_click as click``, and is otherwise written as for click itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dragoman.cli.declaring import later, on_close

__all__ = ["later", "on_close"]

if TYPE_CHECKING:
    from click import (
        UNPROCESSED,
        Abort,
        Choice,
        ClickException,
        Command,
        Context,
        FloatRange,
        IntRange,
        NoSuchOption,
        Option,
        Parameter,
        ParamType,
        Path,
        UsageError,
        argument,
        command,
        echo,
        echo_via_pager,
        option,
        style,
    )

    __all__ += ["UNPROCESSED", "Abort", "Choice", "ClickException", "Command", "Context"]
    __all__ += [
        "FloatRange",
        "IntRange",
        "NoSuchOption",
        "Option",
        "ParamType",
        "Parameter",
        "Path",
    ]
    __all__ += ["UsageError", "argument", "command", "echo", "echo_via_pager", "option", "style"]
else:
    from dragoman.cli.declaring import argument, choice, command, echo, number_range, option, path

    Choice, Path = choice, path

    def IntRange(*bounds: int, **named: Any) -> Any:
        return number_range("IntRange", int, *bounds, **named)

    def FloatRange(*bounds: float, **named: Any) -> Any:
        return number_range("FloatRange", float, *bounds, **named)

    def __getattr__(name: str) -> Any:
        import click

        return getattr(click, name)
