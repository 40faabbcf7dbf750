"""Whether a request of the server shows what is to be decided.

One that does not (no parameters, another type, nothing to show to a person) is never put before a policy
or a person, because a yes to it would be a yes to anything. It is kept as unknown, and refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.values.loose import as_dict, as_list

_FORMS: Final = ("form", "openai/form", "openaiForm")

_Check: TypeAlias = Callable[[dict[str, Any], SessionAssembler, str | None], bool]


def is_sound(
    method: str, raw: dict[str, Any], session: SessionAssembler, item_id: str | None
) -> bool:
    """``raw`` are the parameters; an earlier item may hold what the request leaves out."""
    check = _CHECKS.get(method)
    return check is None or check(raw, session, item_id)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_command(value: Any) -> bool:
    if isinstance(value, list):
        words = as_list(value)
        return bool(words) and all(isinstance(word, str) for word in words) and _is_text(words[0])
    return _is_text(value)


def _command(raw: dict[str, Any], session: SessionAssembler, item_id: str | None) -> bool:
    if not _is_text(raw.get("threadId")) or raw.get("kind") not in (None, "command", "writeStdin"):
        return False
    command = raw.get("command")
    if command is None and item_id is not None:
        command = session.native_of(item_id).get(
            "command", session.input_of(item_id).get("command")
        )
    if command is None:
        return _is_text(as_dict(raw.get("networkApprovalContext")).get("host"))
    return _is_command(command)


def _old_command(raw: dict[str, Any], session: SessionAssembler, item_id: str | None) -> bool:
    return _is_command(raw.get("command"))


def _edit(raw: dict[str, Any], session: SessionAssembler, item_id: str | None) -> bool:
    if not _is_text(raw.get("threadId")) or item_id is None:
        return False
    return bool(as_list(session.input_of(item_id).get("changes"))) or _is_text(raw.get("grantRoot"))


def _old_edit(raw: dict[str, Any], session: SessionAssembler, item_id: str | None) -> bool:
    return bool(as_dict(raw.get("fileChanges", raw.get("file_changes"))))


def _permissions(raw: dict[str, Any], session: SessionAssembler, item_id: str | None) -> bool:
    return _is_text(raw.get("threadId")) and bool(as_dict(raw.get("permissions")))


def _question(raw: dict[str, Any], session: SessionAssembler, item_id: str | None) -> bool:
    asked = as_list(raw.get("questions"))
    named = [as_dict(each) for each in asked]
    return (
        _is_text(raw.get("threadId"))
        and bool(named)
        and all(_is_text(each.get("id")) and _is_text(each.get("question")) for each in named)
    )


def _elicitation(raw: dict[str, Any], session: SessionAssembler, item_id: str | None) -> bool:
    return _is_text(raw.get("threadId")) and _is_elicitation(raw)


def _mcp_elicitation(raw: dict[str, Any], session: SessionAssembler, item_id: str | None) -> bool:
    kind = raw.get("codex_elicitation")
    if kind == "exec-approval":
        return _is_command(raw.get("codex_command"))
    if kind == "patch-approval":
        return bool(as_dict(raw.get("codex_changes")))
    return _is_elicitation(raw)


def _is_elicitation(raw: dict[str, Any]) -> bool:
    mode, form = raw.get("mode"), raw.get("requestedSchema")
    if not isinstance(raw.get("message"), str):
        return False
    if mode == "url":
        return _is_text(raw.get("url"))
    return isinstance(form, dict) if mode in _FORMS else mode is None


def _tool_call(raw: dict[str, Any], session: SessionAssembler, item_id: str | None) -> bool:
    return _is_text(raw.get("threadId")) and _is_text(raw.get("tool"))


_CHECKS: Final[dict[str, _Check]] = {
    "item/commandExecution/requestApproval": _command,
    "execCommandApproval": _old_command,
    "item/fileChange/requestApproval": _edit,
    "applyPatchApproval": _old_edit,
    "item/permissions/requestApproval": _permissions,
    "item/tool/requestUserInput": _question,
    "mcpServer/elicitation/request": _elicitation,
    "elicitation/create": _mcp_elicitation,
    "item/tool/call": _tool_call,
}
