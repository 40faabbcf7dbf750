"""What a run came to: the tables that are printed, and the same in docs/compatibility.md."""

from __future__ import annotations

from pathlib import Path

from stories import ALONE, DRIVEN
from subjects import SUBJECTS
from verdicts import LIMITED, Board

PAGE = Path(__file__).parents[2] / "docs" / "compatibility.md"
BEGIN = "<!-- made by tests/trials/run.py: begin -->\n"
END = "<!-- made by tests/trials/run.py: end -->\n"
_ALIKE = "sessions with equal messages live and from their file"


def tables(board: Board) -> str:
    """The tables, as the page shows them, and below each what the programs cannot do."""
    return "\n".join(part for table in (DRIVEN, ALONE) if (part := _table(board, table)))


def _table(board: Board, table: str) -> str:
    own = [each for each in board.verdicts.values() if each.table == table]
    if not own:
        return ""
    names = [name for name in SUBJECTS if any(each.subject == name for each in own)]
    heads = [f"{name} {board.releases.get(name, '')}".strip() for name in names]
    rows = [[table[0].upper() + table[1:], *heads], ["---"] * (len(names) + 1)]
    marks = {(each.subject, each.cell): each.mark for each in own}
    notes: dict[str, int] = {}
    for each in own:
        if each.mark == LIMITED:
            note = f"{each.subject}: {each.reason}"
            marks[each.subject, each.cell] += f" {notes.setdefault(note, len(notes) + 1)}"
    cells = dict.fromkeys(each.cell for each in own)
    rows += [[cell, *(marks.get((name, cell), "") for name in names)] for cell in cells]
    alike = [board.alike.get((name, table), []) for name in names]
    counts = [f"{sum(not each for each in some)}/{len(some)}" if some else "" for some in alike]
    if any(counts):
        rows.append([_ALIKE, *counts])
    lines = [f"| {' | '.join(row)} |\n" for row in rows]
    if notes:
        lines += ["\n", *(f"{number}. {note}\n" for note, number in notes.items())]
    return "".join(lines)


def section(text: str) -> str:
    """The part of the page that a run writes."""
    return text.partition(BEGIN)[2].partition(END)[0]


def replaced(text: str, made: str) -> str:
    """The page with this in place of what an earlier run wrote."""
    if BEGIN not in text or END not in text:
        raise ValueError(f"{PAGE} lacks the lines {BEGIN!r} and {END!r}")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}"
