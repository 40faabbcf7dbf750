"""What the agent asks, and how it was answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dragoman.model.messages import ApprovalKind
from dragoman.model.tools import BASH, EDIT, READ, WEB_FETCH, mcp_tool
from dragoman.wire.loose import as_dict, as_list, as_str

if TYPE_CHECKING:
    from dragoman.harnesses.copilot.events.reader import EventReader
    from dragoman.harnesses.copilot.events.shapes import Event

_DECISIONS: Final = {
    "approved": "allow",
    "approved-read-only-for-session": "allow_for_session",
    "approved-for-session": "allow_for_session",
    "approved-for-location": "allow_always",
    "cancelled": "cancel",
}
CHOICES: Final = ["allow", "deny", "cancel"]
SESSION_CHOICES: Final = ["allow", "allow_for_session", "deny", "cancel"]
QUESTION_CHOICES: Final = ["answered", "cancel"]


def permission_requested(reader: EventReader, event: Event) -> None:
    session = reader.session_of(event)
    given = as_dict(event.data.get("permissionRequest"))
    request_id = as_str(event.data.get("requestId")) or ""
    if event.data.get("resolvedByHook") is True:
        session.assembler.duplicate("approval: a hook answers it")
        return
    kind, tool, summary, detail = described(given)
    offers = given.get("canOfferSessionApproval") is True
    facts = reader.main.assembler.facts
    session.assembler.ask(
        request_id,
        kind,
        tool=tool,
        summary=summary,
        detail={**detail, "call_id": as_str(given.get("toolCallId"))},
        choices=SESSION_CHOICES if offers else CHOICES,
        command=as_str(given.get("fullCommandText")),
        cwd=as_str(given.get("resolvedWorkingDirectory")) or (facts.cwd if facts else None),
    )


def described(given: dict[str, Any]) -> tuple[ApprovalKind, str | None, str, dict[str, Any]]:
    """A permission request as kind, tool, summary and detail."""
    intention = as_str(given.get("intention"))
    match given.get("kind"):
        case "shell":
            command = as_str(given.get("fullCommandText")) or ""
            return "command", BASH, command, {"command": command, "reason": intention}
        case "write":
            path = as_str(given.get("resolvedPath")) or as_str(given.get("fileName")) or ""
            diff = as_str(given.get("diff"))
            change = {"path": path, "kind": "update", **({"diff": diff} if diff else {})}
            return "edit", EDIT, path, {"changes": [change], "reason": intention}
        case "read":
            path = as_str(given.get("path")) or ""
            return "permissions", READ, path, {"path": path, "reason": intention}
        case "url":
            url = as_str(given.get("url")) or ""
            return "permissions", WEB_FETCH, url, {"url": url, "reason": intention}
        case "mcp":
            server, tool = (
                as_str(given.get("serverName")) or "",
                as_str(given.get("toolName")) or "",
            )
            name = mcp_tool(server, tool)
            return "tool", name, name, {"server": server, "tool": tool, "input": given.get("args")}
        case other:
            name = as_str(given.get("toolName")) or as_str(other) or "tool"
            arguments = given.get("args", given.get("toolArgs"))
            words = as_str(given.get("hookMessage")) or as_str(given.get("fact")) or name
            return "tool", name, words, {**given, "input": arguments}


def permission_completed(reader: EventReader, event: Event) -> None:
    result = as_dict(event.data.get("result"))
    kind = as_str(result.get("kind")) or ""
    _settle(reader, event, _DECISIONS.get(kind, "deny"))


def user_input_requested(reader: EventReader, event: Event) -> None:
    session, data = reader.session_of(event), event.data
    question = as_str(data.get("question")) or ""
    options = [text for each in as_list(data.get("choices")) if (text := as_str(each))]
    session.assembler.ask(
        as_str(data.get("requestId")) or "",
        "question",
        tool=None,
        summary=question,
        detail={
            "questions": [
                {
                    "id": "answer",
                    "question": question,
                    "options": [{"label": text} for text in options],
                    "is_other": data.get("allowFreeform") is not False,
                }
            ],
            "call_id": as_str(data.get("toolCallId")),
        },
        choices=list(QUESTION_CHOICES),
    )


def user_input_completed(reader: EventReader, event: Event) -> None:
    answer = as_str(event.data.get("answer"))
    _settle(reader, event, "answered" if answer is not None else "cancel")


def elicitation_requested(reader: EventReader, event: Event) -> None:
    session, data = reader.session_of(event), event.data
    text = as_str(data.get("message")) or ""
    url = as_str(data.get("url"))
    session.assembler.ask(
        as_str(data.get("requestId")) or "",
        "elicitation",
        tool=None,
        summary=text,
        detail={"message": text, "server": as_str(data.get("elicitationSource"))},
        choices=["accept", "decline", "cancel"],
        form=as_dict(data.get("requestedSchema")) or None if url is None else None,
        url=url,
    )


def elicitation_completed(reader: EventReader, event: Event) -> None:
    _settle(reader, event, as_str(event.data.get("action")) or "cancel")


def exit_plan_requested(reader: EventReader, event: Event) -> None:
    session, data = reader.session_of(event), event.data
    summary = as_str(data.get("summary")) or "the plan is ready"
    session.assembler.ask(
        as_str(data.get("requestId")) or "",
        "permissions",
        tool="ExitPlanMode",
        summary=summary,
        detail={"plan": as_str(data.get("planContent")), "actions": as_list(data.get("actions"))},
        choices=list(CHOICES),
    )


def exit_plan_completed(reader: EventReader, event: Event) -> None:
    _settle(reader, event, "allow" if event.data.get("approved") is True else "deny")


def _settle(reader: EventReader, event: Event, decision: str) -> None:
    session = reader.session_of(event)
    session.assembler.settle(as_str(event.data.get("requestId")) or "", decision)
