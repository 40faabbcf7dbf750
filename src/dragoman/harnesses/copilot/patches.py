"""Patches between ``*** Begin Patch`` and ``*** End Patch``, as changes of files."""

from __future__ import annotations

import re
from typing import Any, Final

from dragoman.model.tools import EDIT, WRITE

_FILE: Final = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE: Final = re.compile(r"\*\*\* Move to: (.+)")
_KINDS: Final = {"Add": "add", "Update": "update", "Delete": "delete"}


def changes_in(patch: str) -> list[dict[str, Any]]:
    """``[{"path", "kind": add|update|delete, "diff"?, "move_path"?}]``, in the patch's order."""
    changes: list[dict[str, Any]] = []
    for line in patch.split("\n"):
        if found := _FILE.match(line):
            changes.append({"path": found[2].strip(), "kind": _KINDS[found[1]]})
        elif changes and (found := _MOVE.match(line)):
            changes[-1]["move_path"] = found[1].strip()
        elif changes and not line.startswith("*** "):
            changes[-1].setdefault("lines", []).append(line)
    for change in changes:
        lines: list[str] = change.pop("lines", [])
        if change["kind"] == "add":
            lines = [line.removeprefix("+") for line in lines]
        if lines and change["kind"] != "delete":
            change["diff"] = "\n".join(lines) + "\n"
    return changes


def edit_name(changes: list[dict[str, Any]]) -> str:
    """The tool that a patch is a call of: ``Write`` if it only adds files."""
    return WRITE if changes and all(each["kind"] == "add" for each in changes) else EDIT
