from __future__ import annotations

from typing import Any

from dragoman.web.api.openapi import complete, name_of
from dragoman.web.api.shapes import EntryPage


class _Handler:
    def __init__(self, name: str) -> None:
        self.handler_name = name


def test_names_are_short_and_say_what_is_done() -> None:
    assert name_of(_Handler("session"), "GET", []) == "get_session"
    assert name_of(_Handler("start_turn"), "POST", []) == "start_turn"


def test_the_frameworks_own_errors_are_replaced_by_ours() -> None:
    theirs: dict[str, Any] = {"content": {"application/json": {"schema": {"type": "object"}}}}
    operation: dict[str, Any] = {"responses": {"200": {}, "400": theirs}, "requestBody": {}}
    made = complete(
        {
            "components": {"schemas": {"EntryPage": {}, "model_messages_Text": {}}},
            "paths": {"/sessions/{id}": {"post": operation}},
        },
        [EntryPage],
    )

    answers = made["paths"]["/sessions/{id}"]["post"]["responses"]
    assert set(answers) >= {"200", "400", "401", "403", "404", "409", "413", "421", "500", "503"}
    assert answers["400"]["content"]["application/json"] == {
        "schema": {"$ref": "#/components/schemas/Refusal"}
    }
    schemas = made["components"]["schemas"]
    assert set(schemas) >= {"Refusal", "Problem"}
    assert schemas["EntryPage"]["description"].startswith("A page")
    assert schemas["model_messages_Text"]["description"]
