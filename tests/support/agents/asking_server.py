"""An MCP server whose tool asks the person something first: a form, or an address to visit."""

from __future__ import annotations

import json
import sys
from typing import Any

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "age": {"type": "integer", "minimum": 0, "maximum": 150, "description": "In years."},
        "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
        "sure": {"type": "boolean", "title": "Are you sure?", "default": True},
    },
    "required": ["name", "age"],
}
URL = "https://example.com/sign-in?state=1"


def say(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)  # noqa: T201


def main() -> None:
    called = None
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        given: dict[str, Any] = asked.get("params") or {}
        match asked.get("method"):
            case "initialize":
                server = {"name": "asker", "version": "1"}
                version = given["protocolVersion"]
                told: dict[str, Any] = {"protocolVersion": version, "capabilities": {"tools": {}}}
                say(id=asked["id"], result={**told, "serverInfo": server})
            case "tools/list":
                tool: dict[str, Any] = {
                    "name": "ask",
                    "description": "Asks.",
                    "inputSchema": {"type": "object"},
                }
                # Read only: it is the tool's own question that is wanted, not one about the tool.
                tool["annotations"] = {"readOnlyHint": True}
                say(id=asked["id"], result={"tools": [tool]})
            case "tools/call":
                called = asked["id"]
                wanted = {"mode": "form", "message": "Who are you?", "requestedSchema": FORM}
                if given["arguments"].get("mode") == "url":
                    wanted = {"mode": "url", "message": "Sign in.", "url": URL}
                    wanted["elicitationId"] = "e1"
                say(id="ask-1", method="elicitation/create", params=wanted)
            case None if asked.get("id") == "ask-1":
                said = json.dumps(asked.get("result", asked.get("error")), sort_keys=True)
                say(id=called, result={"content": [{"type": "text", "text": f"answer: {said}"}]})
            case _ if "id" in asked:
                say(id=asked["id"], result={})
            case _:
                continue


if __name__ == "__main__":
    main()
