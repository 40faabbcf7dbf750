"""A small MCP server over standard input and output: one tool that finds a ticket, and one that fails."""

from __future__ import annotations

import json
import sys
from typing import Any

_TOOLS = [
    {
        "name": "find",
        "description": "Find a ticket.",
        "inputSchema": {"type": "object", "properties": {"number": {"type": "string"}}},
    }
]


def _answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            about = {"name": "tickets", "version": "1"}
            asked = params.get("protocolVersion", "2025-06-18")
            return {"protocolVersion": asked, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            return {"tools": _TOOLS}
        case "tools/call":
            number = params.get("arguments", {}).get("number", "")
            return {"content": [{"type": "text", "text": f"{number}: the broken door"}]}
        case "ping":
            return {}
        case _:
            return None


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        result = _answer(asked.get("method", ""), asked.get("params") or {})
        body = {"error": {"code": -32601, "message": "no such method"}} if result is None else {}
        answer = {"jsonrpc": "2.0", "id": asked["id"], **(body or {"result": result})}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
