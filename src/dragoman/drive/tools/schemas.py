"""What a function takes, as a JSON schema, and arguments checked against it.

The schema stands by itself: no ``$ref``, since agents pass tools on to servers that know only plain schemas.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, cast

import msgspec

from dragoman.drive.calling import Outcome
from dragoman.errors import UsageError

_ANYTHING: Final[dict[str, Any]] = {"type": "object"}


class BadTool(UsageError):
    """A function that cannot be a tool."""

    def __init__(self, tool: str, problem: str) -> None:
        super().__init__(tool, problem)
        self.tool = tool
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.tool} cannot be a tool: {self.problem}"


@dataclass(frozen=True)
class Parameters:
    """The parameters of one function."""

    schema: dict[str, Any]
    shape: type[msgspec.Struct]
    positional: tuple[str, ...] = ()
    """Those that cannot be given by name."""

    def read(self, arguments: Any) -> tuple[tuple[list[Any], dict[str, Any]], str | None]:
        """Positional and named arguments for the call; or, second, what is wrong with those given."""
        try:
            taken = msgspec.convert(arguments, self.shape, str_keys=True)
        except msgspec.ValidationError as error:
            return ([], {}), str(error)
        # Only what was given: the function's own defaults are the function's affair.
        given = {
            name: getattr(taken, name) for name in self.shape.__struct_fields__ if name in arguments
        }
        first: list[Any] = []
        for place, name in enumerate(self.positional):
            if name in given:
                if len(first) < place:
                    return (
                        [],
                        {},
                    ), f"`{name}` needs `{self.positional[place - 1]}` to be given as well"
                first.append(given.pop(name))
        return (first, given), None


def parameters_of(name: str, function: Callable[..., Any]) -> Parameters:
    """What the function takes. Raises :class:`BadTool`."""
    hints = _hints(name, function)
    fields: list[tuple[str, Any, Any]] = []
    positional: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise BadTool(name, f"*{parameter.name} takes anything; name each parameter")
        if parameter.name not in hints:
            raise BadTool(name, f"its parameter {parameter.name!r} has no type")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(parameter.name)
        fields.append((parameter.name, _described(hints[parameter.name]), _field(parameter)))
    with Outcome() as made:
        shape = msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)
        schema = plain_schema(msgspec.json.schema(shape))
        schema.pop("title", None)
        schema.setdefault("required", [])
        made.value = Parameters(schema, shape, tuple(positional))
    if made.problem is not None:
        raise BadTool(name, f"its parameters have no JSON schema ({made.problem})") from made.error
    return made.value


def _hints(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    inner = function
    while isinstance(inner, functools.partial):
        inner = cast("Any", inner).func
    if not inspect.isroutine(inner):
        inner = type(inner).__call__
    try:
        return typing.get_type_hints(inner, include_extras=True)
    except (NameError, TypeError) as error:
        raise BadTool(name, f"its annotations cannot be read: {error}") from error


def _described(hint: Any) -> Any:
    """``Annotated[str, "what it is"]`` as msgspec has it."""
    if typing.get_origin(hint) is not Annotated:
        return hint
    inner, *notes = typing.get_args(hint)
    told = [msgspec.Meta(description=note) if isinstance(note, str) else note for note in notes]
    for note in told:
        inner = Annotated[inner, note]
    return inner


def _field(parameter: inspect.Parameter) -> Any:
    default = parameter.default
    if default is parameter.empty:
        return msgspec.field()
    if default is None or isinstance(default, bool | int | float | str):
        return msgspec.field(default=default)
    return msgspec.field(default_factory=lambda: default)


def plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with every definition put where it is used; one that contains itself ends as an object."""
    definitions: dict[str, Any] = schema.get("$defs", {})
    return _inlined(
        {key: value for key, value in schema.items() if key != "$defs"}, definitions, ()
    )


def _inlined(value: Any, definitions: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(value, list):
        return [_inlined(each, definitions, inside) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    table = cast("dict[str, Any]", value)
    reference = table.get("$ref")
    if isinstance(reference, str):
        name = reference.rpartition("/")[2]
        rest = {key: each for key, each in table.items() if key != "$ref"}
        if name in inside or name not in definitions:
            return {**_ANYTHING, **rest}
        return {**_inlined(definitions[name], definitions, (*inside, name)), **rest}
    return {key: _inlined(each, definitions, inside) for key, each in table.items()}
