"""What a policy file decides about written requests, without an agent: ``dragoman policy check``."""

from __future__ import annotations

import json
import os
from typing import Any, Final, cast

import msgspec

from dragoman.drive.approvals.judging.remarks import remarks
from dragoman.drive.approvals.policy_file import read_policy
from dragoman.drive.approvals.rules import WORKSPACE, Explained, Rules
from dragoman.drive.calling import Outcome
from dragoman.model.messages import ApprovalKind, ApprovalRequested

_NOT_READ: Final = frozenset(
    ("argv", "args", "dir", "directory", "env", "environment", "shell", "stdin", "workdir")
)
"""What another format may call the directory or the rest of a command: not to be read over."""


class Checked(msgspec.Struct, frozen=True):
    """One answer, as printed."""

    decision: str
    rule: str | None
    why: str


class PolicyCheck:
    """A policy file, and the directory that a session is supposed to work in."""

    def __init__(self, path: str | os.PathLike[str], cwd: str | os.PathLike[str]) -> None:
        """Raises :class:`dragoman.drive.approvals.policy_file.BadPolicy`."""
        self._rules: Rules = read_policy(path)
        self._own = os.path.abspath(cwd)

    def remarks(self) -> list[str]:
        """A sentence for each rule that names only a program that runs others."""
        return list(remarks(self._rules.rules))

    def command(self, command: str | list[str], cwd: str | None = None) -> Checked:
        """A command line, or the arguments of a command."""
        return self._judged(
            "command",
            cwd,
            tool="Bash",
            command=command if isinstance(command, str) else None,
            argv=command if isinstance(command, list) else None,
        )

    def line(self, line: str | bytes) -> Checked:
        """A request as a line of JSON. One that cannot be read is denied."""
        try:
            value: Any = json.loads(line, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            return _unreadable(f"it is not JSON: {error}")
        if not isinstance(value, dict):
            return _unreadable("it is not a JSON object")
        with Outcome() as outcome:
            outcome.value = self._request(cast("dict[str, Any]", value))
        if outcome.problem is not None:
            return _unreadable(f"judging it failed with {outcome.problem}")
        return cast("Checked", outcome.value)

    def _request(self, given: dict[str, Any]) -> Checked:
        kinds = [key for key in ("command", "paths", "tool") if key in given]
        if len(kinds) != 1:
            return _unreadable('it must have one of "command", "paths" and "tool"')
        unread = [key for key in given if key in _NOT_READ]
        if unread:
            return _unreadable(f'it has "{unread[0]}", which changes what runs and is not judged')
        cwd, asked = given.get("cwd"), given[kinds[0]]
        if not (cwd is None or (isinstance(cwd, str) and cwd)):
            return _unreadable('"cwd" must be a text')
        if kinds == ["paths"]:
            if not _is_texts(asked):
                return _unreadable('"paths" must be a list of texts')
            changes = [{"path": path, "kind": "update"} for path in asked]
            return self._judged("edit", cwd, changes=changes)
        if kinds == ["tool"]:
            server = given.get("server")
            if not (isinstance(asked, str) and asked) or not isinstance(server, str | None):
                return _unreadable('"tool" must be the name of a tool')
            return self._judged("tool", cwd, tool=asked, server=server)
        if not isinstance(asked, str) and not _is_texts(asked):
            return _unreadable('"command" must be a line, or a list of words')
        return self.command(asked, cwd)

    def _judged(
        self,
        kind: ApprovalKind,
        cwd: str | None,
        *,
        tool: str | None = None,
        command: str | None = None,
        argv: list[str] | None = None,
        **detail: Any,
    ) -> Checked:
        detail[WORKSPACE] = self._own
        request = ApprovalRequested(
            approval_id="check",
            kind=kind,
            tool=tool,
            summary=command or " ".join(argv or ()),
            command=command,
            argv=argv,
            cwd=cwd,
            detail=detail,
        )
        found: Explained = self._rules.explain(request)
        return Checked(found.decision, found.rule, found.why)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; readers disagree about keys that stand there twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        problem = "it has the same key twice"
        raise ValueError(problem)
    return made


def _is_texts(value: object) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(each, str) for each in cast("list[Any]", value))


def _unreadable(problem: str) -> Checked:
    return Checked("deny", None, f"the request cannot be read: {problem}")
