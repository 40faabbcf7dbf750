"""Codex's tools under the names the field knows, with inputs a person can read.

| Codex | becomes | input |
|---|---|---|
| ``shell``, ``shell_command``, ``exec_command``, ``local_shell_call`` | Bash | ``command`` |
| the same running ``apply_patch``; ``apply_patch`` | Edit, or Write if files are only added | ``changes`` |
| ``write_stdin`` | BashOutput | ``session_id``, ``chars`` |
| ``update_plan`` | TodoWrite | ``todos`` |
| ``view_image``, ``read_file`` | Read | ``file_path`` |
| ``web_search_call`` | WebSearch, or WebFetch when it opens a page | ``query`` or ``url`` |
| ``spawn_agent`` / ``send…`` | Task / SendMessage | ``prompt`` / ``message``, ``agent_ids`` |
| ``wait…`` / ``close…`` an agent | TaskOutput / TaskStop | ``agent_ids`` |
| ``request_user_input`` | AskUserQuestion | ``questions`` |
| ``tool_search_call`` | ToolSearch | ``query`` |
| ``server__tool``, ``mcp__server__tool``, ``tool`` in namespace ``mcp__server`` | ``mcp__server__tool`` | as given |
| anything else, dynamic tools included | its own name | as given |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from dragoman.harnesses.codex.tools import agents
from dragoman.harnesses.codex.tools.commands import (
    command_line,
    patch_directory,
    patch_in_script,
    patch_in_words,
)
from dragoman.harnesses.codex.tools.patches import absolute, changes_in_patch, directory, edit_call
from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str
from dragoman.model import tools
from dragoman.model.messages import PlanStep, StepStatus
from dragoman.wire.jsonl import UNREADABLE, is_too_deep


class NativeCall(NamedTuple):
    """A tool call in our words."""

    tool: str
    native_tool: str
    input: dict[str, Any]
    free_form: bool = False
    """Whether the tool's output may be anything, so that it must not be unwrapped as Codex's own."""


_Input: TypeAlias = dict[str, Any]


def function_call(name: str, namespace: str | None, arguments: Any, cwd: str | None) -> NativeCall:
    """A call of a function by name, its arguments being JSON in a string (or already read)."""
    if name in _SHELLS and not namespace:
        return _shell(name, arguments, cwd)
    given = _arguments(arguments)
    if namespace and namespace.startswith("mcp__"):
        tool = f"{namespace.removesuffix('__')}__{name}"  # 0.125 to 0.128 end it with the joint
        return NativeCall(tool, f"{namespace}.{name}", given, free_form=True)
    native = f"{namespace}.{name}" if namespace else name
    if namespace in _OWN_NAMESPACES:
        reader = _READERS.get(name) or agents.reader_of(name, given)
        if reader is not None:
            tool, call = reader(given)
            if name == "view_image":
                call = {"file_path": absolute(str(call["file_path"]), cwd)}
            return NativeCall(tool, native, call)
        if name == "apply_patch":
            return custom_call(
                name, as_str(given.get("input")) or as_str(given.get("patch")) or "", cwd
            )
        if "__" in name and not namespace:
            tool = name if name.startswith("mcp__") else f"mcp__{name}"
            return NativeCall(tool, name, given, free_form=True)
    return NativeCall(native, native, given, free_form=True)


def custom_call(name: str, text: str, cwd: str | None) -> NativeCall:
    """A call of a tool that takes plain text: the patch tool, and code mode's scripts."""
    if name == "apply_patch":
        return NativeCall(*_edit(text, name, cwd))
    return NativeCall(name, name, {"script": text} if name == "exec" else {"input": text})


class _ShellArguments(msgspec.Struct):
    cmd: Any = None
    command: Any = None
    workdir: Any = None


_SHELLS: Final = frozenset(
    ("exec_command", "shell_command", "shell", "container.exec", "local_shell")
)
_shell_arguments = msgspec.json.Decoder(_ShellArguments)


def _shell(name: str, arguments: Any, cwd: str | None) -> NativeCall:
    try:
        given = (
            _shell_arguments.decode(arguments)
            if isinstance(arguments, str)
            else msgspec.convert(arguments, _ShellArguments)
        )
    except UNREADABLE:
        return NativeCall(
            tools.BASH, name, {"raw": arguments} if isinstance(arguments, str) else {}
        )
    command = given.cmd if given.cmd is not None else given.command
    cwd = directory(given.workdir, cwd)
    if isinstance(command, str):  # the script itself: nothing is wrapped around it
        return _script_call(name, command, cwd)
    return shell_call(name, command, cwd)


def plain_script(arguments: Any) -> str | None:
    """The script in the arguments of ``exec_command``, if it is nothing but a script.

    This is what most calls are; it saves them the way through :func:`function_call`.
    """
    try:
        script = _shell_arguments.decode(arguments).cmd
    except (*UNREADABLE, TypeError):
        return None
    return script if isinstance(script, str) and "*** Begin Patch" not in script else None


def shell_call(native_tool: str, command: Any, cwd: str | None) -> NativeCall:
    """A command that ran: a list of arguments or one line, mostly with a shell around it."""
    patch = patch_in_words(command)
    if patch is not None:
        return NativeCall(*_edit(patch, native_tool, cwd))
    return _script_call(native_tool, command_line(command), cwd)


def _script_call(native_tool: str, script: str, cwd: str | None) -> NativeCall:
    """A script for the shell, which is an edit when all it does is to apply a patch."""
    patch = patch_in_script(script)
    if patch is not None:
        return NativeCall(*_edit(patch, native_tool, patch_directory(script, cwd)))
    return NativeCall(tools.BASH, native_tool, {"command": script})


def _edit(patch: str, native_tool: str, cwd: str | None) -> tuple[str, str, _Input]:
    tool, call = edit_call(changes_in_patch(patch, cwd))
    return tool, native_tool, call


def given_arguments(arguments: Any) -> _Input:
    """The arguments that an item or event may carry, as an object."""
    return {} if arguments is None else _arguments(arguments)


def _arguments(arguments: Any) -> _Input:
    """The arguments of a call as an object; what is none is kept inside one."""
    if isinstance(arguments, str):
        try:
            if is_too_deep(arguments.encode("utf-8", "replace")):
                return {"raw": arguments}
            arguments = msgspec.json.decode(arguments or "{}")
        except UNREADABLE:
            return {"raw": arguments}
    return as_dict(arguments) if isinstance(arguments, dict) else {"value": arguments}


# Readers of arguments, by the function's name.


def _write_stdin(given: _Input) -> tuple[str, _Input]:
    return tools.BASH_OUTPUT, {
        "session_id": str(given.get("session_id", "")),
        "chars": as_str(given.get("chars")) or "",
    }


def _update_plan(given: _Input) -> tuple[str, _Input]:
    steps, explanation = plan_steps(given)
    call: _Input = {"todos": [{"content": step.text, "status": step.status} for step in steps]}
    if explanation:
        call["explanation"] = explanation
    return tools.TODO_WRITE, call


def _read(given: _Input) -> tuple[str, _Input]:
    path = as_str(given.get("path")) or as_str(given.get("file_path")) or ""
    return tools.READ, {"file_path": path}


def _list_dir(given: _Input) -> tuple[str, _Input]:
    return tools.LS, {"path": as_str(given.get("dir_path")) or as_str(given.get("path")) or ""}


def _grep(given: _Input) -> tuple[str, _Input]:
    return tools.GREP, {key: given[key] for key in ("pattern", "path", "include") if given.get(key)}


def _ask(given: _Input) -> tuple[str, _Input]:
    return tools.ASK_USER, {"questions": as_list(given.get("questions"))}


def _same(tool: str) -> Callable[[_Input], tuple[str, _Input]]:
    return lambda given: (tool, given)


_OWN_NAMESPACES: Final = frozenset(
    (None, "", "functions", "collaboration", "multi_agent_v1", "multi_agent_v2", "clock")
)
_READERS: Final[dict[str, Callable[[_Input], tuple[str, _Input]]]] = {
    "write_stdin": _write_stdin,
    "update_plan": _update_plan,
    "view_image": _read,
    "read_file": _read,
    "list_dir": _list_dir,
    "grep_files": _grep,
    "request_user_input": _ask,
    "request_user_input_async": _ask,
    "sleep": _same("clock.sleep"),
    "curr_time": _same("clock.curr_time"),
    "list_mcp_resources": _same("ListMcpResourcesTool"),
    "read_mcp_resource": _same("ReadMcpResourceTool"),
}
CODE_MODE: Final = frozenset(("exec", "wait", "functions.exec", "functions.wait"))
"""Code mode's wrappers: a script that calls other tools, and waiting for it. The tools are reported
as items of their own; the wrapper is reported only when none of them was."""


# Calls that are not functions.


_PAGE: Final = re.compile(r"(?:'(?P<pattern>.*)' in )?(?P<url>https?://\S+)", re.DOTALL)


def web_call(query: str | None, action: Any) -> tuple[str, _Input]:
    """A web search, or the opening of a page it found."""
    given = as_dict(action)
    if query and (page := _PAGE.fullmatch(query)):
        # Releases that do not name the action put what it does into the query.
        given = {"url": page["url"], "pattern": page["pattern"], **given}
    if (url := as_str(given.get("url"))) is not None:
        pattern = as_str(given.get("pattern"))
        return tools.WEB_FETCH, {"url": url, **({"pattern": pattern} if pattern else {})}
    queries = [str(one) for one in as_list(given.get("queries"))]
    return tools.WEB_SEARCH, {"query": query or as_str(given.get("query")) or "; ".join(queries)}


_STATUSES: Final[dict[str, StepStatus]] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "inProgress": "in_progress",
    "completed": "completed",
}


def plan_steps(given: _Input) -> tuple[list[PlanStep], str | None]:
    """The steps and the explanation of a plan, from a call's arguments or an update."""
    steps = [
        PlanStep(
            as_str(step.get("step")) or as_str(step.get("text")) or "",
            _STATUSES.get(
                str(step.get("status")), "completed" if step.get("completed") else "pending"
            ),
        )
        for step in map(_step, as_list(given.get("plan", given.get("steps"))))
    ]
    return steps, as_str(given.get("explanation"))


def _step(given: Any) -> _Input:
    """A step of a plan, which may be nothing but its words."""
    return {"step": given} if isinstance(given, str) else as_dict(given)
