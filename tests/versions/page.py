"""What a run came to: the table that is printed, and the same in docs/compatibility.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from releases import number
from scenarios import Scenario

PAGE = Path(__file__).parents[2] / "docs" / "compatibility.md"
BEGIN = "<!-- made by tests/versions/run.py: begin -->\n"
END = "<!-- made by tests/versions/run.py: end -->\n"
PASSED, REFUSED, FAILED = "✓", "·", "✗"
_TITLES = {
    "app-server": "Driven by `app-server`",
    "exec": "Driven by `exec`",
}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What came of one story with one release."""

    scenario: Scenario
    release: str
    mark: str
    reason: str = ""
    """Why it failed, or what it needs."""
    alike: int = 0
    """Sessions whose file tells what was told live."""
    sessions: int = 0
    unlike: list[str] = field(default_factory=list[str])
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        return self.mark != FAILED and not self.unlike


def tables(verdicts: list[Verdict]) -> str:
    """The tables, as the page shows them."""
    releases = sorted({verdict.release for verdict in verdicts}, key=number)
    parts: list[str] = []
    for mode, title in _TITLES.items():
        own = [verdict for verdict in verdicts if verdict.scenario.mode == mode]
        if own:
            parts.append(_table(title, own, releases))
    return "\n".join(parts)


def _table(title: str, verdicts: list[Verdict], releases: list[str]) -> str:
    names = dict.fromkeys(verdict.scenario.name for verdict in verdicts)
    marks = {(one.scenario.name, one.release): one.mark for one in verdicts}
    # The newest release that was refused says it best: older ones may lack the whole mode.
    refused = [one for one in verdicts if one.mark == REFUSED]
    refused.sort(key=lambda one: number(one.release))
    needs = {one.scenario.name: one.reason for one in refused}
    rows = [[title, *map(_short, releases), "needs"]]
    rows.append(["---"] * len(rows[0]))
    for name in names:
        row = [marks.get((name, release), "") for release in releases]
        rows.append([name, *row, needs.get(name, "")])
    alike = [
        (
            sum(one.alike for one in verdicts if one.release == release),
            sum(one.sessions for one in verdicts if one.release == release),
        )
        for release in releases
    ]
    told = [f"{same}/{all_}" if all_ else REFUSED for same, all_ in alike]
    rows.append(["sessions with equal messages live and from their file", *told, ""])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _short(release: str) -> str:
    return release.removesuffix(".0")


def section(text: str) -> str:
    """The part of the page that a run writes."""
    return text.partition(BEGIN)[2].partition(END)[0]


def replaced(text: str, made: str) -> str:
    """The page with this in place of what an earlier run wrote."""
    if BEGIN not in text or END not in text:
        raise ValueError(f"{PAGE} lacks the lines {BEGIN!r} and {END!r}")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}"
