"""Each intent in the words of each release."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.errors import Unsupported
from dragoman.harnesses.codex.app_server.client.calls import call_for, open_session, start_turn
from dragoman.harnesses.codex.app_server.client.sandboxes import (
    confirmed_policy,
    default_policy,
    kebab,
    merge_policy,
)
from dragoman.harnesses.codex.versions import Version
from dragoman.model import intents
from dragoman.model.answers import AccountLimits, AgentSession, AgentSessions, AgentTurn, Model
from dragoman.model.messages import RateWindow

_OLD, _MIDDLE, _NEW = (0, 66, 0), (0, 125, 0), (0, 166, 0)
_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


def opening(release: Version | None, **more: Any) -> tuple[str, dict[str, Any]]:
    fields: dict[str, Any] = {"cwd": "/w"} | more
    call = open_session(intents.OpenSession(**fields), release)
    return call.method, call.params or {}


def tool(name: str, namespace: str | None = None) -> intents.ToolSpec:
    return intents.ToolSpec(name=name, description="d", input_schema=_SCHEMA, namespace=namespace)


def test_a_session_is_asked_for_with_nothing_that_was_not_asked() -> None:
    assert opening(_NEW) == (
        "thread/start",
        {"cwd": "/w", "approvalPolicy": "never", "sandbox": "workspace-write"},
    )


def test_everything_that_a_session_may_be_asked_for() -> None:
    _, params = opening(
        None,
        model="m",
        instructions="be brief",
        personality="friendly",
        ephemeral=True,
        config={"a": 1},
        tools=[tool("t")],
    )
    assert params == {
        "cwd": "/w",
        "model": "m",
        "approvalPolicy": "never",
        "sandbox": "workspace-write",
        "config": {"a": 1},
        "developerInstructions": "be brief",
        "personality": "friendly",
        "ephemeral": True,
        "dynamicTools": [
            {"type": "function", "name": "t", "description": "d", "inputSchema": _SCHEMA}
        ],
    }


_TURN: dict[str, Any] = {"id": "u1", "status": "failed", "items": [1, 2]}
_THREAD: dict[str, Any] = {"id": "t1", "turns": [_TURN, 7]}
_MODEL = {
    "id": "x",
    "model": "m",
    "displayName": "M",
    "supportedReasoningEfforts": [{"reasoningEffort": "low"}, "high", 3],
    "defaultReasoningEffort": "low",
    "isDefault": True,
}
_LIMITS = {"rateLimits": {"primary": {"usedPercent": 12}, "planType": "plus"}}


@pytest.mark.parametrize(
    ("asked", "old", "new"),
    [
        ("untrusted", "unlessTrusted", "untrusted"),
        ("on-request", "onRequest", "on-request"),
        ("onRequest", "onRequest", "on-request"),
        ("unlessTrusted", "unlessTrusted", "untrusted"),
        ("never", "never", "never"),
    ],
)
def test_approvals_are_spelled_as_the_release_spells_them(asked: str, old: str, new: str) -> None:
    assert opening(_OLD, approvals=asked)[1]["approvalPolicy"] == old
    assert opening((0, 72, 0), approvals=asked)[1]["approvalPolicy"] == new


@pytest.mark.parametrize(
    ("asked", "old"),
    [
        ("read-only", "readOnly"),
        ("workspace-write", "workspaceWrite"),
        ("danger-full-access", "dangerFullAccess"),
    ],
)
def test_sandboxes_are_spelled_as_the_release_spells_them(asked: str, old: str) -> None:
    assert opening(_OLD, sandbox=asked)[1]["sandbox"] == old
    assert opening(_NEW, sandbox=old)[1]["sandbox"] == asked


def test_approvals_after_a_failure_ended_with_0_142() -> None:
    assert opening((0, 142, 0), approvals="on-failure")[1]["approvalPolicy"] == "on-failure"
    assert opening(_OLD, approvals="on-failure")[1]["approvalPolicy"] == "onFailure"
    with pytest.raises(Unsupported, match=r"Codex 0\.66\.0 to 0\.142\.0, this is Codex 0\.166\.0"):
        opening(_NEW, approvals="on-failure")


def test_granular_approvals_began_with_0_117() -> None:
    granular = {"granular": {"rules": True}}
    assert opening(_NEW, approvals=granular)[1]["approvalPolicy"] == granular
    with pytest.raises(Unsupported, match="granular"):
        opening((0, 113, 0), approvals=granular)
    rejecting = {"reject": {"rules": True}}
    assert opening((0, 113, 0), approvals=rejecting)[1]["approvalPolicy"] == rejecting


def test_a_resumed_session_is_asked_for_the_same_authority() -> None:
    method, params = opening(_NEW, resume="t1", sandbox="read-only", tools=[tool("t")])
    assert method == "thread/resume"
    assert params == {
        "threadId": "t1",
        "cwd": "/w",
        "approvalPolicy": "never",
        "sandbox": "read-only",
        "excludeTurns": True,
    }
    assert "excludeTurns" not in opening((0, 104, 0), resume="t1")[1]


def test_a_branch() -> None:
    method, params = opening(_NEW, fork="t1", personality="friendly", ephemeral=True)
    assert (method, params["threadId"], params["ephemeral"]) == ("thread/fork", "t1", True)
    assert "personality" not in params
    assert "ephemeral" not in opening((0, 104, 0), fork="t1")[1]


def test_namespaces_are_a_field_and_later_a_list() -> None:
    tools = [tool("a"), tool("b", "n"), tool("c", "n")]
    _, params = opening(_MIDDLE, tools=tools)
    assert [(t["name"], t.get("namespace")) for t in params["dynamicTools"]] == [
        ("a", None),
        ("b", "n"),
        ("c", "n"),
    ]
    assert "type" not in params["dynamicTools"][0]
    _, params = opening(_NEW, tools=tools)
    alone, space = params["dynamicTools"]
    assert (alone["type"], alone["name"]) == ("function", "a")
    assert (space["type"], space["name"]) == ("namespace", "n")
    assert [t["name"] for t in space["tools"]] == ["b", "c"]


@pytest.mark.parametrize(
    ("release", "more"),
    [
        ((0, 77, 0), {"fork": "t1"}),
        ((0, 104, 0), {"fork": "t1", "ephemeral": True}),
        ((0, 89, 0), {"ephemeral": True}),
        ((0, 90, 0), {"personality": "friendly"}),
        ((0, 96, 0), {"tools": [tool("t")]}),
        ((0, 120, 0), {"tools": [tool("t", "n")]}),
    ],
)
def test_what_a_release_would_pass_over_is_refused(release: Version, more: dict[str, Any]) -> None:
    with pytest.raises(Unsupported):
        opening(release, **more)


# Turns.


def starting(release: Version | None = _NEW, **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"session_id": "t1", "text": "go"} | more
    intent = intents.StartTurn(**fields)
    call = start_turn(intent, release, default_policy("read-only", "/w"), "/w")
    assert call.method == "turn/start"
    assert call.value({"turn": {"id": "u1"}}) == "u1"
    return call.params or {}


def test_a_turn_is_asked_for_with_nothing_that_was_not_asked() -> None:
    assert starting() == {"threadId": "t1", "input": [{"type": "text", "text": "go"}]}


def test_everything_that_a_turn_may_be_asked_for() -> None:
    params = starting(
        images=["/p.png", "https://x/p.png", "data:image/png;base64,AA"],
        model="m",
        effort="high",
        cwd="/v",
        sandbox_policy={"type": "workspaceWrite", "networkAccess": True},
        output_schema=_SCHEMA,
    )
    assert params == {
        "threadId": "t1",
        "input": [
            {"type": "text", "text": "go"},
            {"type": "localImage", "path": "/p.png"},
            {"type": "image", "url": "https://x/p.png"},
            {"type": "image", "url": "data:image/png;base64,AA"},
        ],
        "model": "m",
        "effort": "high",
        "cwd": "/v",
        "sandboxPolicy": {
            "type": "workspaceWrite",
            "writableRoots": ["/v"],
            "networkAccess": True,
        },
        "outputSchema": _SCHEMA,
    }


def test_an_answer_cannot_have_a_schema_before_0_87() -> None:
    with pytest.raises(Unsupported, match="schema"):
        starting((0, 77, 0), output_schema=_SCHEMA)


def test_a_sandbox_is_laid_over_the_one_that_was_confirmed() -> None:
    confirmed = confirmed_policy({"sandbox": {"type": "workspaceWrite", "writableRoots": []}}, "/w")
    assert confirmed == {"type": "workspaceWrite", "writableRoots": ["/w"], "networkAccess": False}
    assert merge_policy(confirmed, {}, "/w") == confirmed
    wider = merge_policy(confirmed, {"type": "workspace-write", "networkAccess": True}, "/w")
    assert wider == confirmed | {"networkAccess": True}
    assert merge_policy(confirmed, {"type": "readOnly"}, "/w") == {"type": "readOnly"}
    assert merge_policy(confirmed, {"type": "newKind"}, "/w") == {"type": "newKind"}
    roots = {"sandbox": {"type": "workspaceWrite", "writableRoots": ["/opt"]}}
    assert confirmed_policy(roots, "/w")["writableRoots"] == ["/opt"]
    assert confirmed_policy({}, None) == {"type": "readOnly"}
    assert default_policy("workspaceWrite", None)["writableRoots"] == []
    assert confirmed_policy({"sandbox": {"type": "workspaceWrite"}}, None)["writableRoots"] == []


def test_words_are_compared_in_one_spelling() -> None:
    assert [kebab(word) for word in ("dangerFullAccess", "on-request", "unlessTrusted")] == [
        "danger-full-access",
        "on-request",
        "untrusted",
    ]


def test_a_word_to_a_running_turn_names_it_if_the_release_can() -> None:
    steer = intents.Steer(session_id="t1", turn_id="u1", text="go")
    call = call_for(steer, _NEW)
    said = [{"type": "text", "text": "go"}]
    assert (call.method, call.params) == (
        "turn/steer",
        {"threadId": "t1", "expectedTurnId": "u1", "input": said},
    )
    assert call.value({"turnId": "u1"}) == "u1"
    call = call_for(steer, (0, 98, 0))
    assert (call.method, call.params) == ("turn/start", {"threadId": "t1", "input": said})
    assert call.value({"turn": {"id": "phantom"}}) == "u1"


_T = {"threadId": "t1"}
_TURNS = {"thread": {"turns": [{"id": "u1", "status": "failed"}, {"id": "u2", "status": "x"}]}}


@pytest.mark.parametrize(
    ("intent", "method", "params", "result", "value"),
    [
        (
            intents.Interrupt(session_id="t1", turn_id="u1"),
            "turn/interrupt",
            _T | {"turnId": "u1"},
            {},
            None,
        ),
        (intents.Compact(session_id="t1"), "thread/compact/start", _T, {}, None),
        (
            intents.Review(session_id="t1"),
            "review/start",
            _T | {"target": {"type": "uncommittedChanges"}},
            {"turn": {"id": "u1"}},
            "u1",
        ),
        (
            intents.Rename(session_id="t1", name="n"),
            "thread/name/set",
            _T | {"name": "n"},
            {},
            None,
        ),
        (intents.Archive(session_id="t1"), "thread/archive", _T, {}, None),
        (intents.Archive(session_id="t1", archived=False), "thread/unarchive", _T, {}, None),
        (intents.StopCommands(session_id="t1"), "thread/backgroundTerminals/clean", _T, {}, None),
        (intents.CloseSession(session_id="t1"), "thread/unsubscribe", _T, {}, None),
        (
            intents.CheckTurn(session_id="t1", turn_id="u1"),
            "thread/read",
            _T | {"includeTurns": True},
            _TURNS,
            "failed",
        ),
        (
            intents.CheckTurn(session_id="t1"),
            "thread/read",
            _T | {"includeTurns": True},
            _TURNS,
            None,
        ),
        (
            intents.CheckTurn(session_id="t1", turn_id="other"),
            "thread/read",
            _T | {"includeTurns": True},
            _TURNS,
            None,
        ),
        (
            intents.ListSessions(),
            "thread/list",
            {"limit": 50},
            {"data": [{"id": "t1", "preview": "Hi", "updatedAt": 5}], "nextCursor": "c"},
            AgentSessions(
                sessions=[
                    AgentSession(
                        id="t1",
                        preview="Hi",
                        updated_at=5.0,
                        native={"id": "t1", "preview": "Hi", "updatedAt": 5},
                    )
                ],
                cursor="c",
            ),
        ),
        (
            intents.ListSessions(limit=1, cursor="c", archived=True),
            "thread/list",
            {"limit": 1, "cursor": "c", "archived": True},
            {},
            AgentSessions(sessions=[]),
        ),
        (
            intents.ReadSession(session_id="t1", turns=False),
            "thread/read",
            _T | {"includeTurns": False},
            {"thread": _THREAD},
            AgentSession(
                id="t1",
                turns=[
                    AgentTurn(id="u1", outcome="failed", items=2, native=_TURN),
                    AgentTurn(native={}),
                ],
                native=_THREAD,
            ),
        ),
        (
            intents.ListModels(),
            "model/list",
            {"limit": 100},
            {"data": [1, _MODEL, {"model": "old", "hidden": True}, {"id": "plain"}]},
            [
                Model(
                    id="m",
                    label="M",
                    efforts=["low", "high"],
                    default_effort="low",
                    is_default=True,
                    native=_MODEL,
                ),
                Model(id="plain", label="plain", native={"id": "plain"}),
            ],
        ),
        (
            intents.ReadRateLimits(),
            "account/rateLimits/read",
            None,
            _LIMITS,
            AccountLimits(windows=[RateWindow("primary", 12.0)], plan="plus", native=_LIMITS),
        ),
        (intents.ReadRateLimits(), "account/rateLimits/read", None, {}, AccountLimits()),
    ],
)
def test_an_intent_is_one_request(
    intent: intents.Intent, method: str, params: Any, result: dict[str, Any], value: Any
) -> None:
    call = call_for(intent, _NEW)
    assert (call.method, call.params, call.value(result)) == (method, params, value)


@pytest.mark.parametrize(
    "intent",
    [
        intents.Compact(session_id="t1"),
        intents.Rename(session_id="t1", name="n"),
        intents.Archive(session_id="t1", archived=False),
        intents.StopCommands(session_id="t1"),
        intents.CheckTurn(session_id="t1"),
        intents.ListSessions(archived=True),
        intents.ReadSession(session_id="t1"),
    ],
)
def test_what_the_first_releases_lack(intent: intents.Intent) -> None:
    with pytest.raises(Unsupported) as raised:
        call_for(intent, _OLD)
    assert raised.value.have == "Codex 0.66.0"
