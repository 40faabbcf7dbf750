"""The server's side of an MCP connection, line by line, without the connection.

It knows the protocol and no tool: what a client calls comes out as a :class:`McpCall`, and the caller
runs it and answers with :meth:`McpConversation.answer`. Every request is answered: what is not known is refused at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from dragoman.wire.jsonrpc import METHOD_NOT_FOUND, Peer, Request
from dragoman.wire.loose import as_dict, as_str

VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The revisions of the protocol that this server speaks, newest first. They agree on all that it uses."""

_INVALID_PARAMS: Final = -32602


class ToolOffer(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as the client sees it."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]


class McpCall(NamedTuple):
    """A call that is open until it is answered."""

    id: int | str
    name: str
    arguments: dict[str, Any]
    meta: dict[str, Any]
    """What the client says about the call itself, such as the session that makes it."""


class ToolAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a call, for the model to read."""

    text: str
    structured: Mapping[str, Any] | None = None
    """The same as data, for clients that use it."""
    is_error: bool = False


class McpConversation:
    """One connection: lines in; tool calls and lines out."""

    def __init__(self, tools: Sequence[ToolOffer], *, version: str, instructions: str) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._about = {"name": "dragoman", "title": "Dragoman", "version": version}
        self._instructions = instructions
        self._peer = Peer(version_field=True)
        self._open: list[McpCall] = []

    def receive_line(self, line: bytes) -> None:
        """Process one line. Never raises."""
        self._peer.receive_line(line)
        for event in self._peer.events():
            # Notifications need no answer: calls are so short that there is nothing to cancel.
            if isinstance(event, Request):
                self._receive(event)

    def requests(self) -> list[McpCall]:
        """Take the calls that came since the last time."""
        taken, self._open = self._open, []
        return taken

    def answer(self, request: McpCall, answer: ToolAnswer) -> None:
        """Answer a call."""
        result: dict[str, Any] = {"content": [{"type": "text", "text": answer.text}]}
        if answer.structured is not None:
            result["structuredContent"] = answer.structured
        if answer.is_error:
            result["isError"] = True
        self._peer.answer(request.id, result)

    def lines_to_send(self) -> list[bytes]:
        """Take the lines for the client."""
        return self._peer.lines_to_send()

    def _receive(self, request: Request) -> None:
        params = as_dict(request.params)
        match request.method:
            case "initialize":
                self._peer.answer(request.id, self._greeting(as_str(params.get("protocolVersion"))))
            case "ping":
                self._peer.answer(request.id, {})
            case "tools/list":
                self._peer.answer(request.id, {"tools": list(map(_listed, self._tools.values()))})
            case "tools/call":
                self._call(request, params)
            case method:
                self._peer.refuse(request.id, METHOD_NOT_FOUND, f"unknown method: {method}")

    def _greeting(self, asked: str | None) -> dict[str, Any]:
        return {
            # A client that speaks none of these ends the connection, as the protocol says.
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": self._about,
            "instructions": self._instructions,
        }

    def _call(self, request: Request, params: dict[str, Any]) -> None:
        name = as_str(params.get("name")) or ""
        if name not in self._tools:
            known = ", ".join(self._tools)
            self._peer.refuse(
                request.id, _INVALID_PARAMS, f"unknown tool: {name!r}; known: {known}"
            )
            return
        arguments, meta = as_dict(params.get("arguments")), as_dict(params.get("_meta"))
        self._open.append(McpCall(request.id, name, arguments, meta))


def _listed(tool: ToolOffer) -> dict[str, Any]:
    hints = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": hints,
    }
