"""The tools that a request of Claude Code offers, and how a step is put into calls of them.

A request names its tools in three places: in full, as deferred ones in a reminder (they run when they are called),
and as those of MCP servers. A file must have been read before it is edited, and a task has a number only
after it was made; so a step may need a response of its own first.
"""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath
from typing import Any

from dragoman.rehearsal.anthropic.tasks import TaskList
from dragoman.rehearsal.patches import FileChange, changes_of
from dragoman.rehearsal.requests import mapping, mappings, text_of
from dragoman.rehearsal.script import (
    Agent,
    Ask,
    Edit,
    Mcp,
    Patch,
    Plan,
    Read,
    Run,
    Search,
    Step,
    Tool,
    Write,
)
from dragoman.rehearsal.wires import StepCalls

_FOLDER = re.compile(r"[Ww]orking directory: (\S[^\n]*)")
_DEFERRED = re.compile(r"deferred tools are now available[^\n]*\n((?:[\w.-]+\n?)+)")
_FILE_TOOLS = ("Read", "Write", "Edit")


class MessagesTools:
    """All tools of one request."""

    def __init__(self, body: dict[str, Any], *, prepared: bool = False) -> None:
        self._prepared = prepared
        self._messages = mappings(body.get("messages"))
        self._offered = {str(tool.get("name")): tool for tool in mappings(body.get("tools"))}
        texts = [text_of(body.get("system")), *_added_texts(self._messages)]
        self._names = {*self._offered}
        for text in texts:
            for names in _DEFERRED.findall(text):
                self._names |= {*names.split("\n")} - {""}
        folder = next((found[1] for text in texts if (found := _FOLDER.search(text))), None)
        self._folder = PurePosixPath(folder) if folder else None

    def calls(self, step: Step) -> StepCalls:
        """How a step is put into calls."""
        match step:
            case Run():
                return self._only("Bash", self._bash(step))
            case Patch(patch):
                return self._changes(changes_of(patch))
            case Read(path):
                return self._only("Read", {"file_path": self._path(path)})
            case Write(path, text):
                return self._changes([FileChange("add", path, text)])
            case Edit(path, old, new):
                return self._changes([FileChange("update", path, hunks=((old, new),))])
            case Plan():
                return self._plan(step)
            case Search(query):
                # A page would be fetched from where it is, which a rehearsal must not do.
                return self._only("WebSearch", {"query": query}) if query else StepCalls()
            case Mcp(server, tool, arguments):
                return StepCalls((_use(self._mcp_name(server, tool), arguments),))
            case Agent():
                return self._agent(step)
            case Ask():
                return self._only("AskUserQuestion", _question(step))
            case Tool(name, arguments):
                return StepCalls((_use(name, arguments),))
            case _:
                return StepCalls()

    def _only(self, name: str, arguments: dict[str, Any]) -> StepCalls:
        return StepCalls((_use(name, arguments),)) if name in self._names else StepCalls()

    def _path(self, path: str) -> str:
        return str(self._folder / path) if self._folder else path

    def _bash(self, step: Run) -> dict[str, Any]:
        command = step.command
        if step.workdir is not None:
            command = f"cd {shlex.quote(step.workdir)} && {command}"
        arguments: dict[str, Any] = {"command": command}
        if step.escalate is not None:
            arguments["description"] = step.escalate
            if "dangerouslyDisableSandbox" in self._options("Bash"):
                arguments["dangerouslyDisableSandbox"] = True
        if step.wait is not None:
            arguments["timeout"] = int(step.wait * 1000)
        return arguments

    def _options(self, name: str) -> dict[str, Any]:
        schema = mapping(self._offered.get(name, {}).get("input_schema"))
        return mapping(schema.get("properties"))

    def _changes(self, changes: list[FileChange]) -> StepCalls:
        """Calls that change files; a file that is edited must be read before."""
        calls: list[dict[str, Any]] = []
        unread: dict[str, None] = {}
        known = self._files_seen()
        for change in changes:
            path = self._path(change.path)
            if change.kind == "add":
                calls.append(_use("Write", {"file_path": path, "content": change.text}))
                known.add(path)
            elif change.kind == "delete":
                calls.append(_use("Bash", {"command": f"rm {shlex.quote(path)}"}))
            else:
                calls += [_edit(path, old, new) for old, new in change.hunks]
                if path not in known and any(old for old, _ in change.hunks):
                    unread[path] = None
            if change.moved_to is not None:
                paths = shlex.join([path, self._path(change.moved_to)])
                calls.append(_use("Bash", {"command": f"mv {paths}"}))
        if not {call["name"] for call in calls} <= self._names:
            return StepCalls()
        reads = [_use("Read", {"file_path": path}) for path in unread]
        return StepCalls(tuple(calls), () if self._prepared else tuple(reads))

    def _files_seen(self) -> set[str]:
        """The files that the agent has read or written in this conversation."""
        seen: set[str] = set()
        for message in self._messages:
            for block in mappings(message.get("content")):
                if block.get("type") == "tool_use" and block.get("name") in _FILE_TOOLS:
                    seen.add(str(mapping(block.get("input")).get("file_path")))
        return seen

    def _plan(self, step: Plan) -> StepCalls:
        if "TodoWrite" in self._names:
            todos = [
                {"content": each.text, "status": each.status, "activeForm": each.text}
                for each in step.steps
            ]
            return StepCalls((_use("TodoWrite", {"todos": todos}),))
        if "TaskCreate" not in self._names:
            return StepCalls()
        tasks = TaskList(self._messages)
        made = [] if self._prepared else tasks.to_make(step)
        return StepCalls(
            tuple(_use("TaskUpdate", arguments) for arguments in tasks.to_update(step)),
            tuple(_use("TaskCreate", arguments) for arguments in made),
        )

    def _mcp_name(self, server: str, tool: str) -> str:
        return "__".join(
            ["mcp", *(re.sub(r"[^a-zA-Z0-9_-]", "_", name) for name in (server, tool))]
        )

    def _agent(self, step: Agent) -> StepCalls:
        name = "Agent" if "Agent" in self._names else "Task"
        kind = {"subagent_type": "general-purpose", "description": step.description}
        arguments: dict[str, Any] = {"prompt": step.prompt, **kind}
        if "run_in_background" in self._options(name):
            arguments["run_in_background"] = False
        return self._only(name, arguments)


def _added_texts(messages: list[dict[str, Any]]) -> list[str]:
    """What the agent adds by itself: words of the system, and reminders in the user's name."""
    texts: list[str] = []
    for message in messages:
        content = message.get("content")
        if message.get("role") == "system":
            texts.append(text_of(content))
        elif message.get("role") == "user":
            blocks = mappings(content) or [{"text": text_of(content)}]
            texts += [text for block in blocks if "<system-reminder>" in (text := text_of([block]))]
    return texts


def _use(name: str, arguments: Any) -> dict[str, Any]:
    return {"name": name, "input": arguments}


def _edit(path: str, old: str, new: str) -> dict[str, Any]:
    if not old:  # lines to add, and nothing that says where: the end of the file
        return _use(
            "Bash", {"command": f"printf '%s\\n' {shlex.quote(new)} >> {shlex.quote(path)}"}
        )
    return _use("Edit", {"file_path": path, "old_string": old, "new_string": new})


def _question(step: Ask) -> dict[str, Any]:
    options = [{"label": option, "description": option} for option in step.options]
    question = {"question": step.question, "header": step.header, "options": options}
    return {"questions": [{**question, "multiSelect": False}]}
