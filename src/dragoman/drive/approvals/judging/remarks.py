"""Report which allow rules cover less, or more, than their author may expect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from dragoman.drive.approvals.judging.rule import Rule
from dragoman.drive.approvals.shell.interpreters import INTERPRETERS
from dragoman.drive.approvals.shell.programs import LAUNCHERS, SHELLS, names, program

_PROJECT: Final = names(
    "make gmake just rake npm pnpm yarn bun cargo go gradle mvn ant tox nox composer mix sbt dotnet swift"
)


def remarks(rules: Iterable[Rule]) -> Iterator[str]:
    """Yield a sentence for each such rule."""
    for number, each in enumerate(rules, 1):
        if not each.allows:
            continue
        title = f"rule {each.name!r}" if each.name else f"rule {number}"
        alone = {program(words[0]): words[0] for words in each.command if len(words) == 1}
        runners = INTERPRETERS if not each.path else frozenset[str]()
        for found, what, way in (
            (runners, "run any file", "name the file, or add a path"),
            (SHELLS | LAUNCHERS.keys(), "run any command", "name the command, too"),
        ):
            given = [word for name, word in alone.items() if name in found]
            if given:
                yield f"{title}: {_list(given)} can {what}, so this rule allows next to nothing: {way}"
        given = [word for name, word in alone.items() if name in _PROJECT]
        if given:
            yield f"{title}: {_list(given)} runs what the project's files say, and an agent may edit those"


def _list(words: list[str]) -> str:
    shown = [*words[:4], "others"] if len(words) > 5 else words
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
