"""The tools that a request offers, and how a step is put into a call of one of them.

Releases differ: a command is ``shell``, ``local_shell``, ``shell_command`` or ``exec_command``; a
patch is a tool of its own, or a command; with code mode, everything is a piece of JavaScript; and a
tool may have to be searched for first. The request itself says which of these it is.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from dragoman.rehearsal.patches import patch_that_edits, patch_that_writes
from dragoman.rehearsal.script import (
    Agent,
    Ask,
    Edit,
    Mcp,
    Patch,
    Plan,
    Read,
    Run,
    Step,
    Tool,
    Write,
)
from dragoman.rehearsal.wires import StepCalls

_NESTED = re.compile(r"^### `(\w+)`", re.MULTILINE)


class OfferedTool(msgspec.Struct, frozen=True):
    """One tool of a request."""

    name: str
    kind: str
    namespace: str | None = None
    options: frozenset[str] = frozenset()
    description: str = ""


class ResponsesTools:
    """All tools of one request."""

    def __init__(self, body: dict[str, Any], *, searched: bool = False) -> None:
        self.offered = [*_walk(body.get("tools"), None)]
        # Some tools are kept back until they are searched for; once is enough.
        kinds = {each.kind for each in self.offered}
        self.may_search = "tool_search" in kinds and not searched
        for item in cast("list[Any]", body.get("input") or []):
            if isinstance(item, dict):
                fields = cast("dict[str, Any]", item)
                if fields.get("type") in ("additional_tools", "tool_search_output"):
                    self.offered += _walk(fields.get("tools"), None)
        code = next((each for each in self.offered if (each.name, each.kind) == _CODE_MODE), None)
        self.nested = frozenset(_NESTED.findall(code.description)) if code else None
        """The names that JavaScript can call; None without code mode."""
        self._code = code.description if code else ""

    def find(self, name: str, namespace: str | None = None) -> OfferedTool | None:
        """The tool of that name, directly callable."""
        for each in self.offered:
            if each.name == name and namespace in (None, each.namespace):
                return each
        return None

    def calls(self, step: Step) -> StepCalls:
        """How a step is put into calls: at most one, which may have to be a search for the tool."""
        item = self.item(step)
        if item is None:
            return StepCalls()
        if item["type"] == "tool_search_call":
            return StepCalls(before=(item,))
        return StepCalls((item,))

    def item(self, call: Step) -> dict[str, Any] | None:
        """The output item, without its ids, that makes the agent do what the step says.

        None if the agent has no such tool in this request.
        """
        match call:
            case Run():
                return self._run(call)
            case Patch(patch):
                return self._patch(patch)
            case Read(path):
                return self._run(Run(f"cat {shlex.quote(path)}"))
            case Write(path, text):
                return self._patch(patch_that_writes(path, text))
            case Edit(path, old, new):
                return self._patch(patch_that_edits(path, old, new))
            case Plan():
                return self._plan(call)
            case Agent():
                task = self._by_name("spawn_agent", self._task(call))
                return task or self._search("spawn_agent")
            case Ask():
                return self._by_name("request_user_input", _question(call))
            case Mcp():
                return self._mcp(call)
            case Tool():
                return self._tool(call)
            case _:
                return None

    def _run(self, call: Run) -> dict[str, Any]:
        line = call.command
        if self.nested is not None:
            if "exec_command" in self.nested:
                return self._script("exec_command", self._options(call, "exec_command", "cmd"))
            return self._script("shell_command", self._options(call, "shell_command", "command"))
        if self.find("exec_command"):
            return _function("exec_command", self._options(call, "exec_command", "cmd"))
        if self.find("shell_command"):
            return _function("shell_command", self._options(call, "shell_command", "command"))
        if any(each.kind == "local_shell" for each in self.offered):
            action: dict[str, Any] = {"type": "exec", "command": ["bash", "-lc", line], "env": {}}
            if call.workdir:
                action["working_directory"] = call.workdir
            return {"type": "local_shell_call", "status": "completed", "action": action}
        arguments = self._options(call, "shell", "command")
        return _function("shell", arguments | {"command": ["bash", "-lc", line]})

    def _options(self, call: Run, name: str, command: str) -> dict[str, Any]:
        """The call's options, under the names that the offered tool has for them."""
        arguments: dict[str, Any] = {command: call.command}
        tool = self.find(name)
        has = tool.options if tool else frozenset(re.findall(r"^  (\w+)\??: ", self._code, re.M))
        if call.workdir is not None:
            arguments["workdir"] = call.workdir
        if call.wait is not None:
            option = "yield_time_ms" if name == "exec_command" else "timeout_ms"
            arguments[option] = int(call.wait * 1000)
        if call.escalate is not None:
            if "sandbox_permissions" in has:
                arguments["sandbox_permissions"] = "require_escalated"
                arguments["justification"] = call.escalate
            elif "with_escalated_permissions" in has:
                arguments["with_escalated_permissions"] = True
                arguments["justification"] = call.escalate
        return arguments

    def _patch(self, patch: str) -> dict[str, Any]:
        patch = patch.strip("\n")
        if self.nested is not None and "apply_patch" in self.nested:
            return self._script("apply_patch", patch)
        tool = self.find("apply_patch")
        if tool is not None:
            if tool.kind == "custom":
                return _custom("apply_patch", patch)
            return _function("apply_patch", {"input": patch})
        return self._run(Run(f"apply_patch <<'EOF'\n{patch}\nEOF"))

    def _plan(self, call: Plan) -> dict[str, Any] | None:
        steps = [{"step": step.text, "status": step.status} for step in call.steps]
        arguments: dict[str, Any] = {"plan": steps}
        if call.explanation:
            arguments["explanation"] = call.explanation
        return self._by_name("update_plan", arguments)

    def _task(self, call: Agent) -> dict[str, Any]:
        tool = self.find("spawn_agent")
        arguments = {"message": call.prompt}
        if tool is not None and "task_name" in tool.options:
            arguments["task_name"] = re.sub(r"[^a-z0-9]+", "_", call.description.lower())
        return arguments

    def _by_name(self, name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """A call of a tool that not every release and not every mode has."""
        if self.nested is not None and name in self.nested:
            return self._script(name, arguments)
        tool = self.find(name)
        return _function(name, arguments, tool.namespace) if tool else None

    def _mcp(self, call: Mcp) -> dict[str, Any]:
        server, name = _identifier(call.server), _identifier(call.tool)
        full = f"mcp__{server}__{name}"
        for each in self.offered:
            if each.namespace and each.namespace.strip("_") in (server, f"mcp__{server}"):
                if _identifier(each.name) == name:
                    return _function(each.name, call.arguments, each.namespace)
            elif _identifier(each.name) in (full, f"{server}__{name}"):
                return _function(each.name, call.arguments, each.namespace)
        if self.nested is not None:
            return self._script(full, call.arguments)
        return self._search(f"{call.server} {call.tool}") or _function(full, call.arguments)

    def _tool(self, call: Tool) -> dict[str, Any]:
        tool = self.find(call.name, call.namespace)
        if tool is not None and tool.kind == "custom":
            return _custom(call.name, _text(call.arguments), tool.namespace)
        if tool is not None:
            return _function(call.name, call.arguments, tool.namespace)
        if self.nested is not None:
            names = (call.name, f"{_identifier(call.namespace or '')}__{call.name}")
            name = next((name for name in names if name in self.nested), names[0])
            return self._script(name, call.arguments)
        found = self._search(" ".join(filter(None, (call.namespace, call.name))))
        return found or _function(call.name, call.arguments, call.namespace)

    def _search(self, query: str) -> dict[str, Any] | None:
        if not self.may_search:
            return None
        arguments = {"query": query, "limit": 8}
        status = {"status": "completed", "execution": "client"}
        return {"type": "tool_search_call", "arguments": arguments, **status}

    def _script(self, name: str, argument: Any) -> dict[str, Any]:
        return _custom("exec", f"text(await tools.{name}({json.dumps(argument)}));")


_CODE_MODE = ("exec", "custom")


def _walk(tools: Any, namespace: str | None) -> Iterator[OfferedTool]:
    if not isinstance(tools, list):
        return
    for each in cast("list[Any]", tools):
        if not isinstance(each, dict):
            continue
        tool = cast("dict[str, Any]", each)
        kind = str(tool.get("type", "function"))
        if kind == "namespace":
            yield from _walk(tool.get("tools"), str(tool.get("name")))
            continue
        parameters = cast("dict[str, Any]", tool.get("parameters") or {})
        options = cast("dict[str, Any]", parameters.get("properties") or {})
        yield OfferedTool(
            str(tool.get("name", kind)),
            kind,
            namespace,
            frozenset(options),
            str(tool.get("description", "")),
        )


def _function(name: str, arguments: Any, namespace: str | None = None) -> dict[str, Any]:
    item = {"type": "function_call", "name": name, "arguments": _text(arguments)}
    return {**item, "namespace": namespace} if namespace else item


def _custom(name: str, text: str, namespace: str | None = None) -> dict[str, Any]:
    item = {"type": "custom_tool_call", "name": name, "input": text, "status": "completed"}
    return {**item, "namespace": namespace} if namespace and namespace != "functions" else item


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _question(call: Ask) -> dict[str, Any]:
    options = [{"label": option, "description": option} for option in call.options]
    question = {"id": "question", "header": call.header, "question": call.question}
    return {"questions": [{**question, "options": options}]}


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)
