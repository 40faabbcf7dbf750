from __future__ import annotations

import functools
from typing import Any

import msgspec
import pytest

from dragoman.drive.tools.schemas import BadTool
from dragoman.drive.tools.toolbox import Image, Tool, Toolbox, as_tool, tell_result, tool
from dragoman.model.intents import ToolSpec


@tool
def lookup_ticket(number: int) -> str:
    """Read a ticket.

    Its title and its state.
    """
    return f"ticket {number}"


@tool(namespace="tracker", name="close", description="Close it.", timeout_seconds=5)
async def close_ticket(number: int) -> None: ...


def plain() -> str:
    return "plain"


def test_a_decorated_function_is_still_the_function() -> None:
    assert lookup_ticket(7) == "ticket 7"
    assert isinstance(lookup_ticket, Tool)
    assert as_tool(lookup_ticket) is lookup_ticket


def test_a_tool_says_what_it_is_for() -> None:
    assert lookup_ticket.spec == ToolSpec(
        name="lookup_ticket",
        description="Read a ticket.\n\nIts title and its state.",
        input_schema={
            "type": "object",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
            "additionalProperties": False,
        },
    )
    assert as_tool(plain).spec.description == "plain"
    assert close_ticket.spec.description == "Close it."
    assert (close_ticket.full_name, close_ticket.timeout_seconds) == ("tracker.close", 5)
    made = tool(name="p_p")(functools.partial(plain))
    assert made.spec.description == "p p"


def test_a_toolbox_finds_tools_by_name_and_namespace() -> None:
    box = Toolbox([lookup_ticket, close_ticket, plain])

    assert box.names() == ["lookup_ticket", "tracker.close", "plain"]
    assert [spec.name for spec in box.specs()] == ["lookup_ticket", "close", "plain"]
    assert box.find("close", "tracker") is close_ticket
    assert box.find("tracker.close") is close_ticket
    assert box.find("close") is None
    assert len(box) == 3


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"name": "a b"}, "a tool's name is 1 to 64 letters, digits, '_' or '-', not 'a b'"),
        ({"name": "a.b"}, "a tool's name is 1 to 64"),
        ({"name": ""}, "a tool's name is 1 to 64"),
        ({"name": "x" * 65}, "a tool's name is 1 to 64"),
        ({"name": "a\n"}, "a tool's name is 1 to 64"),
        ({"name": "mcp__x"}, "'mcp__x' is reserved"),
        ({"name": "a", "namespace": ""}, "a namespace is 1 to 64"),
        ({"name": "a", "namespace": "functions"}, "the namespace 'functions' is reserved"),
        ({"name": "a", "timeout_seconds": 0}, "timeout_seconds must be more than 0, or None"),
    ],
)
def test_names_that_no_server_would_take_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadTool) as caught:
        tool(**options)(plain)
    assert problem in str(caught.value)


def test_a_nameless_tool_and_two_of_one_name_are_refused() -> None:
    with pytest.raises(BadTool, match="it has no name"):
        as_tool(functools.partial(plain))
    with pytest.raises(BadTool, match="plain cannot be a tool: there are two tools of this name"):
        Toolbox([plain, plain])


class _Ticket(msgspec.Struct):
    title: str


_RESULTS: list[tuple[object, tuple[str, list[str]]]] = [
    ("as it is", ("as it is", [])),
    (None, ("", [])),
    (3, ("3", [])),
    ({"a": [1, None]}, ('{"a":[1,null]}', [])),
    ([_Ticket("t"), "x"], ('[{"title":"t"},"x"]', [])),
    (Image("a.png"), ("", ["a.png"])),
    (["see:", Image("a.png"), {"n": 1}], ('see:\n{"n":1}', ["a.png"])),
]


@pytest.mark.parametrize(("value", "told"), _RESULTS)
def test_results_are_told_as_text_and_images(value: object, told: tuple[str, list[str]]) -> None:
    assert tell_result(value) == told
