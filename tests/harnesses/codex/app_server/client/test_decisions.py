"""Our decisions in the words of each request."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.codex.app_server.client.decisions import answer_to, tool_answer
from dragoman.harnesses.codex.questions import answer_of
from dragoman.harnesses.codex.versions import Version
from dragoman.model.intents import AnswerTool, Decide

_NEW = (0, 166, 0)
_COMMAND = "item/commandExecution/requestApproval"
_EDIT = "item/fileChange/requestApproval"
_PERMISSIONS = "item/permissions/requestApproval"
_QUESTION = "item/tool/requestUserInput"
_ELICITATION = "mcpServer/elicitation/request"
_RULE = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch"]}}


def network(action: str) -> dict[str, Any]:
    amendment = {"host": "x.org", "action": action}
    return {"applyNetworkPolicyAmendment": {"network_policy_amendment": amendment}}


def answer(
    method: str,
    decision: str,
    params: dict[str, Any] | None = None,
    release: Version | None = _NEW,
    **more: Any,
) -> Any:
    decide = Decide(session_id="t1", approval_id="a", decision=decision, **more)
    return answer_to(method, params or {}, decide, release)


@pytest.mark.parametrize("method", [_COMMAND, _EDIT])
@pytest.mark.parametrize(
    ("decision", "word"),
    [
        ("allow", "accept"),
        ("allow_for_session", "acceptForSession"),
        ("allow_always", "acceptForSession"),
        ("deny", "decline"),
        ("cancel", "cancel"),
    ],
)
def test_commands_and_edits(method: str, decision: str, word: str) -> None:
    assert answer(method, decision) == {"decision": word}


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"proposedExecpolicyAmendment": ["touch"]}, _RULE),
        ({"availableDecisions": ["accept", _RULE, "cancel"]}, _RULE),
        ({"availableDecisions": [network("deny"), network("allow")]}, network("allow")),
        ({"availableDecisions": [network("deny")]}, "acceptForSession"),
    ],
)
def test_a_rule_is_remembered_if_the_request_proposes_one(
    params: dict[str, Any], word: Any
) -> None:
    assert answer(_COMMAND, "allow_always", params) == {"decision": word}
    assert answer(_COMMAND, "allow", params) == {"decision": "accept"}
    assert answer(_EDIT, "allow_always", params) == {"decision": "acceptForSession"}


@pytest.mark.parametrize("method", ["execCommandApproval", "applyPatchApproval"])
def test_the_words_of_old(method: str) -> None:
    words = {
        "allow": "approved",
        "allow_for_session": "approved_for_session",
        "allow_always": "approved_for_session",
        "deny": "denied",
        "cancel": "abort",
    }
    for decision, word in words.items():
        assert answer(method, decision, release=(0, 142, 0)) == {"decision": word}
    assert answer(method, "deny") == {"decision": {"denied": {"rejection": "rejected by user"}}}
    assert answer(method, "answered") is None


def test_permissions_are_granted_as_asked_for_or_not_at_all() -> None:
    asked = {"permissions": {"network": {"enabled": True}}}
    granted = {"permissions": asked["permissions"], "scope": "turn"}
    assert answer(_PERMISSIONS, "allow", asked) == granted
    assert answer(_PERMISSIONS, "allow_for_session", asked) == granted | {"scope": "session"}
    assert answer(_PERMISSIONS, "allow_always", asked) == granted | {"scope": "session"}
    for no in ("deny", "cancel"):
        assert answer(_PERMISSIONS, no, asked) == {"permissions": {}, "scope": "turn"}
    assert answer(_PERMISSIONS, "allow", asked, (0, 113, 0)) == asked
    assert answer(_PERMISSIONS, "answered", asked) is None


def test_questions_are_answered_by_id_or_by_text() -> None:
    params = {
        "questions": [
            {"id": "color", "question": "Which color?"},
            {"id": "size", "question": "Which size?"},
            {"question": "nameless"},
        ]
    }
    given = {"color": ["Red"], "Which size?": ["L", "XL"], "nameless": ["x"]}
    for word in ("answered", "allow"):
        assert answer(_QUESTION, word, params, answers=given) == {
            "answers": {"color": {"answers": ["Red"]}, "size": {"answers": ["L", "XL"]}}
        }
    assert answer(_QUESTION, "deny", params) == {"answers": {}}
    assert answer(_QUESTION, "cancel", params) == {"answers": {}}
    assert answer(_QUESTION, "answered", params) is None
    assert answer(_QUESTION, "allow_always", params, answers=given) is None


def test_elicitations() -> None:
    accepted = {"action": "accept", "content": {"a": 1}, "_meta": None}
    for word in ("allow", "answered", "allow_for_session"):
        assert answer(_ELICITATION, word, content={"a": 1}) == accepted
    assert answer(_ELICITATION, "allow") == accepted | {"content": {}}
    for decision, action in (("deny", "decline"), ("cancel", "cancel")):
        assert answer(_ELICITATION, decision, content={"a": 1}) == {
            "action": action,
            "content": None,
            "_meta": None,
        }
    assert answer(_ELICITATION, "perhaps") is None


@pytest.mark.parametrize(
    ("offered", "decision", "chosen"),
    [
        (["session", "always"], "allow_always", {"persist": "always"}),
        (["session", "always"], "allow_for_session", {"persist": "session"}),
        ("session", "allow_always", {"persist": "session"}),
        (["always"], "allow_for_session", None),
        (["session", "always"], "allow", None),
    ],
)
def test_an_elicitation_is_remembered_only_as_long_as_decided(
    offered: Any, decision: str, chosen: Any
) -> None:
    params = {"_meta": {"persist": offered}}
    assert answer(_ELICITATION, decision, params)["_meta"] == chosen


def test_what_is_no_request_for_a_decision_gets_none() -> None:
    assert answer("item/tool/call", "allow") is None
    assert answer(_COMMAND, "perhaps") is None
    assert answer(_EDIT, "answered") is None


def test_what_a_tool_said() -> None:
    said = AnswerTool(session_id="t1", call_id="k", output="open")
    assert tool_answer(said) == {
        "success": True,
        "contentItems": [{"type": "inputText", "text": "open"}],
    }
    shown = AnswerTool(session_id="t1", call_id="k", output="", images=["data:x"], success=False)
    assert tool_answer(shown) == {
        "success": False,
        "contentItems": [{"type": "inputImage", "imageUrl": "data:x"}],
    }
    nothing = AnswerTool(session_id="t1", call_id="k", output="")
    assert tool_answer(nothing)["contentItems"] == [{"type": "inputText", "text": ""}]


@pytest.mark.parametrize("decision", ["allow", "allow_for_session", "deny", "cancel"])
@pytest.mark.parametrize("method", [_COMMAND, _EDIT, "execCommandApproval"])
def test_readers_understand_the_answer_as_it_was_meant(method: str, decision: str) -> None:
    assert answer_of(answer(method, decision)) == decision
