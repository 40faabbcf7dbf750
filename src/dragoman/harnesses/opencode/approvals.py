"""What opencode asks, in the words of messages."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.model.messages import ApprovalKind
from dragoman.model.tools import BASH, EDIT
from dragoman.wire.loose import as_dict, as_list, as_str

_DECISIONS: Final = {"once": "allow", "always": "allow_for_session"}
_CHOICES: Final = ["allow", "allow_for_session", "deny", "cancel"]


class AskedPermission(NamedTuple):
    """The arguments of :meth:`SessionAssembler.ask`."""

    approval_id: str
    kind: ApprovalKind
    fields: dict[str, Any]


def asked_of(given: dict[str, Any], session: SessionAssembler) -> AskedPermission:
    """A permission that is asked for: by its tool, with what it is for."""
    permission = as_str(given.get("permission")) or "tool"
    patterns = [str(each) for each in as_list(given.get("patterns"))]
    metadata = as_dict(given.get("metadata"))
    call_id = as_str(as_dict(given.get("tool")).get("callID"))
    facts = {"call_id": call_id, "patterns": patterns}
    common = {"choices": list(_CHOICES), "cwd": session.cwd}
    approval_id = as_str(given.get("id")) or ""
    if permission == "bash":
        command = as_str(metadata.get("command"))
        if command is None and call_id is not None:
            command = as_str(session.input_of(call_id).get("command"))
        command = command or "; ".join(patterns)
        detail = {**facts, "command": command}
        fields = {"tool": BASH, "summary": command, "detail": detail, "command": command}
        return AskedPermission(approval_id, "command", {**fields, **common})
    if permission == "edit":
        path = as_str(metadata.get("filepath")) or "; ".join(patterns)
        change: dict[str, Any] = {"path": path, "kind": "update"}
        if diff := as_str(metadata.get("diff")):
            change["diff"] = diff
        detail = {**facts, "changes": [change]}
        return AskedPermission(
            approval_id, "edit", {"tool": EDIT, "summary": path, "detail": detail, **common}
        )
    summary = f"{permission}: {'; '.join(patterns)}" if patterns else permission
    detail = {**facts, "permission": permission, **metadata}
    fields = {"tool": permission, "summary": summary, "detail": detail}
    return AskedPermission(approval_id, "tool", {**fields, **common})


def questions_of(given: dict[str, Any]) -> AskedPermission:
    """Questions that the agent asks the user."""
    questions = [
        {
            "id": str(number),
            "question": as_str(each.get("question")) or "",
            "header": as_str(each.get("header")) or "",
            "options": [
                {
                    "label": as_str(option.get("label")) or "",
                    "description": as_str(option.get("description")) or "",
                }
                for option in map(as_dict, as_list(each.get("options")))
            ],
            "multi_select": each.get("multiple") is True,
        }
        for number, each in enumerate(map(as_dict, as_list(given.get("questions"))))
    ]
    summary = "; ".join(str(each["question"]) for each in questions)
    fields: dict[str, Any] = {
        "tool": None,
        "summary": summary,
        "detail": {"questions": questions},
        "choices": ["answered", "cancel"],
    }
    return AskedPermission(as_str(given.get("id")) or "", "question", fields)


def decision_of(reply: str) -> str:
    """A reply in our words."""
    return _DECISIONS.get(reply, "deny")
