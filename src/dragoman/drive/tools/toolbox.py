"""Typed Python functions as tools that a model may call.

The schema of a tool's input comes from the function's annotations, its description from the docstring,
what a parameter means from ``Annotated[str, "the ticket's number"]``. Arguments are checked before the
function is called. Running the calls is :mod:`dragoman.drive.tools.calls`'s.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, ParamSpec, TypeAlias, TypeVar, cast, overload

import msgspec

from dragoman.drive.tools.schemas import BadTool, Parameters, parameters_of
from dragoman.model.intents import ToolSpec

P = ParamSpec("P")
R = TypeVar("R", covariant=True)

TIMEOUT_SECONDS: Final = 120.0
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_RESERVED_NAMES: Final = (
    "api_tool browser collaboration computer container file_search functions image_gen"
    " multi_tool_use python python_user_visible submodel_delegator terminal tool_search web"
)
_RESERVED: Final = frozenset(_RESERVED_NAMES.split())
"""Namespaces that the Responses API reserves."""


@dataclass(frozen=True, eq=False)
class Tool(Generic[P, R]):
    """A function with what the model knows about it. Called, it is the function."""

    function: Callable[P, Any]
    spec: ToolSpec
    parameters: Parameters
    timeout_seconds: float | None = TIMEOUT_SECONDS

    @property
    def full_name(self) -> str:
        """``namespace.name``, or the name alone."""
        return full_name(self.spec.name, self.spec.namespace)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return cast("R", self.function(*args, **kwargs))

    def read(self, arguments: Any) -> tuple[tuple[list[Any], dict[str, Any]], str | None]:
        """The arguments to call the function with; or, second, what is wrong with those given."""
        return self.parameters.read(arguments)


AnyTool: TypeAlias = Tool[..., object]


class Image(msgspec.Struct, frozen=True):
    """An image in a tool's answer: a path, or an ``http(s):`` or ``data:`` address."""

    address: str


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    namespace: str | None = None,
    description: str | None = None,
    timeout_seconds: float | None = TIMEOUT_SECONDS,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a function a tool, as a decorator with or without options. Raises :class:`BadTool`."""
    if function is None:
        return functools.partial(_make, **options)
    return _make(function)


def as_tool(function: Callable[..., Any] | AnyTool) -> AnyTool:
    """The function as a tool; a tool is returned unchanged."""
    return cast("AnyTool", function) if isinstance(function, Tool) else _make(function)


def _make(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    namespace: str | None = None,
    description: str | None = None,
    timeout_seconds: float | None = TIMEOUT_SECONDS,
) -> AnyTool:
    name = name if name is not None else getattr(function, "__name__", None)
    if name is None:
        raise BadTool(repr(function), "it has no name; give it one: tool(name=…)")
    _check(name, name, "a tool's name")
    if namespace is not None:
        _check(name, namespace, "a namespace")
        if namespace in _RESERVED:
            raise BadTool(name, f"the namespace {namespace!r} is reserved")
    if timeout_seconds is not None and not timeout_seconds > 0:
        raise BadTool(name, "timeout_seconds must be more than 0, or None")
    parameters = parameters_of(name, function)
    if description is None:
        # A partial's own docstring is about partials.
        doc = None if type(function) is functools.partial else inspect.getdoc(function)
        description = doc or name.replace("_", " ")
    spec = ToolSpec(
        name=name,
        description=description,
        input_schema=parameters.schema,
        namespace=namespace,
    )
    return Tool(function, spec, parameters, timeout_seconds)


def _check(tool_name: str, word: str, what: str) -> None:
    if not _NAME.fullmatch(word):
        problem = f"{what} is 1 to 64 letters, digits, '_' or '-', not {word!r}"
        raise BadTool(tool_name, problem)
    if word == "mcp" or word.startswith("mcp__"):
        raise BadTool(tool_name, f"{word!r} is reserved: names that begin with 'mcp__' are MCP's")


def full_name(name: str, namespace: str | None) -> str:
    return f"{namespace}.{name}" if namespace else name


class Toolbox:
    """The tools of a session, by name."""

    def __init__(self, tools: Iterable[Callable[..., Any] | AnyTool] = ()) -> None:
        self._tools: dict[str, AnyTool] = {}
        for each in map(as_tool, tools):
            if each.full_name in self._tools:
                raise BadTool(each.full_name, "there are two tools of this name")
            self._tools[each.full_name] = each

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def find(self, name: str, namespace: str | None = None) -> AnyTool | None:
        """The tool of this name; ``namespace.name`` in one word will do."""
        return self._tools.get(full_name(name, namespace))

    def names(self) -> list[str]:
        return list(self._tools)

    def specs(self) -> list[ToolSpec]:
        """What the model gets."""
        return [each.spec for each in self]


def tell_result(value: Any) -> tuple[str, list[str]]:
    """What a function gave back, as text and images for the model.

    Text is passed on unchanged, None as an empty text, anything else as JSON; a list with images in it piece
    by piece. Raises ``TypeError`` for what is not JSON.
    """
    pieces = cast("list[Any]", value) if isinstance(value, list | tuple) else [value]
    if not any(isinstance(piece, Image) for piece in pieces):
        return _text(value), []
    images = [piece.address for piece in pieces if isinstance(piece, Image)]
    return "\n".join(_text(p) for p in pieces if not isinstance(p, Image)), images


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode("utf-8")
