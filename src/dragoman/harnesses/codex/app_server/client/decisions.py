"""Our decision, as the answer to one request of the server.

| request | answer |
|---|---|
| item/commandExecution/requestApproval | accept, acceptForSession, decline, cancel, or the rule it proposes |
| item/fileChange/requestApproval | accept, acceptForSession, decline, cancel |
| execCommandApproval, applyPatchApproval | approved, approved_for_session, denied, abort |
| item/permissions/requestApproval | the permissions asked for, or none, and for how long |
| item/tool/requestUserInput | answers by the question's id |
| mcpServer/elicitation/request | accept with the form's content, decline, cancel |
| item/tool/call | the output of the tool |

A request that lacks a word for a decision gets the nearest one that allows no more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from dragoman.harnesses.codex.app_server.client.features import GRANT_SCOPES, REASONED_DENIALS
from dragoman.harnesses.codex.questions import (
    ALLOW,
    ALLOW_ALWAYS,
    ALLOW_FOR_SESSION,
    ANSWERED,
    CANCEL,
    DENY,
    rule_to_remember,
)
from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str
from dragoman.harnesses.codex.versions import Version, can
from dragoman.model.forms import problems
from dragoman.model.intents import AnswerTool, Decide

TOOL_CALL: Final = "item/tool/call"
_WORDS: Final = {
    ALLOW: "accept",
    ALLOW_FOR_SESSION: "acceptForSession",
    ALLOW_ALWAYS: "acceptForSession",
    DENY: "decline",
    CANCEL: "cancel",
}
PLAIN_DECISIONS: Final = frozenset(_WORDS)
"""What may be decided about a command or an edit."""
_OLD_WORDS: Final = {
    ALLOW: "approved",
    ALLOW_FOR_SESSION: "approved_for_session",
    ALLOW_ALWAYS: "approved_for_session",
    DENY: "denied",
    CANCEL: "abort",
}


def answer_to(
    method: str, params: dict[str, Any], decide: Decide, release: Version | None
) -> dict[str, Any] | None:
    """The answer that means this decision; None if it is no decision about such a request."""
    make = _ANSWERS.get(method)
    return make(params, decide, release) if make else None


def tool_answer(intent: AnswerTool) -> dict[str, Any]:
    """The answer to ``item/tool/call``."""
    images = [{"type": "inputImage", "imageUrl": image} for image in intent.images]
    said = [{"type": "inputText", "text": intent.output}] if intent.output or not images else []
    return {"success": intent.success, "contentItems": [*said, *images]}


def _command(
    params: dict[str, Any], decide: Decide, release: Version | None
) -> dict[str, Any] | None:
    amendment = rule_to_remember(params) if decide.decision == ALLOW_ALWAYS else None
    word = amendment or _WORDS.get(decide.decision)
    return {"decision": word} if word else None


def _edit(params: dict[str, Any], decide: Decide, release: Version | None) -> dict[str, Any] | None:
    word = _WORDS.get(decide.decision)
    return {"decision": word} if word else None


def _old(params: dict[str, Any], decide: Decide, release: Version | None) -> dict[str, Any] | None:
    word = _OLD_WORDS.get(decide.decision)
    if word == "denied" and can(release, REASONED_DENIALS):
        return {"decision": {"denied": {"rejection": "rejected by user"}}}
    return {"decision": word} if word else None


def _permissions(
    params: dict[str, Any], decide: Decide, release: Version | None
) -> dict[str, Any] | None:
    if decide.decision not in _WORDS:
        return None
    granted = decide.decision not in (DENY, CANCEL)
    lasting = decide.decision in (ALLOW_FOR_SESSION, ALLOW_ALWAYS)
    answer: dict[str, Any] = {"permissions": as_dict(params.get("permissions")) if granted else {}}
    if can(release, GRANT_SCOPES):
        answer["scope"] = "session" if lasting else "turn"
    return answer


def _question(
    params: dict[str, Any], decide: Decide, release: Version | None
) -> dict[str, Any] | None:
    if decide.decision in (DENY, CANCEL):
        return {"answers": {}}
    if decide.decision not in (ANSWERED, ALLOW):
        return None
    answers: dict[str, Any] = {}
    for question in map(as_dict, as_list(params.get("questions"))):
        name, text = as_str(question.get("id")), as_str(question.get("question"))
        given = decide.answers.get(name or "", decide.answers.get(text or ""))
        if name is not None and given:
            answers[name] = {"answers": given}
    return {"answers": answers} if answers else None


def _elicitation(
    params: dict[str, Any], decide: Decide, release: Version | None
) -> dict[str, Any] | None:
    if decide.decision in (DENY, CANCEL):
        return {"action": _WORDS[decide.decision], "content": None, "_meta": None}
    if decide.decision not in (*_WORDS, ANSWERED):
        return None
    content = None if params.get("mode") == "url" else decide.content or {}
    if content is not None and problems(params.get("requestedSchema"), content):
        return None
    return {"action": "accept", "content": content, "_meta": _lasting(params, decide)}


def _lasting(params: dict[str, Any], decide: Decide) -> dict[str, Any] | None:
    """For how long, where the request offers to remember the answer."""
    offered = as_dict(params.get("_meta")).get("persist")
    spans = [offered] if isinstance(offered, str) else as_list(offered)
    wanted = {ALLOW_FOR_SESSION: ("session",), ALLOW_ALWAYS: ("always", "session")}
    chosen = [span for span in wanted.get(decide.decision, ()) if span in spans]
    return {"persist": chosen[0]} if chosen else None


_Make: TypeAlias = Callable[[dict[str, Any], Decide, Version | None], dict[str, Any] | None]
_ANSWERS: Final[dict[str, _Make]] = {
    "item/commandExecution/requestApproval": _command,
    "item/fileChange/requestApproval": _edit,
    "execCommandApproval": _old,
    "applyPatchApproval": _old,
    "item/permissions/requestApproval": _permissions,
    "item/tool/requestUserInput": _question,
    "mcpServer/elicitation/request": _elicitation,
}
STOPS_NOTHING: Final = frozenset(
    (
        "item/permissions/requestApproval",
        "item/tool/requestUserInput",
        "mcpServer/elicitation/request",
    )
)
"""The requests whose answer can refuse but not stop the turn: ``cancel`` takes an interrupt besides."""
DECIDED: Final = frozenset(_ANSWERS)
"""The requests that wait for a decision."""
