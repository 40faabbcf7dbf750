"""The changes to files that a call of Edit or Write made, in one shape, whichever harness it comes from.

Harnesses report an edit as ``changes`` with diffs, as ``content`` of a file, as ``old_string`` and
``new_string``, or as several ``edits`` of one file.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from dragoman.model.messages import ToolCall
from dragoman.model.tools import EDIT, WRITE
from dragoman.wire.loose import as_dict, as_list, as_str

FileEditKind: TypeAlias = Literal["add", "update", "delete"]


class Hunk(msgspec.Struct, frozen=True):
    """Lines that were replaced."""

    old: str
    new: str


class FileEdit(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to one file."""

    path: str
    kind: FileEditKind
    content: str = ""
    """The content of an added file."""
    hunks: tuple[Hunk, ...] = ()
    move_path: str | None = None


def changes_in(call: ToolCall) -> list[FileEdit] | None:
    """Return what an Edit or Write changed; None if its input does not say."""
    given = call.input
    if call.tool not in (EDIT, WRITE):
        return None
    listed = as_list(given.get("changes"))
    if listed:
        changes = [_listed(as_dict(each)) for each in listed]
        return None if None in changes else [each for each in changes if each is not None]
    path = as_str(given.get("file_path"))
    if not path:
        return None
    content = as_str(given.get("content"))
    if content is not None:
        return [FileEdit(path=path, kind="add", content=content)]
    edits = as_list(given.get("edits")) or [given]
    hunks = [_hunk(as_dict(each)) for each in edits]
    if not hunks or None in hunks:
        return None
    return [FileEdit(path=path, kind="update", hunks=tuple(each for each in hunks if each))]


def _hunk(given: dict[str, Any]) -> Hunk | None:
    old, new = as_str(given.get("old_string")), as_str(given.get("new_string"))
    return Hunk(old, new) if old is not None and new is not None else None


def _listed(change: dict[str, Any]) -> FileEdit | None:
    path, kind = as_str(change.get("path")), as_str(change.get("kind"))
    diff = as_str(change.get("diff"))
    move_path = as_str(change.get("move_path"))
    if not path:
        return None
    if kind == "add":
        return FileEdit(path=path, kind="add", content=diff or "")
    if kind == "delete":
        return FileEdit(path=path, kind="delete", content=diff or "")
    hunks = tuple(_hunks(diff)) if diff else ()
    if not hunks and move_path is None:
        return None
    return FileEdit(path=path, kind="update", hunks=hunks, move_path=move_path)


def _hunks(diff: str) -> list[Hunk]:
    """The hunks of a unified diff, with or without the names of the files."""
    found: list[tuple[list[str], list[str]]] = []
    for line in diff.removesuffix("\n").split("\n"):
        if line.startswith("@@") or not found:
            found.append(([], []))
            if line.startswith("@@"):
                continue
        old, new = found[-1]
        if line.startswith("\\") or (not (old or new) and line.startswith(("--- ", "+++ "))):
            continue
        if not line.startswith("+"):
            old.append(line[1:])
        if not line.startswith("-"):
            new.append(line[1:])
    return [Hunk("\n".join(old), "\n".join(new)) for old, new in found if old or new]
