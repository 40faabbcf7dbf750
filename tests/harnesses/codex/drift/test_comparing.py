from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.harnesses.codex.drift.comparing import drift, load_reviewed, reviewed_table


def schema(*methods: str, **definitions: Any) -> bytes:
    told = [
        {"properties": {"method": {"enum": [each]}, "params": {"$ref": "/Params"}}}
        for each in methods
    ]
    params = {"properties": {name: {"$ref": f"/{name}"} for name in definitions}}
    tree = {"ServerNotification": {"oneOf": told}, "Params": params, **definitions}
    return json.dumps({"definitions": tree}).encode()


def test_what_was_reviewed_and_is_decoded_is_no_drift() -> None:
    found = drift(schema("thread/started", "thread/section/changed"))
    assert (found.new, found.unknown, found.permissions) == ([], [], [])
    assert found.reviewed[-1] == "0.169.0"


def test_a_new_notification_would_be_kept_as_unknown() -> None:
    found = drift(schema("thread/started", "thread/teleported"))
    assert found.new == found.unknown == ["notification thread/teleported"]
    assert found.permissions == []


def test_a_new_value_that_is_about_permissions_is_named_as_such() -> None:
    found = drift(
        schema(
            "thread/started",
            CommandExecutionApprovalDecision={"enum": ["accept", "acceptForEver"]},
            SandboxMode={"enum": ["read-only", "moon-only"]},
            CodexErrorInfo={"enum": ["other", "gremlins"]},
            ThreadItem={"oneOf": [{"properties": {"type": {"enum": ["hologram"]}}}]},
        )
    )
    assert found.permissions == [
        "CommandExecutionApprovalDecision=acceptForEver",
        "Params.CommandExecutionApprovalDecision",
        "Params.SandboxMode",
        "SandboxMode=moon-only",
    ]
    assert found.unknown == [
        "CodexErrorInfo=gremlins",
        "CommandExecutionApprovalDecision=acceptForEver",
        "ThreadItem(hologram)",
    ]


def test_everything_that_was_reviewed_is_decoded_but_for_lists_that_clients_of_old_releases_asked_for() -> (
    None
):
    from dragoman.harnesses.codex.drift import comparing

    assert sorted(filter(comparing._is_unread, load_reviewed()[1])) == [
        "EventMsg(get_history_entry_response)",
        "EventMsg(list_custom_prompts_response)",
        "EventMsg(list_remote_skills_response)",
        "EventMsg(list_skills_response)",
        "EventMsg(mcp_list_tools_response)",
        "EventMsg(remote_skill_downloaded)",
    ]


def test_the_table_is_read_as_it_is_written() -> None:
    table = json.loads(reviewed_table({"0.1.0": schema("thread/started", Mode={"enum": ["fast"]})}))
    written = {f"{owner}{name}" for owner, each in table["names"].items() for name in each}
    assert written == {"notification thread/started", "Params.Mode", "Mode=fast"}
    assert table["releases"] == ["0.1.0"]


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"{", b'{"definitions":' * 2 + b"1}}"])
def test_what_is_no_schema_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        drift(data)
