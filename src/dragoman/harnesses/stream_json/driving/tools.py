"""Our own tools, served to the agent as MCP servers inside this process.

It sends the servers' JSON-RPC over the control protocol (``mcp_message``), so nothing is started and no
port is opened. A tool's namespace is its server; tools without one are on a server named ``dragoman``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from dragoman.harnesses.contract.conversation import Refusal, ToolRequest
from dragoman.harnesses.stream_json.driving.channel import ControlChannel
from dragoman.model.intents import AnswerTool, ToolSpec
from dragoman.wire.loose import as_dict, as_str

SERVER: Final = "dragoman"
_PROTOCOL: Final = "2025-06-18"
_METHOD_NOT_FOUND: Final = -32601
_NO_ANSWER: Final = -32000
_CALL_ID: Final = "claudecode/toolUseId"
"""Where the request names the call; an agent that does not is known by its request."""


def server_of(spec: ToolSpec) -> str:
    return spec.namespace or SERVER


def server_config(tools: Iterable[ToolSpec], **more: Any) -> str:
    """What ``--mcp-config`` says about the servers of these tools, with ``more`` settings for each."""
    names = dict.fromkeys(map(server_of, tools))
    servers = {name: {"type": "sdk", "name": name, **more} for name in names}
    return msgspec.json.encode({"mcpServers": servers}).decode()


def allowed_tools(tools: Iterable[ToolSpec]) -> list[str]:
    """The rules that let the model call them without asking: to offer a tool is to allow it."""
    return list(dict.fromkeys(f"mcp__{server_of(spec)}__{spec.name}" for spec in tools))


class _ToolCall(NamedTuple):
    request_id: str
    rpc_id: Any


class ToolServers:
    """The servers of one session."""

    def __init__(self, channel: ControlChannel) -> None:
        self._channel = channel
        self._tools: list[ToolSpec] | None = None
        self._session_id = ""
        self._early: list[tuple[str, str, dict[str, Any]]] = []
        """Requests that need the tools, from before the session was opened."""
        self._calls: dict[str, _ToolCall] = {}
        self._requests: list[ToolRequest] = []

    def open(self, session_id: str, tools: list[ToolSpec]) -> None:
        """From now on these are the tools."""
        self._session_id, self._tools = session_id, tools
        early, self._early = self._early, []
        for request_id, server, message in early:
            self.receive(request_id, server, message)

    def receive(self, request_id: str, server: str, message: dict[str, Any]) -> None:
        """Take a message of the agent's MCP client."""
        method, rpc_id = as_str(message.get("method")) or "", message.get("id")
        params = as_dict(message.get("params"))
        if rpc_id is None:
            # A notification; the control request that carries it is still waited for.
            self._respond(request_id, {"id": 0, "result": {}})
        elif method == "initialize":
            version = as_str(params.get("protocolVersion")) or _PROTOCOL
            result: dict[str, Any] = {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": server, "version": "1"},
            }
            self._respond(request_id, {"id": rpc_id, "result": result})
        elif method == "ping":
            self._respond(request_id, {"id": rpc_id, "result": {}})
        elif method in ("tools/list", "tools/call") and self._tools is None:
            self._early.append((request_id, server, message))
        elif method == "tools/list":
            listed = [_listed(spec) for spec in self._tools or () if server_of(spec) == server]
            self._respond(request_id, {"id": rpc_id, "result": {"tools": listed}})
        elif method == "tools/call":
            self._call(request_id, rpc_id, server, params)
        else:
            error = {"code": _METHOD_NOT_FOUND, "message": f"unknown method {method!r}"}
            self._respond(request_id, {"id": rpc_id, "error": error})

    def _call(self, request_id: str, rpc_id: Any, server: str, params: dict[str, Any]) -> None:
        meta = as_dict(params.get("_meta"))
        call_id = as_str(meta.get(_CALL_ID)) or request_id
        if call_id in self._calls:
            call_id = request_id
        self._calls[call_id] = _ToolCall(request_id, rpc_id)
        self._requests.append(
            ToolRequest(
                session_id=self._session_id,
                call_id=call_id,
                tool=as_str(params.get("name")) or "",
                namespace=None if server == SERVER else server,
                arguments=params.get("arguments", {}),
            )
        )

    def answer(self, intent: AnswerTool) -> Refusal | None:
        """Answer a call; or why that is not possible."""
        call = self._calls.pop(intent.call_id, None)
        if call is None:
            said = f"no call is open under {intent.call_id!r}: it was answered, or its turn is over"
            return Refusal(kind="response_error", message=said)
        content = [{"type": "text", "text": intent.output}] if intent.output else []
        result = {"content": [*content, *map(_image, intent.images)], "isError": not intent.success}
        self._respond(call.request_id, {"id": call.rpc_id, "result": result})
        return None

    def cancel(self, request_id: str) -> None:
        """The agent needs no answer to this request any more."""
        self._calls = {k: call for k, call in self._calls.items() if call.request_id != request_id}
        self._early = [each for each in self._early if each[0] != request_id]

    def give_up(self, why: str) -> None:
        """No one will answer the calls that are open."""
        calls, self._calls = self._calls, {}
        for call in calls.values():
            error = {"code": _NO_ANSWER, "message": why}
            self._respond(call.request_id, {"id": call.rpc_id, "error": error})

    def drop_all(self) -> None:
        self._calls.clear()
        self._early.clear()

    def requests(self) -> list[ToolRequest]:
        """The calls since the last call."""
        requests, self._requests = self._requests, []
        return requests

    def _respond(self, request_id: str, message: Mapping[str, Any]) -> None:
        self._channel.answer(request_id, {"mcp_response": {"jsonrpc": "2.0", **message}})


def _listed(spec: ToolSpec) -> dict[str, Any]:
    schema = spec.input_schema or {"type": "object", "properties": {}}
    return {
        "name": spec.name,
        "description": spec.description,
        "inputSchema": schema,
        "_meta": {"anthropic/alwaysLoad": True},
    }


def _image(address: str) -> dict[str, Any]:
    head, comma, data = address.partition(";base64,")
    if comma and head.startswith("data:"):
        return {"type": "image", "mimeType": head.removeprefix("data:"), "data": data}
    return {"type": "text", "text": address}
