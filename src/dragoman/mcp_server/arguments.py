"""What each tool takes: one struct a tool, from which its JSON schema is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from dragoman.errors import UsageError

_T = TypeVar("_T", bound="ToolArguments")

Query = Annotated[
    str,
    Meta(
        min_length=1,
        description='Words that must all match. "A phrase" in quotes, pre* for a prefix, -word to exclude, OR.',
    ),
]
SessionId = Annotated[str, Meta(min_length=1, description="The id of a session, or its beginning.")]
OptionalSessionId = Annotated[str, Meta(description="Only this session: its id, or the beginning.")]
Project = Annotated[str, Meta(description="Only sessions of this directory and those below it.")]
Agent = Annotated[
    str,
    Meta(
        description="Only sessions of this agent, by the name that list_sessions gives as harness."
    ),
]
Since = Annotated[str, Meta(description="Not before this time: 2026-11-15, 7d, 12h, today.")]
Until = Annotated[str, Meta(description="Before this time.")]
Limit = Annotated[int, Meta(ge=1, le=100, description="At most this many.")]
Kind = Literal["prompt", "text", "thinking", "tool_call", "tool_output", "notice", "plan"]


class ToolArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool. A filter that does not exist is an error: ignoring it would find too much."""


class SearchArguments(ToolArguments, frozen=True, kw_only=True):
    query: Query
    kinds: Annotated[list[Kind], Meta(description="Only messages of these kinds.")] = []
    tool: Annotated[str, Meta(description="Only calls of this tool: Bash, Edit …")] = ""
    errors_only: Annotated[bool, Meta(description="Only failed calls.")] = False
    session_id: OptionalSessionId = ""
    project: Project = ""
    harness: Agent = ""
    since: Since = ""
    until: Until = ""
    limit: Limit = 10


class ListArguments(ToolArguments, frozen=True, kw_only=True):
    project: Project = ""
    harness: Agent = ""
    since: Since = ""
    until: Until = ""
    limit: Limit = 20


class OverviewArguments(ToolArguments, frozen=True, kw_only=True):
    session_id: SessionId


class ReadArguments(ToolArguments, frozen=True, kw_only=True):
    session_id: SessionId
    around: Annotated[
        int, Meta(ge=0, description="Read this turn, the one before and the one after.")
    ] = 0
    first_turn: Annotated[int, Meta(ge=1, description="Start with this turn.")] = 1
    offset: Annotated[
        int, Meta(ge=0, description="Leave out this many characters: next_offset of the last call.")
    ] = 0
    outputs: Annotated[
        bool, Meta(description="Include what successful commands and tools returned.")
    ] = True
    max_chars: Annotated[
        int, Meta(ge=500, le=200_000, description="Return at most this many characters.")
    ] = 20_000


class UsageArguments(ToolArguments, frozen=True, kw_only=True):
    by: Annotated[
        Literal["day", "week", "month", "project", "model", "session", "harness"],
        Meta(description="What to add up by."),
    ] = "day"
    project: Annotated[str, Meta(description="Only directories that contain this text.")] = ""
    model: Annotated[str, Meta(description="Only models whose names contain this text.")] = ""
    harness: Agent = ""
    since: Since = ""
    until: Until = ""


class ResumeArguments(ToolArguments, frozen=True, kw_only=True):
    session_id: SessionId


def schema_of(arguments: type[ToolArguments]) -> Mapping[str, Any]:
    """Return the JSON schema of a tool's arguments, in one piece."""
    schema = msgspec.json.schema(arguments)
    whole: dict[str, Any] = schema["$defs"][arguments.__name__]
    return {key: value for key, value in whole.items() if key != "title"}


def read_arguments(given: Mapping[str, Any], arguments: type[_T]) -> _T:
    """Return the arguments. Raises :class:`UsageError` with what is wrong with them.

    Numbers and truth values may come as text, which some models write.
    """
    known = arguments.__struct_fields__
    unknown = [name for name in given if name not in known]
    if unknown:
        raise UsageError(f"unknown argument {unknown[0]!r}; known: {', '.join(known)}")
    try:
        return msgspec.convert(dict(given), arguments, strict=False)
    except msgspec.ValidationError as problem:
        raise UsageError(str(problem).replace("$.", "")) from None
