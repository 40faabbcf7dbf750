from __future__ import annotations

from typing import Any

from dragoman.harnesses.codex.drift.schema import names


def notification(method: str, params: str) -> dict[str, Any]:
    properties = {"method": {"enum": [method]}, "params": {"$ref": f"#/definitions/v2/{params}"}}
    return {"properties": properties}


SCHEMA: dict[str, Any] = {
    "definitions": {
        "ServerNotification": {"oneOf": [notification("thread/started", "Started")]},
        "ServerRequest": {"oneOf": [notification("item/tool/call", "Nowhere")]},
        "ClientRequest": {"oneOf": [notification("model/list", "ListParams")]},
        "v2": {
            "Started": {"properties": {"thread": {"$ref": "#/definitions/v2/Thread"}}},
            "Thread": {
                "properties": {
                    "mode": {"anyOf": [{"$ref": "#/definitions/v2/Mode"}, {"type": "null"}]},
                    "items": {"items": {"$ref": "#/definitions/v2/Item"}},
                    "parent": {"$ref": "#/definitions/v2/Thread"},
                }
            },
            "Mode": {"enum": ["fast", "slow"]},
            "Item": {"oneOf": [{"properties": {"type": {"enum": ["plan"]}, "text": {}}}]},
            "ListParams": {"properties": {"cursor": {}}},
            "Unused": {"properties": {"never": {}}},
        },
    }
}


def test_the_names_are_those_that_can_come_or_be_sent() -> None:
    assert names(SCHEMA) == {
        "notification thread/started",
        "request item/tool/call",
        "call model/list",
        "Started.thread",
        "Thread.mode",
        "Thread.items",
        "Thread.parent",
        "Mode=fast",
        "Mode=slow",
        "Item(plan)",
        "Item(plan).text",
    }


def test_what_is_no_schema_has_no_names() -> None:
    assert names({}) == set()
    assert (
        names({"definitions": {"ServerNotification": {"oneOf": [7, {"properties": []}]}}}) == set()
    )
