"""How a step is put into calls of the functions that a request offers.

A file must have been read before some agents edit it, so a step may need a response of its own first.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from dragoman.rehearsal.functions.offered import TOOLS, OfferedFunction
from dragoman.rehearsal.patches import FileChange, changes_of
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

_FOLDER = re.compile(
    r"[Ww]orking (?:directory|in the directory): (\S[^\n]*)|Workspace Directories:\*\*\n\s*- (\S[^\n]*)"
)
_MILLISECONDS = 1000


class FunctionTools:
    """All functions of one request.

    ``texts`` are what the agent says about where it works; ``called`` are the calls so far, with their arguments.
    """

    def __init__(
        self,
        offered: Iterable[OfferedFunction],
        *,
        texts: Iterable[str] = (),
        called: Iterable[tuple[str, dict[str, Any]]] = (),
        prepared: bool = False,
    ) -> None:
        self._offered = {each.name: each for each in offered}
        self._prepared = prepared
        self._files_seen = {
            str(arguments.get(path))
            for name, arguments in called
            if (tool := self._offered.get(name)) is not None and (path := tool.named("path"))
        }
        found = next((found for text in texts if (found := _FOLDER.search(text))), None)
        self._folder = PurePosixPath(found[1] or found[2]) if found else None

    def find(self, kind: str) -> OfferedFunction | None:
        """The function for something, if there is one."""
        return next((self._offered[name] for name in TOOLS[kind] if name in self._offered), None)

    def calls(self, step: Step) -> StepCalls:
        """How a step is put into calls."""
        match step:
            case Run():
                return self._run(step)
            case Patch(patch):
                return self._patch(patch)
            case Read(path):
                return self._only("read", path=self._path(path))
            case Write(path, text):
                return self._changes([FileChange("add", path, text)])
            case Edit(path, old, new):
                return self._changes([FileChange("update", path, hunks=((old, new),))])
            case Plan():
                return self._plan(step)
            case Search(query):
                return self._only("search", query=query) if query else StepCalls()
            case Mcp(server, tool, arguments):
                return StepCalls((self._mcp(server, tool, arguments),))
            case Agent():
                return self._agent(step)
            case Ask():
                return self._ask(step)
            case Tool(name, arguments):
                return StepCalls((_use(name, arguments),))
            case _:
                return StepCalls()

    def finishing(self, text: str) -> dict[str, Any] | None:
        """The call with which a sub-agent of some programs must hand in its result."""
        tool = self.find("finish")
        return (
            _use(tool.name, tool.arguments({"result": tool.holding("result", text)}))
            if tool
            else None
        )

    def _only(self, kind: str, **given: Any) -> StepCalls:
        tool = self.find(kind)
        return StepCalls((_use(tool.name, tool.arguments(given)),)) if tool else StepCalls()

    def _path(self, path: str) -> str:
        return str(self._folder / path) if self._folder else path

    def _run(self, step: Run) -> StepCalls:
        tool = self.find("run")
        if tool is None:
            return StepCalls()
        command = step.command
        given: dict[str, Any] = {"description": step.escalate or "Run a command"}
        if step.workdir is not None:
            if tool.named("workdir"):
                given["workdir"] = step.workdir
            else:
                command = f"cd {shlex.quote(step.workdir)} && {command}"
        if step.wait is not None:
            given["timeout"] = int(step.wait * _MILLISECONDS)
            given["initial_wait"] = step.wait
        return StepCalls((_use(tool.name, tool.arguments({"command": command, **given})),))

    def _patch(self, patch: str) -> StepCalls:
        tool = self.find("patch")
        if tool is not None:
            return StepCalls((_use(tool.name, tool.arguments({"patch": patch.strip("\n")})),))
        return self._changes(changes_of(patch))

    def _changes(self, changes: list[FileChange]) -> StepCalls:
        calls: list[dict[str, Any]] = []
        unread: dict[str, None] = {}
        edit, write, run = self.find("edit"), self.find("write"), self.find("run")
        if edit is None or write is None or run is None:
            return StepCalls()
        for change in changes:
            path = self._path(change.path)
            if change.kind == "add":
                calls.append(_use(write.name, write.arguments({"path": path, "text": change.text})))
                self._files_seen.add(path)
            elif change.kind == "delete":
                calls += self._run(Run(f"rm {shlex.quote(path)}")).calls
            else:
                calls += [self._edit(edit, path, *hunk) for hunk in change.hunks]
                if edit.reads_first and path not in self._files_seen:
                    unread[path] = None
            if change.moved_to is not None:
                paths = shlex.join([path, self._path(change.moved_to)])
                calls += self._run(Run(f"mv {paths}")).calls
        reads = [call for path in unread for call in self._only("read", path=path).calls]
        return StepCalls(tuple(calls), () if self._prepared else tuple(reads))

    def _edit(self, tool: OfferedFunction, path: str, old: str, new: str) -> dict[str, Any]:
        if not old:  # lines to add, and nothing that says where: the end of the file
            line = f"printf '%s\\n' {shlex.quote(new)} >> {shlex.quote(path)}"
            return self._run(Run(line)).calls[0]
        return _use(tool.name, tool.arguments({"path": path, "old": old, "new": new}))

    def _plan(self, step: Plan) -> StepCalls:
        tool = self.find("plan")
        if tool is None:
            return self._only("plan as rows", query=_rows(step), description="Update todos")
        names = tool.item_names("todos")
        todos = [
            {name: value for name, value in entry.items() if name in names}
            for entry in (
                {
                    "id": str(number),
                    "content": each.text,
                    "description": each.text,
                    "status": each.status,
                    "priority": "medium",
                }
                for number, each in enumerate(step.steps, 1)
            )
        ]
        return StepCalls((_use(tool.name, tool.arguments({"todos": todos})),))

    def _mcp(self, server: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        parts = [re.sub(r"[^a-zA-Z0-9_-]", "_", part) for part in (server, tool)]
        names = [
            "__".join(["mcp", *parts]),
            "_".join(["mcp", *parts]),
            "-".join(parts),
            "_".join(parts),
        ]
        name = next((name for name in names if name in self._offered), None)
        deferred = self.find("deferred")
        if name is None and deferred is not None:
            return _use(deferred.name, {"name": names[0], "arguments": arguments})
        return _use(name or names[0], arguments)

    def _agent(self, step: Agent) -> StepCalls:
        tool = self.find("agent")
        if tool is None:
            return StepCalls()
        name = re.sub(r"[^a-z0-9]+", "-", step.description.lower())
        given = {"prompt": step.prompt, "description": step.description, "name": name}
        # In the foreground, so that its result is the call's.
        given |= {"helper": tool.helper(), "background": False, "mode": "sync"}
        return StepCalls((_use(tool.name, tool.arguments(given)),))

    def _ask(self, step: Ask) -> StepCalls:
        tool = self.find("ask")
        if tool is None:
            return StepCalls()
        options = [{"label": option, "description": option} for option in step.options]
        names = tool.item_names("questions")
        whole = {"question": step.question, "header": step.header, "options": options}
        question = {
            name: value
            for name, value in {**whole, "type": "choice", "multiSelect": False}.items()
            if name in names
        }
        given = {"question": step.question, "choices": [*step.options], "questions": [question]}
        return StepCalls((_use(tool.name, tool.arguments(given)),))


def _rows(step: Plan) -> str:
    """The plan as rows of a table of todos."""
    states = {"completed": "done"}
    rows = [
        f"('step-{number}', {_quoted(each.text)}, '{states.get(each.status, each.status)}')"
        for number, each in enumerate(step.steps, 1)
    ]
    return f"INSERT OR REPLACE INTO todos (id, title, status) VALUES {', '.join(rows)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _use(name: str, arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}
