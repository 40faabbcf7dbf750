"""The plan behind the ``todos`` table that the model keeps with SQL.

The program says that the table changed, not how. The statements say it: rows are followed through the plain ``INSERT``,
``UPDATE`` and ``DELETE`` that the model writes. A statement of another form leaves the plan as it was.
"""

from __future__ import annotations

import re
from typing import Final

from dragoman.model.messages import PlanStep, StepStatus

_INSERT: Final = re.compile(
    r"INSERT\s+(?:OR\s+\w+\s+)?INTO\s+todos\s*\(([^)]*)\)\s*VALUES\s*(.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_UPDATE: Final = re.compile(
    r"UPDATE\s+todos\s+SET\s+(.*?)(?:\s+WHERE\s+(.*))?\Z", re.IGNORECASE | re.DOTALL
)
_DELETE: Final = re.compile(
    r"DELETE\s+FROM\s+todos(?:\s+WHERE\s+(.*))?\Z", re.IGNORECASE | re.DOTALL
)
_TEXT: Final = r"'(?:[^']|'')*'"
_TOKEN: Final = re.compile(rf"{_TEXT}|[(),]|[^\s(),']+")
_STATEMENT: Final = re.compile(rf"(?:{_TEXT}|[^;'])+", re.DOTALL)
_SETTING: Final = re.compile(rf"(\w+)\s*=\s*({_TEXT}|[\w.]+)")
_IDS: Final = re.compile(rf"\bid\s*(?:=|IN)\s*\(?((?:\s*(?:{_TEXT}|\d+)\s*,?)+)", re.IGNORECASE)
_MOST: Final = 64 << 10
"""Longer statements are not looked at."""
_STATUSES: Final[dict[str, StepStatus]] = {
    "done": "completed",
    "completed": "completed",
    "in_progress": "in_progress",
}


class TodoTable:
    """The rows of the table, as far as the statements show them."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, str]] = {}

    def run(self, query: str) -> list[PlanStep] | None:
        """Follow the statements; the plan if they changed it."""
        if len(query) > _MOST:
            return None
        before = self._steps()
        for statement in _STATEMENT.findall(query):
            self._run(statement.strip())
        after = self._steps()
        return after if after != before else None

    def _steps(self) -> list[PlanStep]:
        return [
            PlanStep(
                row.get("title") or row.get("description") or name,
                _STATUSES.get(row.get("status", ""), "pending"),
            )
            for name, row in self._rows.items()
        ]

    def _run(self, statement: str) -> None:
        if found := _INSERT.match(statement):
            columns = [name.strip().lower() for name in found[1].split(",")]
            for values in _tuples(found[2]):
                row = dict(zip(columns, values, strict=False))
                self._rows[row.get("id", str(len(self._rows)))] = row
        elif found := _UPDATE.match(statement):
            settings = {name.lower(): _value(text) for name, text in _SETTING.findall(found[1])}
            for row in self._matching(found[2]):
                self._rows[row] |= settings
        elif found := _DELETE.match(statement):
            for row in self._matching(found[1]):
                del self._rows[row]

    def _matching(self, condition: str | None) -> list[str]:
        if condition is None:
            return list(self._rows)
        found = _IDS.search(condition)
        if found is not None:
            ids = {_value(token) for token in _TOKEN.findall(found[1]) if token not in "(),"}
            return [name for name in self._rows if name in ids]
        wanted = {name.lower(): _value(text) for name, text in _SETTING.findall(condition)}
        if not wanted:
            return []
        return [name for name, row in self._rows.items() if wanted.items() <= row.items()]


def _tuples(text: str) -> list[list[str]]:
    """The rows in ``('a', 'b'), ('c', 'd')``."""
    rows: list[list[str]] = []
    depth = 0
    for token in _TOKEN.findall(text):
        if token == "(":
            depth += 1
            if depth == 1:
                rows.append([])
        elif token == ")":
            depth -= 1
        elif token != "," and depth == 1:
            rows[-1].append(_value(token))
    return rows


def _value(token: str) -> str:
    return token[1:-1].replace("''", "'") if token.startswith("'") else token
