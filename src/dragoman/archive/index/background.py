"""Update the index in a separate process: the client side, and the program it runs.

The process ends with its parent (:mod:`dragoman.drive.process.helper`). It publishes its progress
in the index's lock file, where every process can read it, and returns its result as an answer.
"""

from __future__ import annotations

import json
import os

import msgspec

from dragoman.archive.index.updating import IndexReport
from dragoman.archive.places import ArchivePlace
from dragoman.drive.process import helper
from dragoman.errors import DragomanError

_MODULE = "dragoman.archive.index.background"


class _IndexRequest(msgspec.Struct):
    homes: dict[str, str]
    paths: tuple[str, ...]
    cache: str


class _IndexAnswer(msgspec.Struct):
    unreadable: list[tuple[str, str]] = []
    waited_for: int | None = None
    problem: str | None = None


class IndexOutcome(msgspec.Struct, frozen=True):
    """The result of a background update."""

    report: IndexReport
    problem: str | None
    """Why it had to stop, as a sentence."""
    has_answered: bool = True
    """Whether the process reported this itself, rather than dying without an answer."""


class IndexProcess:
    """A running background update."""

    def __init__(self, place: ArchivePlace) -> None:
        request = _IndexRequest(place.home_folders, place.paths, place.cache)
        self._helper = helper.Helper(_MODULE, helper.encode(request))

    @property
    def pid(self) -> int:
        return self._helper.pid

    def wait(self, seconds: float) -> IndexOutcome | None:
        """Wait up to ``seconds`` for the outcome; None while it is running."""
        if not self._helper.wait(seconds):
            return None
        try:
            answer = msgspec.convert(json.loads(self._helper.answer), _IndexAnswer)
        except ValueError:
            words = self._helper.answer.decode("utf-8", "replace")
            return IndexOutcome(IndexReport(), words or "it was killed", has_answered=False)
        report = IndexReport(unreadable=tuple(answer.unreadable), waited_for=answer.waited_for)
        return IndexOutcome(report, answer.problem)

    def end(self) -> None:
        """Stop the process. What it has committed is kept."""
        self._helper.end()


def start(place: ArchivePlace) -> IndexProcess | None:
    """Start a background update; None if that is impossible."""
    if not helper.can_help():
        return None
    try:
        return IndexProcess(place)
    except OSError:
        return None  # no process or memory available: the caller does the work


def main() -> None:
    """Run the update; this is the entry point of the separate process."""
    from dragoman.archive.index.keeping import IndexKeeper

    request = msgspec.convert(json.loads(helper.begin()), _IndexRequest)
    answer = _IndexAnswer()
    try:
        keeper = IndexKeeper(
            ArchivePlace.of(None, request.paths, request.cache, os.environ, request.homes)
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
