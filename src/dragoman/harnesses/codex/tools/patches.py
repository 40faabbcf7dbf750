"""Changes to files, in the four shapes they come in, as one list.

``[{"path", "kind": add|update|delete, "diff"?, "move_path"?}]``, sorted by path. The diff of an
added or deleted file is its content; that of an updated one is its hunks.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any, Final

from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str
from dragoman.model.tools import EDIT, WRITE

_FILE: Final = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$")
_MOVE: Final = re.compile(r"^\*\*\* Move to: (.+?)\s*$")
_MOVED_NOTE: Final = re.compile(r"\n*Moved to: [^\n]*\n*\Z")
_DIFFS: Final = ("content", "unified_diff", "unifiedDiff", "diff", "patch")
"""What a map of changes calls the diff, or the content of a file that is new or gone."""
_KINDS: Final = {"Add": "add", "Update": "update", "Delete": "delete"}


def changes_in_patch(patch: str, cwd: str | None) -> list[dict[str, Any]]:
    """The changes that a patch in Codex's own patch language asks for."""
    changes: list[dict[str, Any]] = []
    body: list[str] = []
    for line in patch.split("\n"):
        if not line.startswith("*** "):
            if changes:
                body.append(line)
        elif found := _FILE.match(line):
            _close(changes, body)
            changes.append({"path": absolute(found[2], cwd), "kind": _KINDS[found[1]]})
        elif changes and (found := _MOVE.match(line)):
            changes[-1]["move_path"] = absolute(found[1], cwd)
    _close(changes, body)
    return _sorted(changes)


def _close(changes: list[dict[str, Any]], body: list[str]) -> None:
    """Give the lines collected so far to the change they belong to."""
    if changes and body:
        if changes[-1]["kind"] == "add":
            content = "".join(f"{line[1:]}\n" for line in body if line.startswith("+"))
            changes[-1]["diff"] = content
        elif text := "\n".join(body).strip("\n"):
            changes[-1]["diff"] = f"{text}\n"
    body.clear()


def changes_in_map(changes: Any) -> list[dict[str, Any]]:
    """The changes in ``{path: {"type": "add", …}}``, ``{path: {"add": {…}}}`` or ``{path: "delete"}``."""
    return _sorted([_change(path, value) for path, value in as_dict(changes).items()])


def _change(path: str, value: Any) -> dict[str, Any]:
    details = as_dict(value)
    kind = as_str(value) or as_str(details.get("type"))
    if kind is None and details and "kind" not in details:
        kind, inner = next(iter(details.items()))
        details = as_dict(inner)
    kind = kind or as_str(details.get("kind"))
    change: dict[str, Any] = {"path": path, "kind": kind or "update"}
    diff = next((text for name in _DIFFS if (text := as_str(details.get(name)))), None)
    if diff is not None:
        change["diff"] = diff
    if move := as_str(details.get("move_path")) or as_str(details.get("movePath")):
        change["move_path"] = move
    return change


def changes_in_list(changes: Any) -> list[dict[str, Any]]:
    """The changes in ``[{"path", "kind": "add" or {"type": "add"}, "diff"?}]``."""
    found: list[dict[str, Any]] = []
    for entry in map(as_dict, as_list(changes)):
        kind = entry.get("kind")
        details = as_dict(kind)
        change: dict[str, Any] = {
            "path": as_str(entry.get("path")) or "",
            "kind": as_str(kind) or as_str(details.get("type")) or "update",
        }
        diff = as_str(entry.get("diff"))
        if move := as_str(details.get("move_path")) or as_str(details.get("movePath")):
            change["move_path"] = move
            # The app-server repeats the move, in words, at the end of the diff.
            diff = _MOVED_NOTE.sub("\n", diff) if diff else diff
        if diff:
            change["diff"] = diff
        found.append(change)
    return _sorted(found)


def changes_of(value: Any) -> list[dict[str, Any]]:
    """The changes in either of the shapes that events and items carry."""
    return changes_in_list(value) if isinstance(value, list) else changes_in_map(value)


def edit_call(changes: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """The tool and the input that a set of changes amounts to."""
    tool = WRITE if changes and all(change["kind"] == "add" for change in changes) else EDIT
    call: dict[str, Any] = {"changes": changes}
    if len(changes) == 1:
        call["file_path"] = changes[0]["path"]
        call |= _claude_input(changes[0])
    return tool, call


def _claude_input(change: dict[str, Any]) -> dict[str, Any]:
    """What Claude's own tools are given, as far as the text of the change is known.

    ``content`` of a new file; ``old_string`` and ``new_string`` of one hunk; ``edits`` of several.
    Claude has no tool that deletes a file or changes many, so those have ``changes`` alone.
    """
    diff = as_str(change.get("diff"))
    if diff is None or change["kind"] == "delete":
        return {}
    if change["kind"] == "add":
        return {"content": diff}
    edits = hunks(diff)
    return edits[0] if len(edits) == 1 else {"edits": edits} if edits else {}


def hunks(diff: str) -> list[dict[str, Any]]:
    """The hunks of a change as pairs of texts: what stood there, and what stands there now."""
    found: list[tuple[list[str], list[str]]] = []
    for line in diff.removesuffix("\n").split("\n"):
        if line.startswith("@@") or not found:
            found.append(([], []))
            if line.startswith("@@"):
                continue
        old, new = found[-1]
        if line.startswith(("\\", "--- ", "+++ ")) and (line[0] == "\\" or not (old or new)):
            continue  # "No newline at end of file", and the names of the files
        if not line.startswith("+"):
            old.append(line[1:])
        if not line.startswith("-"):
            new.append(line[1:])
    return [
        {"old_string": "\n".join(old), "new_string": "\n".join(new)}
        for old, new in found
        if old or new
    ]


def _sorted(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # A map of changes has no order of its own, so a list must not have one either.
    return sorted(changes, key=lambda change: str(change["path"]))


def absolute(path: str, cwd: str | None) -> str:
    """The path as seen from the directory that the session works in, if that is known."""
    if cwd is None or path.startswith("/") or path[1:2] == ":":
        return path
    return posixpath.normpath(posixpath.join(cwd, path))


def directory(given: Any, cwd: str | None) -> str | None:
    """Where a call works: in the directory that it names, or in the session's own."""
    return absolute(given, cwd) if isinstance(given, str) and given else cwd
