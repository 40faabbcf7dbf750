"""The language of ``apply_patch``: changes to files, read and written.

One agent takes a patch whole, another wants one call for each change. So a patch can be taken apart, and
a file or a single change can be put into one.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class FileChange(msgspec.Struct, frozen=True):
    """What a patch does to one file."""

    kind: Literal["add", "update", "delete"]
    path: str
    text: str = ""
    """The file, where it is added."""
    hunks: tuple[tuple[str, str], ...] = ()
    """What is replaced by what, where it is updated."""
    moved_to: str | None = None


_HEADS: dict[str, Literal["add", "update", "delete"]] = {
    "*** Add File: ": "add",
    "*** Update File: ": "update",
    "*** Delete File: ": "delete",
}
_MOVE = "*** Move to: "


def changes_of(patch: str) -> list[FileChange]:
    """The changes that a patch makes, file by file; lines that are not of the language are left out."""
    changes: list[FileChange] = []
    body: list[str] = []
    head: tuple[Literal["add", "update", "delete"], str] | None = None
    for line in [*patch.strip("\n").split("\n"), "*** End Patch"]:
        opened = next((name for name in _HEADS if line.startswith(name)), None)
        if opened is None and not line.startswith(("*** Begin Patch", "*** End Patch")):
            body.append(line)
            continue
        if head is not None:
            changes.append(_change(*head, body))
        head = (_HEADS[opened], line.removeprefix(opened).strip()) if opened else None
        body = []
    return changes


def _change(kind: Literal["add", "update", "delete"], path: str, body: list[str]) -> FileChange:
    moved = next(
        (line.removeprefix(_MOVE).strip() for line in body if line.startswith(_MOVE)), None
    )
    if kind == "add":
        return FileChange(kind, path, "".join(f"{line[1:]}\n" for line in body if line[:1] == "+"))
    hunks: list[tuple[list[str], list[str]]] = []
    for line in body:
        if line.startswith("*** "):
            continue
        if line.startswith("@@") or not hunks:
            hunks.append(([], []))
            if line.startswith("@@"):
                continue
        old, new = hunks[-1]
        if line[:1] in ("-", " ", ""):
            old.append(line[1:])
        if line[:1] in ("+", " ", ""):
            new.append(line[1:])
    pairs = [("\n".join(old), "\n".join(new)) for old, new in hunks if old or new]
    return FileChange(kind, path, hunks=tuple(pairs), moved_to=moved)


def patch_that_writes(path: str, text: str) -> str:
    """A patch that makes a file."""
    return _patch(f"*** Add File: {path}", *(f"+{line}" for line in _lines(text)))


def patch_that_edits(path: str, old: str, new: str) -> str:
    """A patch that replaces whole lines of a file."""
    gone, come = (f"-{line}" for line in _lines(old)), (f"+{line}" for line in _lines(new))
    return _patch(f"*** Update File: {path}", "@@", *gone, *come)


def _patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
