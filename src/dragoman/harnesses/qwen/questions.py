"""What the agent asks before it uses a tool, and what a host answers.

``can_use_tool`` covers everything: commands, edits, other tools, and questions to the user. Its suggestions are labels
for buttons: a decision holds for this one call, and nothing is remembered.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.gemini_tools.names import tool_input, tool_name
from dragoman.harnesses.qwen.tools import unwrapped_call
from dragoman.harnesses.stream_json.control import ALLOW, DENY
from dragoman.harnesses.stream_json.session import StreamSession
from dragoman.model.messages import ApprovalKind
from dragoman.model.tools import ASK_USER, BASH, EDIT, WRITE
from dragoman.wire.loose import as_dict, as_list, as_str

CANCEL: Final = "cancel"
ANSWERED: Final = "answered"
_EXIT_PLAN: Final = "ExitPlanMode"
_EDITS: Final = frozenset((EDIT, WRITE, "NotebookEdit"))


def kind_of(native: str) -> ApprovalKind:
    """What a request about this tool is about."""
    tool = tool_name(native)
    if tool == BASH:
        return "command"
    if tool in _EDITS:
        return "edit"
    return "question" if tool == ASK_USER else "tool"


def ask_tool(session: StreamSession, request_id: str, request: dict[str, Any]) -> None:
    """A ``can_use_tool`` request."""
    call = unwrapped_call(as_str(request.get("tool_name")) or "", as_dict(request.get("input")))
    kind, tool = kind_of(call.tool), tool_name(call.tool)
    given = tool_input(call.tool, call.input)
    cwd = session.assembler.cwd
    command = as_str(given.get("command")) if kind == "command" else None
    session.assembler.ask(
        request_id,
        kind,
        tool=tool,
        summary=_summary(kind, tool, given, request),
        detail=_detail(kind, tool, given, request, cwd),
        choices=_question_choices(given) if kind == "question" else [ALLOW, DENY, CANCEL],
        command=command,
        cwd=as_str(given.get("directory")) or cwd,
    )


def ask_elicitation(session: StreamSession, request_id: str, request: dict[str, Any]) -> None:
    """A form that an MCP server asks for: no release that was tried sends one."""
    session.assembler.ask(
        request_id,
        "elicitation",
        tool=None,
        summary=as_str(request.get("message")) or "",
        detail={"server": as_str(request.get("mcp_server_name")) or ""},
        choices=[ALLOW, DENY, CANCEL],
        cwd=session.assembler.cwd,
        form=as_dict(request.get("requested_schema")) or None,
        url=as_str(request.get("url")),
    )


def decision_of(answer: dict[str, Any], kind: ApprovalKind | None) -> str:
    """The decision that a host's answer states."""
    if answer.get("behavior") != "allow":
        return CANCEL if answer.get("interrupt") is True else DENY
    if kind == "question" and as_dict(as_dict(answer.get("updatedInput")).get("answers")):
        return ANSWERED
    return ALLOW


def _summary(kind: ApprovalKind, tool: str, given: dict[str, Any], request: dict[str, Any]) -> str:
    if kind == "command":
        return as_str(given.get("command")) or ""
    if kind == "edit":
        return as_str(given.get("file_path")) or as_str(given.get("notebook_path")) or tool
    if tool == _EXIT_PLAN:
        return as_str(given.get("plan")) or "leave plan mode"
    if kind == "question":
        asked = [as_dict(each) for each in as_list(given.get("questions"))]
        return " ".join(as_str(each.get("question")) or "" for each in asked)
    suggested = [as_dict(each) for each in as_list(request.get("permission_suggestions"))]
    about = next((text for each in suggested if (text := as_str(each.get("description")))), None)
    return as_str(given.get("description")) or about or tool


def _detail(
    kind: ApprovalKind, tool: str, given: dict[str, Any], request: dict[str, Any], cwd: str | None
) -> dict[str, Any]:
    detail: dict[str, Any] = {}
    if kind == "command":
        detail["command"] = as_str(given.get("command")) or ""
        detail["cwd"] = as_str(given.get("directory")) or cwd
    elif kind == "edit":
        detail["changes"] = [_change(tool, given)]
    elif kind == "question":
        # A person may always answer something else than what is offered.
        asked = [as_dict(each) for each in as_list(given.get("questions"))]
        detail["questions"] = [
            {"id": str(place), **each, "isOther": True} for place, each in enumerate(asked)
        ]
    if kind != "command":
        detail["input"] = given
    more = {
        "reason": as_str(given.get("description")) if kind == "command" else None,
        "blocked_path": request.get("blocked_path"),
        "suggestions": as_list(request.get("permission_suggestions")) or None,
        "call_id": request.get("tool_use_id"),
    }
    detail.update(more)
    return {name: value for name, value in detail.items() if value is not None}


def _change(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    """What an edit would do to its file, in the form that all harnesses have."""
    path = as_str(given.get("file_path")) or as_str(given.get("notebook_path"))
    if tool == WRITE:
        return {"path": path, "kind": "add", "diff": as_str(given.get("content")) or ""}
    old = as_str(given.get("old_string")) or ""
    new = as_str(given.get("new_string")) or as_str(given.get("new_source")) or ""
    lines = [*(f"-{line}" for line in old.splitlines()), *(f"+{line}" for line in new.splitlines())]
    return {"path": path, "kind": "update", "diff": "\n".join(lines)}


def _question_choices(given: dict[str, Any]) -> list[str]:
    questions = [as_dict(each) for each in as_list(given.get("questions"))]
    options = as_list(questions[0].get("options")) if len(questions) == 1 else []
    return [label for option in options if (label := as_str(as_dict(option).get("label")))]
