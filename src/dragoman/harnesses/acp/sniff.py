"""Recognizing a connection over ACP, and the agent at its end.

JSON-RPC is also what Codex' app-server and MCP servers speak. What only ACP has is the shape of its initialize
messages (a number as ``protocolVersion``, ``clientCapabilities`` or ``agentCapabilities``) and ``session/update``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dragoman.harnesses.acp.quirks import quirks_of
from dragoman.wire import jsonl
from dragoman.wire.directions import unwrap
from dragoman.wire.loose import as_dict, as_int, as_str

_UPDATE: Final = "session/update"


def sniff_acp(lines: Sequence[bytes], harness: str) -> bool:
    """Whether this is a connection with an agent of this harness; ``acp`` has those without one of their own.

    The agent names itself in its answer to ``initialize``. A stream that comes to a session without having named
    its agent is one of any agent.
    """
    for line in lines:
        try:
            value = as_dict(jsonl.loads(unwrap(line).line))
        except (jsonl.NotJson, *jsonl.UNREADABLE):
            continue
        result = as_dict(value.get("result"))
        if as_int(result.get("protocolVersion")) is not None and "agentCapabilities" in result:
            name = as_str(as_dict(result.get("agentInfo")).get("name"))
            return (quirks_of(name).harness or "acp") == harness
        if _is_session(value):
            return harness == "acp"
    return False


def _is_session(value: dict[str, Any]) -> bool:
    if value.get("method") != _UPDATE or "id" in value:
        return False
    update = as_dict(as_dict(value.get("params")).get("update"))
    return isinstance(update.get("sessionUpdate"), str)
