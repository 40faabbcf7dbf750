"""What an agent asks the user over ACP, and how it was answered.

| kind of option | decision |
|---|---|
| allow_once | allow |
| allow_always | allow_for_session where the agent forgets it with the session, else allow_always |
| reject_once, reject_always | deny |
| cancelled instead of an option | cancel |
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from dragoman.harnesses.acp.quirks import AcpQuirks
from dragoman.harnesses.acp.session import AcpSession
from dragoman.harnesses.acp.tools import ToolUse, approval_kind, change_of, cwd_shown, texts_of
from dragoman.model.messages import AlwaysAllow, ApprovalKind
from dragoman.wire.loose import as_dict, as_list, as_str

ALLOW: Final = "allow"
ALLOW_FOR_SESSION: Final = "allow_for_session"
ALLOW_ALWAYS: Final = "allow_always"
DENY: Final = "deny"
CANCEL: Final = "cancel"
WITHDRAWN: Final = "withdrawn"


class AcpAsked(NamedTuple):
    """An open question to the user."""

    session: AcpSession
    approval_id: str
    call_id: str | None
    options: dict[str, str]
    """The decision that each option stands for."""


def ask_permission(
    session: AcpSession, request_id: int | str, params: dict[str, Any], quirks: AcpQuirks
) -> AcpAsked:
    """Emit a ``session/request_permission``."""
    session.flush()
    tool_call = as_dict(params.get("toolCall"))
    call, use = session.calls.mention(tool_call)
    kind = approval_kind(use.tool, call.kind)
    options = {
        name: decision_of(as_dict(option), quirks)
        for option in as_list(params.get("options"))
        if (name := as_str(as_dict(option).get("optionId"))) is not None
    }
    command = _command(use, call.title) if kind == "command" else None
    cwd = as_str(call.input.get("cwd")) or cwd_shown(call.content) or session.assembler.cwd
    approval_id = call.id or str(request_id)
    if session.assembler.has_asked(approval_id):
        approval_id = f"{approval_id}:{request_id}"
    session.assembler.ask(
        approval_id,
        kind,
        tool=use.tool,
        summary=command or _summary(kind, use, call.title),
        detail=_detail(kind, use, tool_call, command, cwd),
        choices=_choices(options),
        command=command,
        cwd=cwd,
        always=AlwaysAllow() if ALLOW_ALWAYS in options.values() else None,
    )
    return AcpAsked(session, approval_id, call.id, options)


def ask_elicitation(session: AcpSession, request_id: int | str, params: dict[str, Any]) -> AcpAsked:
    """Emit an ``elicitation/create``: a form to fill in, or an address to visit."""
    session.flush()
    approval_id = as_str(params.get("elicitationId")) or f"elicitation-{request_id}"
    if session.assembler.has_asked(approval_id):
        approval_id = f"{approval_id}:{request_id}"
    session.assembler.ask(
        approval_id,
        "elicitation",
        tool=None,
        summary=as_str(params.get("message")) or "",
        detail={"mode": as_str(params.get("mode")) or "form"},
        choices=[ALLOW, DENY, CANCEL],
        cwd=session.assembler.cwd,
        form=as_dict(params.get("requestedSchema")) or None,
        url=as_str(params.get("url")),
    )
    return AcpAsked(session, approval_id, None, {})


def decision_of(option: dict[str, Any], quirks: AcpQuirks) -> str:
    """The decision that an option stands for. One of an unknown kind allows nothing."""
    match option.get("kind"):
        case "allow_once":
            return ALLOW
        case "allow_always":
            is_short = as_str(option.get("optionId")) in quirks.for_session
            return ALLOW_FOR_SESSION if is_short else ALLOW_ALWAYS
        case _:
            return DENY


def decision_in(asked: AcpAsked, result: dict[str, Any]) -> str:
    """The decision that the host's answer states."""
    if (action := as_str(result.get("action"))) is not None:
        return {"accept": ALLOW, "decline": DENY}.get(action, CANCEL)
    outcome = as_dict(result.get("outcome"))
    if outcome.get("outcome") != "selected":
        return CANCEL
    return asked.options.get(as_str(outcome.get("optionId")) or "", DENY)


def _choices(options: dict[str, str]) -> list[str]:
    offered = options.values()
    allowed = [each for each in (ALLOW, ALLOW_FOR_SESSION, ALLOW_ALWAYS) if each in offered]
    return [*allowed, DENY, CANCEL]


def _command(use: ToolUse, title: str) -> str:
    """The whole command line: of the input, which the title may only describe."""
    given = use.input.get("command")
    if isinstance(given, list):
        return " ".join(str(word) for word in as_list(given))
    return as_str(given) or title


def _summary(kind: ApprovalKind, use: ToolUse, title: str) -> str:
    if kind == "edit":
        return as_str(use.input.get("file_path")) or title or use.native
    return title or use.native


def _detail(
    kind: ApprovalKind,
    use: ToolUse,
    tool_call: dict[str, Any],
    command: str | None,
    cwd: str | None,
) -> dict[str, Any]:
    detail: dict[str, Any] = {"call_id": as_str(tool_call.get("toolCallId"))}
    if kind == "command":
        detail |= {"command": command, "cwd": cwd}
    else:
        detail["input"] = use.input
    if kind == "edit":
        detail["changes"] = _changes(use, as_list(tool_call.get("content")))
    title = as_str(tool_call.get("title"))
    if title and title != command:
        detail["title"] = title
    if reason := "\n".join(texts_of(as_list(tool_call.get("content")))):
        detail["reason"] = reason
    return {name: value for name, value in detail.items() if value is not None}


def _changes(use: ToolUse, content: list[Any]) -> list[dict[str, Any]]:
    """What an edit would do to each file, in the form that all harnesses have."""
    diffs = [each for each in map(as_dict, content) if each.get("type") == "diff"]
    if not diffs:
        path, new = use.input.get("file_path"), as_str(use.input.get("content"))
        old = as_str(use.input.get("old_string"))
        diffs = [{"path": path, "oldText": old, "newText": use.input.get("new_string") or new}]
    return [change_of(each) for each in diffs]
