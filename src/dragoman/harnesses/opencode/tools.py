"""opencode's tools by the names and inputs that messages use."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from dragoman.model import tools
from dragoman.model.messages import PlanStep, ResultStatus, StepStatus
from dragoman.wire.loose import as_dict, as_int, as_list, as_str

NAMES: Final = {
    "bash": tools.BASH,
    "read": tools.READ,
    "write": tools.WRITE,
    "edit": tools.EDIT,
    "multiedit": "MultiEdit",
    "patch": tools.EDIT,
    "apply_patch": tools.EDIT,
    "glob": tools.GLOB,
    "grep": tools.GREP,
    "list": tools.LS,
    "webfetch": tools.WEB_FETCH,
    "websearch": tools.WEB_SEARCH,
    "todowrite": tools.TODO_WRITE,
    "task": tools.TASK,
    "skill": tools.SKILL,
    "question": tools.ASK_USER,
    "plan_exit": "ExitPlanMode",
    "plan_enter": "EnterPlanMode",
}
_OWN: Final = frozenset(("todoread", "codesearch", "lsp", "batch", "invalid", "external_directory"))
KEYS: Final[dict[str, str]] = {
    "filePath": "file_path",
    "oldString": "old_string",
    "newString": "new_string",
    "replaceAll": "replace_all",
}
_REJECTED: Final = (
    "The user rejected permission",
    "The user has specified a rule",
    "The user dismissed",
)
_STATUSES: Final[dict[str, StepStatus]] = {
    "completed": "completed",
    "in_progress": "in_progress",
    "cancelled": "completed",
}


class OpencodeCall(NamedTuple):
    """A call in the words of messages."""

    tool: str
    input: dict[str, Any]


class OpencodeOutcome(NamedTuple):
    """What became of a call."""

    output: str
    is_error: bool
    exit_code: int | None
    status: ResultStatus
    duration_ms: int | None


def call_of(native: str, given: Any) -> OpencodeCall:
    """A call by its native name and input. The tools of MCP servers are ``server_tool``."""
    values = as_dict(given)
    name = NAMES.get(native)
    if name is None:
        server, underscore, tool = native.partition("_")
        is_mcp = bool(underscore and server and tool) and native not in _OWN
        return OpencodeCall(tools.mcp_tool(server, tool) if is_mcp else native, values)
    if native in ("patch", "apply_patch"):
        return OpencodeCall(name, {**values, "patch": as_str(values.get("patchText")) or ""})
    made = {KEYS.get(key, key): value for key, value in values.items()}
    if native == "multiedit":
        made["edits"] = [
            {KEYS.get(key, key): value for key, value in as_dict(each).items()}
            for each in as_list(values.get("edits"))
        ]
    return OpencodeCall(name, made)


def outcome_of(state: dict[str, Any]) -> OpencodeOutcome:
    """The result in the state of a tool that has ended."""
    time = as_dict(state.get("time"))
    begin, end = as_int(time.get("start")), as_int(time.get("end"))
    took = end - begin if begin is not None and end is not None and end >= begin else None
    if state.get("status") == "error":
        text = as_str(state.get("error")) or ""
        declined = text.startswith(_REJECTED)
        return OpencodeOutcome(text, True, None, "declined" if declined else "failed", took)
    metadata = as_dict(state.get("metadata"))
    code = as_int(metadata.get("exit"))
    # A command that was stopped, by the user or after its time, has no code.
    is_error = code != 0 if "exit" in metadata else False
    output = as_str(state.get("output")) or ""
    return OpencodeOutcome(output, is_error, code, "failed" if is_error else "completed", took)


def plan_in(todos: Any) -> list[PlanStep]:
    """The steps in a list of todos."""
    return [
        PlanStep(
            as_str(each.get("content")) or "",
            _STATUSES.get(as_str(each.get("status")) or "", "pending"),
        )
        for each in map(as_dict, as_list(todos))
    ]
