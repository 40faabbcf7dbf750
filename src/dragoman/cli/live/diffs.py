"""File changes as terminal rows: numbered lines in red and green."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from dragoman.cli.live.cells import cells, clip, counted, tidy, wrap
from dragoman.cli.live.ink import GUTTER, Hue, Ink
from dragoman.rendering.render import Change

_HUNK: Final = re.compile(r"@@+ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@+")
_HEADS: Final = ("--- ", "+++ ", "diff --git ", "index ", "new file mode", "deleted file mode")
_HUES: Final[dict[str, tuple[Hue, ...]]] = {"+": ("green",), "-": ("red",)}
_KINDS: Final = {"add": "new file", "write": "new file", "delete": "deleted", "update": ""}


class _DiffLine(NamedTuple):
    sign: str
    number: int | None
    text: str


def title(change: Change, ink: Ink, width: int, root: str | None = None) -> str:
    """``± greet.py  +1 -1``."""
    path = change.path.removeprefix(f"{root}/") if root else change.path
    shown = ink(clip(path, _path_room(change, width)), "bold")
    return " ".join([ink("±", "cyan", "bold"), shown, *filter(None, [_counts(change, ink)])])


def _path_room(change: Change, width: int) -> int:
    """The room between the mark before the path and the counts after it."""
    return max(8, width - 3 - cells(_counts(change, Ink(colour=False))))


def _counts(change: Change, ink: Ink) -> str:
    added, removed = (sum(line.sign == sign for line in _lines(change.lines)) for sign in "+-")
    count = [ink(f"+{added}", "green")] * bool(added) + [ink(f"-{removed}", "red")] * bool(removed)
    kind = clip(_KINDS.get(change.kind, change.kind), 12)
    return " ".join(count + [ink(kind, "dim")] * bool(kind))


def _marked(mark: str, rows: list[str]) -> list[tuple[str, str]]:
    return [(mark if number == 0 else " ", row) for number, row in enumerate(rows)]


def whole_title(change: Change, ink: Ink, width: int, root: str | None = None) -> list[str]:
    """Like :func:`title`, but with the whole path, wrapped."""
    short = title(change, ink, width, root)
    path = change.path.removeprefix(f"{root}/") if root else change.path
    if clip(path, _path_room(change, width)) == path:
        return [short]
    rows = [ink(f"{mark} {row}", "bold") for mark, row in _marked("±", wrap(path, width - 2))]
    return [*rows, *([f"  {tail}"] if (tail := _counts(change, ink)) else [])]


def whole_body(change: Change, ink: Ink, width: int) -> list[str]:
    """All changed lines, wrapped instead of cut."""
    lines = list(_lines(change.lines))
    digits = _digits(lines)
    return [row for line in lines for row in _rows(line, ink, width, digits)]


def body(change: Change, ink: Ink, width: int, most: int) -> list[str]:
    """The changed lines with their context, ``most`` lines at most."""
    lines = list(_lines(change.lines))
    digits = _digits(lines)
    shown = [_row(line, ink, width, digits) for line in lines[:most]]
    if len(lines) > most:
        shown.append(ink.gutter(f"… {counted(len(lines) - most, 'more line')}", "dim"))
    return shown


def unified(text: str, ink: Ink, width: int) -> list[str]:
    """A unified diff of several files, coloured."""
    shown: list[str] = []
    for line in tidy(text.rstrip("\n")).split("\n"):
        if line.startswith(_HEADS):
            shown.append(ink(clip(line, width), "bold"))
        elif line.startswith("@@"):
            shown.append(ink(clip(line, width), "cyan"))
        else:
            shown.append(ink(clip(line, width), *_HUES.get(line[:1], ())))
    return shown


def _digits(lines: list[_DiffLine]) -> int:
    return max((len(str(line.number)) for line in lines if line.number), default=0)


def _rows(line: _DiffLine, ink: Ink, width: int, digits: int) -> list[str]:
    """A changed line, wrapped."""
    room = width - len(GUTTER) - (digits + 1) * bool(digits) - 2
    first, *rest = wrap(line.text, room)
    return [
        _row(line._replace(text=first), ink, width, digits),
        *(_row(line._replace(text=row, number=None), ink, width, digits) for row in rest),
    ]


def _row(line: _DiffLine, ink: Ink, width: int, digits: int) -> str:
    number = f"{line.number:>{digits}} " if line.number else " " * (digits + 1) * bool(digits)
    text = clip(f"{line.sign} {line.text}", width - len(GUTTER) - len(number))
    if line.sign == "⋮":
        return ink.gutter(number, "dim") + ink("⋮", "dim")
    return ink.gutter(number, "dim") + ink(text, *_HUES.get(line.sign, ()))


def _lines(diff: list[str]) -> Iterator[_DiffLine]:
    """The lines of a diff, numbered from its hunk headers."""
    old = new = 0
    numbered = is_first = True
    if diff and not any(_HUNK.match(line) for line in diff):
        # New and deleted files list all their lines; a bare replacement has no line numbers.
        signs = {line[:1] for line in diff}
        old = new = 1
        numbered = len(signs) == 1 and bool(signs & {"+", "-"})
    for line in diff:
        if found := _HUNK.match(line):
            old, new = int(found[1]), int(found[2])
            if not is_first:
                yield _DiffLine("⋮", None, "")
            is_first = False
            continue
        if line.startswith(("@@", "\\ ")) or (is_first and line.startswith(_HEADS)):
            continue
        is_first = False
        sign, text = line[:1] or " ", line[1:].expandtabs(4)
        match sign:
            case "+":
                yield _DiffLine("+", new if numbered else None, text)
                new += 1
            case "-":
                yield _DiffLine("-", old if numbered else None, text)
                old += 1
            case " ":
                yield _DiffLine(" ", new if numbered else None, text)
                old, new = old + 1, new + 1
            case _:
                yield _DiffLine(" ", None, line)
