"""Whether the server applies what was asked: the answers here are those of real releases."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.codex.app_server.client.authority import mismatch
from dragoman.model.intents import OpenSession

_WORKSPACE: dict[str, Any] = {"type": "workspaceWrite", "writableRoots": [], "networkAccess": False}
_GRANULAR = {"granular": {"mcp_elicitations": True, "rules": True, "sandbox_approval": False}}


def asked(**more: Any) -> OpenSession:
    fields: dict[str, Any] = {"cwd": "/w"} | more
    return OpenSession(**fields)


def applied(sandbox: Any = _WORKSPACE, approvals: Any = "never", **more: Any) -> dict[str, Any]:
    return {"thread": {"id": "t1"}, "sandbox": sandbox, "approvalPolicy": approvals} | more


@pytest.mark.parametrize(
    ("intent", "result"),
    [
        (asked(), applied()),
        (asked(sandbox="read-only"), applied({"type": "readOnly"})),
        (asked(sandbox="read-only"), applied({"type": "readOnly", "networkAccess": False})),
        (
            asked(sandbox="read-only", approvals="untrusted"),
            applied({"type": "readOnly", "access": {"type": "fullAccess"}}, "unlessTrusted"),
        ),
        (asked(sandbox="danger-full-access"), applied({"type": "dangerFullAccess"})),
        (asked(sandbox="dangerFullAccess"), applied({"type": "dangerFullAccess"})),
        (asked(approvals="on-request"), applied(approvals="onRequest")),
        (asked(approvals="on-request"), applied(approvals="on-request", approvalsReviewer="user")),
        (asked(), applied(approvalsReviewer="auto_review")),
        (
            asked(approvals="on-request", config={"approvals_reviewer": "auto_review"}),
            applied(approvals="on-request", approvalsReviewer="auto_review"),
        ),
        (
            asked(approvals=_GRANULAR),
            applied(approvals={"granular": _GRANULAR["granular"] | {"skill_approval": False}}),
        ),
        (
            asked(config={"sandbox_workspace_write.network_access": True}),
            applied(_WORKSPACE | {"networkAccess": True}),
        ),
        (
            asked(config={"sandbox_workspace_write": {"writable_roots": ["/opt/"]}}),
            applied(_WORKSPACE | {"writableRoots": ["/opt", "/opt/x", "/w", "/w/y"]}),
        ),
        (asked(ephemeral=True), applied(thread={"id": "t1", "ephemeral": True})),
        (asked(ephemeral=True), applied()),
    ],
)
def test_what_was_asked_is_applied(intent: OpenSession, result: dict[str, Any]) -> None:
    assert mismatch(intent, result) is None


@pytest.mark.parametrize(
    ("intent", "result", "sentence"),
    [
        (
            asked(),
            applied(approvals="on-request"),
            "asked for approvals 'never', the server applies 'on-request'",
        ),
        (
            asked(approvals=_GRANULAR),
            applied(approvals="never"),
            "the server applies 'never'",
        ),
        (
            asked(approvals=_GRANULAR),
            applied(approvals={"granular": {"rules": True}}),
            "the server applies {'granular': {'rules': True}}",
        ),
        (asked(), {"thread": {"id": "t1"}}, "the server applies nothing that it names"),
        (
            asked(approvals="on-request"),
            applied(approvals="on-request", approvalsReviewer="auto_review"),
            "approvals are to be decided by 'user', the server asks 'auto_review'",
        ),
        (
            asked(sandbox="read-only"),
            applied(),
            "asked for the sandbox 'read-only', the server applies 'workspace-write'",
        ),
        (
            asked(),
            applied({"type": "dangerFullAccess"}),
            "asked for the sandbox 'workspace-write', the server applies 'danger-full-access'",
        ),
        (
            asked(),
            applied(_WORKSPACE | {"networkAccess": True}),
            "asked for no network access, the server allows it",
        ),
        (
            asked(sandbox="read-only"),
            applied({"type": "readOnly", "networkAccess": True}),
            "asked for no network access, the server allows it",
        ),
        (
            asked(config={"sandbox_workspace_write": {"network_access": True}}),
            applied(),
            "asked for network access, the server denies it",
        ),
        (
            asked(),
            applied(_WORKSPACE | {"writableRoots": ["/opt", "/workspace", 7]}),
            "the server lets these be written, too: /opt, /workspace",
        ),
        (
            asked(ephemeral=True),
            applied(thread={"id": "t1", "ephemeral": False}),
            "asked for a session without a file, the server keeps one",
        ),
    ],
)
def test_something_else_is_applied(
    intent: OpenSession, result: dict[str, Any], sentence: str
) -> None:
    assert sentence in (mismatch(intent, result) or "")


def test_the_servers_own_directory_for_memories_is_not_held_against_it() -> None:
    result = applied(_WORKSPACE | {"writableRoots": ["/home/d/.codex/memories"]})
    assert mismatch(asked(), result, "/home/d/.codex") is None
    assert mismatch(asked(), result, "/home/e/.codex") is not None
    assert mismatch(asked(), result) is not None
    result["thread"]["path"] = "/home/d/.codex/sessions/2026/01/01/rollout-x.jsonl"
    assert mismatch(asked(), result) is None


def test_every_difference_is_named() -> None:
    problem = mismatch(asked(), applied({"type": "readOnly"}, "on-request"))
    assert problem is not None
    assert problem.count("the server applies") == 2
