"""What opencode asks, in the words of messages."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from dragoman.harnesses.opencode.tools import call_of
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


def call_of_asked(given: dict[str, Any]) -> str | None:
    """The call that a permission is asked for."""
    return as_str(as_dict(given.get("tool")).get("callID"))


def asked_of(given: dict[str, Any], cwd: str | None, call: dict[str, Any]) -> AskedPermission:
    """A permission that is asked for: by its tool, with what it is for; ``call`` is the input of the call."""
    permission = as_str(given.get("permission")) or "tool"
    patterns = [str(each) for each in as_list(given.get("patterns"))]
    metadata = as_dict(given.get("metadata"))
    facts: dict[str, Any] = {"call_id": call_of_asked(given), "patterns": patterns}
    if always := [str(each) for each in as_list(given.get("always"))]:
        # What opencode's own "always" would cover. It is not on offer (see ``reply_for``), so it is no rule of ours.
        facts["always"] = always
    common = {"choices": list(_CHOICES), "cwd": cwd}
    approval_id = as_str(given.get("id")) or ""
    if permission == "bash":
        command = as_str(metadata.get("command")) or as_str(call.get("command"))
        command = command or "; ".join(patterns)
        common["cwd"] = _inside(cwd, as_str(call.get("workdir")))
        detail = {**facts, "command": command}
        fields = {"tool": BASH, "summary": command, "detail": detail, "command": command}
        return AskedPermission(approval_id, "command", {**fields, **common})
    if permission == "edit":
        path = as_str(metadata.get("filepath")) or "; ".join(patterns)
        detail = {**facts, "changes": _changes(as_str(metadata.get("diff")) or "", path)}
        return AskedPermission(
            approval_id, "edit", {"tool": EDIT, "summary": path, "detail": detail, **common}
        )
    summary = f"{permission}: {'; '.join(patterns)}" if patterns not in ([], ["*"]) else permission
    if permission == "external_directory":
        detail = {**facts, **metadata, "permissions": {permission: patterns}}
        fields = {"tool": None, "summary": summary, "detail": detail}
        return AskedPermission(approval_id, "permissions", {**fields, **common})
    tool = call_of(permission, {}).tool
    detail = {**facts, "permission": permission, **metadata, "arguments": call}
    fields = {"tool": tool, "summary": summary, "detail": detail}
    return AskedPermission(approval_id, "tool", {**fields, **common})


def _changes(diff: str, path: str) -> list[dict[str, Any]]:
    """The changes in a diff, each file by itself, without the lines that only name it."""
    files = re.split(r"^Index: ", diff, flags=re.MULTILINE)[1:]
    changes: list[dict[str, Any]] = []
    for file in files or [diff]:
        named = file.partition("\n")[0].strip() if files else path
        hunks = re.search(r"^@@ .*", file, re.MULTILINE | re.DOTALL)
        text = hunks[0] if hunks is not None else ""
        created, deleted = text.startswith("@@ -0,0 "), " +0,0 @@" in text.partition("\n")[0]
        kind = "add" if created else "delete" if deleted else "update"
        change = {"path": named if len(files) > 1 else path, "kind": kind}
        changes.append({**change, "diff": text} if text else change)
    return changes


def _inside(cwd: str | None, folder: str | None) -> str | None:
    """Where a command runs that names its own directory."""
    if not folder or cwd is None:
        return folder or cwd
    is_whole = folder.startswith(("/", "\\")) or folder[1:2] == ":"
    return folder if is_whole else f"{cwd.rstrip('/')}/{folder}"


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
