"""What Codex asks before it goes on, and the answers it gets, in our words.

Releases have used three sets of words for one decision; ours are the ones that approval policies
use: ``allow``, ``allow_for_session``, ``allow_always`` (remember the rule), ``deny``, ``cancel``
(deny and stop the turn), ``answered``.
"""

from __future__ import annotations

import re
from typing import Any, Final

from dragoman.harnesses.codex.commands import command_line
from dragoman.harnesses.codex.loose import as_dict, as_list, as_str
from dragoman.harnesses.codex.patches import edit_call
from dragoman.harnesses.telling.teller import Teller
from dragoman.model.messages import ApprovalKind
from dragoman.model.tools import ASK_USER, BASH, mcp_tool

ALLOW: Final = "allow"
ALLOW_FOR_SESSION: Final = "allow_for_session"
ALLOW_ALWAYS: Final = "allow_always"
DENY: Final = "deny"
CANCEL: Final = "cancel"
ANSWERED: Final = "answered"
USUAL_CHOICES: Final = (ALLOW, ALLOW_FOR_SESSION, DENY, CANCEL)

_TOOL_IN_QUESTION: Final = re.compile(r'\btool "([^"]+)"')
_DECISIONS: Final = {
    "accept": ALLOW,
    "approved": ALLOW,
    "acceptForSession": ALLOW_FOR_SESSION,
    "approved_for_session": ALLOW_FOR_SESSION,
    "acceptWithExecpolicyAmendment": ALLOW_ALWAYS,
    "approved_execpolicy_amendment": ALLOW_ALWAYS,
    "applyNetworkPolicyAmendment": ALLOW_ALWAYS,
    "decline": DENY,
    "denied": DENY,
    "timed_out": DENY,
    "cancel": CANCEL,
    "abort": CANCEL,
}


def decision_of(word: Any) -> str:
    """Our word for a decision as some release spells it: a word, or a word with details."""
    name = as_str(word) or next(iter(as_dict(word)), "")
    return _DECISIONS.get(name, name or DENY)


def answer_of(result: Any) -> str:
    """Our word for a whole answer: to an approval, an elicitation or a list of questions."""
    given = as_dict(result)
    if "decision" in given:
        return decision_of(given["decision"])
    if "action" in given:
        return decision_of(given["action"])
    if "answers" in given:
        return ANSWERED if given["answers"] else DENY
    if "permissions" in given:
        if not as_dict(given["permissions"]):
            return DENY
        return ALLOW_FOR_SESSION if given.get("scope") == "session" else ALLOW
    if "success" in given:
        return ANSWERED
    return ANSWERED if given else DENY


def choices_of(available: Any, usual: tuple[str, ...] = USUAL_CHOICES) -> list[str]:
    """The decisions on offer. Releases list some and accept the usual ones besides."""
    offered = [decision_of(word) for word in as_list(available)]
    return list(dict.fromkeys([*offered, *usual])) if offered else list(usual)


def ask_command(
    teller: Teller,
    approval_id: str,
    *,
    command: Any,
    cwd: str | None,
    reason: str | None,
    choices: list[str] | None = None,
) -> None:
    line = command_line(command)
    detail = _present(command=line, cwd=cwd, reason=reason)
    _ask(teller, approval_id, "command", BASH, line or reason or "", detail, choices)


def ask_edit(
    teller: Teller,
    approval_id: str,
    *,
    changes: list[dict[str, Any]],
    reason: str | None,
    choices: list[str] | None = None,
) -> None:
    summary = ", ".join(f"{change['kind']} {change['path']}" for change in changes)
    detail = _present(changes=changes or None, reason=reason)
    _ask(teller, approval_id, "edit", edit_call(changes)[0], summary, detail, choices)


def ask_question(teller: Teller, approval_id: str, questions: list[Any]) -> None:
    asked = [as_dict(question) for question in questions]
    texts = [as_str(question.get("question")) or "" for question in asked]
    options = as_list(asked[0].get("options")) if len(asked) == 1 else []
    choices = [label for option in options if (label := as_str(as_dict(option).get("label")))]
    detail = {"questions": questions}
    _ask(teller, approval_id, "question", ASK_USER, " ".join(texts), detail, choices)


def ask_permissions(teller: Teller, approval_id: str, permissions: Any, reason: str | None) -> None:
    detail = _present(permissions=permissions, reason=reason)
    choices = [ALLOW, ALLOW_FOR_SESSION, DENY]
    _ask(teller, approval_id, "permissions", None, reason or "", detail, choices)


def ask_elicitation(
    teller: Teller,
    approval_id: str,
    server: str,
    message: str,
    detail: dict[str, Any] | None = None,
) -> None:
    given = {"server": server, **(detail or {})}
    _ask(teller, approval_id, "elicitation", None, message, given, [ALLOW, DENY, CANCEL])


def ask_tool(teller: Teller, approval_id: str, server: str, message: str, arguments: Any) -> None:
    """An MCP call. Only the words of the question name the tool."""
    named = _TOOL_IN_QUESTION.search(message)
    tool = mcp_tool(server, named[1]) if named else None
    detail = _present(server=server, arguments=arguments)
    _ask(teller, approval_id, "tool", tool, message, detail, [ALLOW, DENY, CANCEL])


def _ask(
    teller: Teller,
    approval_id: str,
    kind: ApprovalKind,
    tool: str | None,
    summary: str,
    detail: dict[str, Any],
    choices: list[str] | None,
) -> None:
    teller.ask(
        approval_id,
        kind,
        tool=tool,
        summary=summary,
        detail=detail,
        choices=list(USUAL_CHOICES) if choices is None else choices,
    )


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
