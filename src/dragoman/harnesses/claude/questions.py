"""What the agent asks before it uses a tool, and what a host answers.

``can_use_tool`` covers everything: commands, edits, other tools, and two tools that are questions themselves.
"""

from __future__ import annotations

import shlex
from typing import Any, Final

from dragoman.harnesses.claude.tools import tool_name
from dragoman.harnesses.stream_json.control import ALLOW, DENY
from dragoman.harnesses.stream_json.session import StreamSession
from dragoman.model.messages import AlwaysAllow, ApprovalKind
from dragoman.model.tools import ASK_USER, BASH, EDIT, WRITE
from dragoman.wire.loose import as_dict, as_list, as_str

ALLOW_FOR_SESSION: Final = "allow_for_session"
ALLOW_ALWAYS: Final = "allow_always"
CANCEL: Final = "cancel"
ANSWERED: Final = "answered"

EXIT_PLAN: Final = "ExitPlanMode"
_COMMANDS: Final = frozenset((BASH, "PowerShell"))
_EDITS: Final = frozenset((EDIT, WRITE, "MultiEdit", "NotebookEdit"))
_FILES: Final = {
    "localSettings": ".claude/settings.local.json",
    "projectSettings": ".claude/settings.json",
    "userSettings": "~/.claude/settings.json",
}
"""Where a rule is stored, by the wire's word for it."""
_ANY_REST: Final = (":*", " *")
_HOST: Final = "domain:"


def ask_tool(session: StreamSession, request_id: str, request: dict[str, Any]) -> None:
    """A ``can_use_tool`` request."""
    native = as_str(request.get("tool_name")) or ""
    given = as_dict(request.get("input"))
    suggestions = [as_dict(each) for each in as_list(request.get("permission_suggestions"))]
    kind = kind_of(native)
    cwd = session.assembler.cwd
    command = as_str(given.get("command")) if kind == "command" else None
    session.assembler.ask(
        request_id,
        kind,
        tool=tool_name(native),
        summary=_summary(kind, native, given, request),
        detail=_detail(kind, native, given, request, suggestions, cwd),
        choices=_question_choices(given) if native == ASK_USER else choices_of(suggestions),
        command=command,
        cwd=cwd,
        always=always_of(suggestions),
    )


def ask_elicitation(session: StreamSession, request_id: str, request: dict[str, Any]) -> None:
    """A form or an address that an MCP server asks for."""
    form = as_dict(request.get("requested_schema")) or as_dict(request.get("requestedSchema"))
    session.assembler.ask(
        request_id,
        "elicitation",
        tool=None,
        summary=as_str(request.get("message")) or "",
        detail={"server": as_str(request.get("mcp_server_name")) or ""},
        choices=[ALLOW, DENY, CANCEL],
        cwd=session.assembler.cwd,
        form=form or None,
        url=as_str(request.get("url")),
    )


def kind_of(native: str) -> ApprovalKind:
    if native in _COMMANDS:
        return "command"
    if native in _EDITS:
        return "edit"
    # To leave plan mode is allowed or denied; only a question is answered in words.
    return "question" if native == ASK_USER else "tool"


def choices_of(suggestions: list[dict[str, Any]]) -> list[str]:
    """The decisions that the request can be answered with."""
    spans = {as_str(each.get("destination")) for each in suggestions}
    session = [ALLOW_FOR_SESSION] if "session" in spans else []
    always = [ALLOW_ALWAYS] if always_of(suggestions) is not None else []
    return [ALLOW, *session, *always, DENY, CANCEL]


def always_of(suggestions: list[dict[str, Any]]) -> AlwaysAllow | None:
    """The rule that ``allow_always`` stores. Several rules are not shown as the first of them."""
    stored = [each for each in suggestions if _is_stored(each)]
    if not stored:
        return None
    files = dict.fromkeys(_FILES[str(each["destination"])] for each in stored)
    stored_in = ", ".join(files)
    rules = [as_dict(rule) for each in stored for rule in as_list(each.get("rules"))]
    if len(rules) != 1:
        return AlwaysAllow(stored_in=stored_in)
    content = as_str(rules[0].get("ruleContent")) or ""
    if content.startswith(_HOST):
        return AlwaysAllow(host=content.removeprefix(_HOST), stored_in=stored_in)
    is_command = tool_name(as_str(rules[0].get("toolName")) or "") in _COMMANDS
    return AlwaysAllow(prefix=_words(content) if is_command else [], stored_in=stored_in)


def _is_stored(suggestion: dict[str, Any]) -> bool:
    """Whether it is a rule that allows, for a settings file: only such ones are sent back."""
    return (
        suggestion.get("type") == "addRules"
        and suggestion.get("behavior", "allow") == "allow"
        and as_str(suggestion.get("destination")) in _FILES
    )


def decision_of(answer: dict[str, Any], kind: ApprovalKind | None) -> str:
    """The decision that a host's answer states."""
    behavior = as_str(answer.get("behavior"))
    action = as_str(answer.get("action"))
    if behavior == "deny" or action == "decline":
        return CANCEL if answer.get("interrupt") is True else DENY
    if action == "cancel":
        return CANCEL
    if behavior != "allow" and action != "accept":
        return DENY
    if kind == "question" and as_dict(as_dict(answer.get("updatedInput")).get("answers")):
        return ANSWERED
    spans = {
        as_str(as_dict(each).get("destination"))
        for each in as_list(answer.get("updatedPermissions"))
    }
    if spans & _FILES.keys():
        return ALLOW_ALWAYS
    return ALLOW_FOR_SESSION if spans else ALLOW


def _summary(
    kind: ApprovalKind, native: str, given: dict[str, Any], request: dict[str, Any]
) -> str:
    if kind == "command":
        return as_str(given.get("command")) or ""
    if kind == "edit":
        return as_str(given.get("file_path")) or as_str(given.get("notebook_path")) or native
    if native == EXIT_PLAN:
        return as_str(given.get("plan")) or "leave plan mode"
    if native == ASK_USER:
        asked = [as_dict(each) for each in as_list(given.get("questions"))]
        return " ".join(as_str(each.get("question")) or "" for each in asked)
    for name in ("title", "description", "display_name"):
        if text := as_str(request.get(name)):
            return text
    return native


def _detail(
    kind: ApprovalKind,
    native: str,
    given: dict[str, Any],
    request: dict[str, Any],
    suggestions: list[dict[str, Any]],
    cwd: str | None,
) -> dict[str, Any]:
    detail: dict[str, Any] = {}
    if kind == "command":
        detail["command"] = as_str(given.get("command")) or ""
        detail["cwd"] = cwd
    elif kind == "edit":
        detail["changes"] = [change_of(native, given)]
    elif kind == "question":
        # A person may always answer something else than what is offered.
        asked = [as_dict(each) for each in as_list(given.get("questions"))]
        detail["questions"] = [{**each, "isOther": True} for each in asked]
    if kind != "command":
        detail["input"] = given
    reason = as_str(request.get("decision_reason")) or as_str(request.get("description"))
    more = {
        "reason": reason,
        "blocked_path": request.get("blocked_path"),
        "server": as_dict(request.get("mcp_server")).get("name"),
        "suggestions": suggestions or None,
        "call_id": request.get("tool_use_id"),
    }
    detail.update(more)
    return {name: value for name, value in detail.items() if value is not None}


def change_of(native: str, given: dict[str, Any]) -> dict[str, Any]:
    """What an edit would do to its file, in the form that all harnesses have."""
    path = as_str(given.get("file_path")) or as_str(given.get("notebook_path"))
    if native == WRITE:
        return {"path": path, "kind": "add", "diff": as_str(given.get("content")) or ""}
    edits = [as_dict(each) for each in as_list(given.get("edits"))] or [given]
    lines: list[str] = []
    for edit in edits:
        old = as_str(edit.get("old_string")) or ""
        new = as_str(edit.get("new_string")) or as_str(edit.get("new_source")) or ""
        lines += [f"-{line}" for line in old.splitlines()]
        lines += [f"+{line}" for line in new.splitlines()]
    return {"path": path, "kind": "update", "diff": "\n".join(lines)}


def _question_choices(given: dict[str, Any]) -> list[str]:
    questions = [as_dict(each) for each in as_list(given.get("questions"))]
    options = as_list(questions[0].get("options")) if len(questions) == 1 else []
    return [label for option in options if (label := as_str(as_dict(option).get("label")))]


def _words(rule: str) -> list[str]:
    """The words that a command must begin with, from the content of a rule."""
    for rest in _ANY_REST:
        rule = rule.removesuffix(rest)
    try:
        return shlex.split(rule)
    except ValueError:
        return rule.split()
