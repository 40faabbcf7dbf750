"""Changes to files as HTML: one part per file, with line numbers if the hunks have them.

======================  =====================================================================
class                   what
======================  =====================================================================
``diff``                one file: a ``details`` with its name, kind and counts in the summary
``path kind plus minus``  what is in that summary
``hunks``               the lines; each is a ``span``: ``add``, ``del``, ``hunk`` or ``same``,
                        with its old and new number in ``data-o`` and ``data-n``
``word``                the part of a line that differs from the line it replaces
======================  =====================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dragoman.html.pieces import EMPTY, Html, clipped, element, folded, joined, text
from dragoman.rendering import render

OPEN_LINES: Final = 160
"""A change to a file with more lines is folded."""
MOST_LINES: Final = 4000
"""The most lines of a change to one file on a page."""

LONGEST_LINE: Final = 5000

_HUNK: Final = re.compile(r"@@ -(\d{1,9})(?:,\d+)? \+(\d{1,9})(?:,\d+)? @@")
_FILE: Final = re.compile(r'diff --git "?a/(?P<old>.*?)"? "?b/(?P<new>.*?)"?$')


def changes(files: Sequence[render.Change]) -> Html:
    return joined(change(each) for each in files)


def change(file: render.Change, before: Html = EMPTY, after: Html = EMPTY) -> Html:
    """A change to one file; ``before`` and ``after`` surround its name and counts."""
    plus = sum(line.startswith("+") for line in file.lines)
    minus = sum(line.startswith("-") for line in file.lines)
    kind = {"update": "changed", "add": "new", "write": "new", "delete": "deleted"}
    title = joined(
        [
            before,
            element("span", file.path, class_="path"),
            element("span", kind.get(file.kind, file.kind), class_="kind"),
            element("span", f"+{plus}", class_="plus") if plus else "",
            element("span", f"\u2212{minus}", class_="minus") if minus else "",
            after,
        ],
        " ",
    )
    if not file.lines:
        return element("div", title, class_="diff empty")
    shown = [clipped(line, LONGEST_LINE) for line in file.lines[:MOST_LINES]]
    beyond = len(file.lines) - len(shown)
    more = element("p", f"… {beyond:,} more lines left out", class_="left-out") if beyond else ""
    body = element("pre", *_lines(shown, is_new=file.kind in ("add", "write")), class_="hunks")
    return folded(title, body, more, class_="diff", is_open=len(file.lines) <= OPEN_LINES)


def split(unified: str) -> list[render.Change]:
    """A unified diff, file by file."""
    files: list[render.Change] = []
    is_head = False
    for line in render.harmless(unified.rstrip("\n")).split("\n"):
        if begin := _FILE.match(line):
            old, new = begin["old"], begin["new"]
            files.append(render.Change(new if old == new else f"{old} → {new}", "update", []))
            is_head = True
        elif not files:
            if line.startswith("--- "):
                continue
            name = line[4:].removeprefix("b/") if line.startswith("+++ ") else ""
            files.append(render.Change(name, "update", [] if name else [line]))
        elif is_head and not line.startswith("@@"):
            files[-1] = _with_header(files[-1], line)
        else:
            is_head = False
            files[-1].lines.append(line)
    return files


def _with_header(file: render.Change, line: str) -> render.Change:
    """Apply a header line of a diff to its file."""
    if line.startswith("new file"):
        return render.Change(file.path, "add", file.lines)
    if line.startswith("deleted file"):
        return render.Change(file.path, "delete", file.lines)
    if line.startswith("Binary files"):
        return render.Change(file.path, "binary", file.lines)
    return file


def _lines(lines: Sequence[str], *, is_new: bool) -> Iterator[Html]:
    old, new = (None, 1) if is_new else (None, None)
    at = 0
    while at < len(lines):
        line = lines[at]
        if hunk := _HUNK.match(line):
            old, new = int(hunk[1]), int(hunk[2])
        if line.startswith("@@"):
            yield _line("hunk", text(line))
            at += 1
        elif line.startswith("-"):
            removed = _run(lines, at, "-")
            added = _run(lines, at + len(removed), "+")
            marked = _marked(removed, added)
            for mark in marked[: len(removed)]:
                yield _line("del", mark, old=old)
                old = _next(old)
            for mark in marked[len(removed) :]:
                yield _line("add", mark, new=new)
                new = _next(new)
            at += len(marked)
        elif line.startswith("+"):
            yield _line("add", text(line), new=new)
            new = _next(new)
            at += 1
        else:
            is_same = not line.startswith("\\")
            yield _line("same", text(line), old if is_same else None, new if is_same else None)
            old, new = (_next(old), _next(new)) if is_same else (old, new)
            at += 1


def _line(kind: str, shown: Html, old: int | None = None, new: int | None = None) -> Html:
    numbers = (None if number is None else str(number) for number in (old, new))
    data_o, data_n = numbers
    return element(
        "span", shown or Html(" "), Html("\n"), class_=kind, data_o=data_o, data_n=data_n
    )


def _next(number: int | None) -> int | None:
    return None if number is None else number + 1


def _run(lines: Sequence[str], at: int, sign: str) -> list[str]:
    end = at
    while end < len(lines) and lines[end].startswith(sign):
        end += 1
    return list(lines[at:end])


def _marked(removed: list[str], added: list[str]) -> list[Html]:
    """The lines, with the differences marked where one line replaces one line."""
    if len(removed) != len(added):
        return [text(line) for line in (*removed, *added)]
    pairs = [_pair(old[1:], new[1:]) for old, new in zip(removed, added, strict=True)]
    return [joined(["-", old]) for old, _ in pairs] + [joined(["+", new]) for _, new in pairs]


def _pair(old: str, new: str) -> tuple[Html, Html]:
    shorter = min(len(old), len(new))
    if not 0 < max(len(old), len(new)) < 1000:
        return text(old), text(new)
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    if 3 * (head + tail) < max(len(old), len(new)):
        return text(old), text(new)
    return _word(old, head, tail), _word(new, head, tail)


def _word(line: str, head: int, tail: int) -> Html:
    end = len(line) - tail
    word = element("span", line[head:end], class_="word") if end > head else ""
    return joined([line[:head], word, line[end:]])
