"""Detect requests that do not show what they ask for. They are denied, whatever the policy or a person decides."""

from __future__ import annotations

from typing import Any, cast

from dragoman.model.messages import ApprovalRequested


def problem_with(request: ApprovalRequested) -> str | None:
    """The problem of a request as a sentence; None if it can be judged."""
    detail = request.detail
    match request.kind:
        case "command":
            if command_of(request) is None:
                return "it does not say which command"
        case "edit":
            changes: Any = detail.get("changes") or []
            if not isinstance(changes, list) or not (changes or _is_text(detail.get("grant_root"))):
                return "it does not say which files"
            if not all(_has_path(change) for change in cast("list[Any]", changes)):
                return "it does not say which files"
        case "permissions":
            if not detail.get("permissions") and not detail.get("network"):
                return "it does not say which permissions"
        case "question":
            if not detail.get("questions") and not request.summary.strip():
                return "it asks nothing"
        case "tool":
            if request.tool is None and not detail.get("server") and not request.summary.strip():
                return "it does not say which tool"
        case "elicitation":
            says = detail.get("server") or request.form or request.url or request.summary.strip()
            if not says:
                return "it does not say what is wanted"
    return None


def command_of(request: ApprovalRequested) -> str | list[str] | None:
    """The command as it will run, as words or else as a line; None if there is none."""
    if request.argv is not None:
        argv: list[Any] = list(request.argv)
        return argv if argv and argv[0] and all(map(_is_text, argv)) else None
    for line in (request.command, request.detail.get("command")):
        if line is not None:
            return line if _is_text(line) and line.strip() else None
    return None


def _is_text(value: Any) -> bool:
    """Whether it is text that the system accepts: no lone surrogate, no NUL."""
    if not isinstance(value, str) or "\0" in value:
        return False
    return not any("\ud800" <= char <= "\udfff" for char in value)


def _has_path(change: Any) -> bool:
    path: Any = cast("dict[str, Any]", change).get("path") if isinstance(change, dict) else None
    return _is_text(path) and bool(path.strip())
