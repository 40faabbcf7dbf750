"""Bringing the index up to date in a process beside us: our end of it, and the program that it runs.

It lives no longer than we do (:mod:`dragoman.drive.process.helper`). How far it is, it says in the index's lock, where every
other program can read it, too; what came of it, in its answer.
"""

from __future__ import annotations

import json

import msgspec

from dragoman.archive.index.updating import IndexReport
from dragoman.archive.places import ArchivePlace
from dragoman.drive.process import helper
from dragoman.errors import DragomanError

_MODULE = "dragoman.archive.index.background"


class _IndexRequest(msgspec.Struct):
    environment: dict[str, str]
    paths: tuple[str, ...]
    cache: str


class _IndexAnswer(msgspec.Struct):
    unreadable: list[tuple[str, str]] = []
    waited_for: int | None = None
    problem: str | None = None


class IndexOutcome(msgspec.Struct, frozen=True):
    """What came of it."""

    report: IndexReport
    problem: str | None
    """Why it had to stop, as a sentence."""
    has_answered: bool = True
    """Whether the process itself said so, rather than being gone without a word."""


class IndexProcess:
    """The process, while it works."""

    def __init__(self, place: ArchivePlace) -> None:
        request = _IndexRequest(place.environment, place.paths, place.cache)
        self._helper = helper.Helper(_MODULE, helper.encode(request))

    @property
    def pid(self) -> int:
        return self._helper.pid

    def wait(self, seconds: float) -> IndexOutcome | None:
        """Wait no longer than this; None while it works."""
        if not self._helper.wait(seconds):
            return None
        try:
            answer = msgspec.convert(json.loads(self._helper.answer), _IndexAnswer)
        except ValueError:
            words = self._helper.answer.decode("utf-8", "replace")
            return IndexOutcome(IndexReport(), words or "it was ended", has_answered=False)
        report = IndexReport(unreadable=tuple(answer.unreadable), waited_for=answer.waited_for)
        return IndexOutcome(report, answer.problem)

    def end(self) -> None:
        """End it. What it has done is kept."""
        self._helper.end()


def start(place: ArchivePlace) -> IndexProcess | None:
    """Start it; None where that cannot be done."""
    if not helper.can_help():
        return None
    try:
        return IndexProcess(place)
    except OSError:
        return None  # no more processes, no more memory: then we do it ourselves


def main() -> None:
    """In that process."""
    from dragoman.archive.index.keeping import IndexKeeper

    request = msgspec.convert(json.loads(helper.begin()), _IndexRequest)
    answer = _IndexAnswer()
    try:
        keeper = IndexKeeper(
            ArchivePlace.of(None, request.paths, request.cache, request.environment)
        )
        if keeper.database.path is None:
            answer.problem = keeper.note
        elif (report := keeper.index()) is not None:
            answer.unreadable = list(report.unreadable)
            answer.waited_for = report.waited_for
    except (DragomanError, OSError) as problem:
        answer.problem = str(problem)
    helper.answer(helper.encode(answer))


if __name__ == "__main__":
    main()
