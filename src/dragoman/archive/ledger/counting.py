"""Summing the ledger up in a process beside us: our end of it, and the program that it runs.

For a server, which has readers to serve meanwhile. To count means to hold what every session has spent, all at
once and for a moment: that takes the interpreter from everybody else, and leaves the memory of a process that goes
on for weeks in pieces. This process is gone when it has answered, and with us (:mod:`dragoman.drive.process.helper`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from dragoman.archive.ledger.groups import By, Summary, summary
from dragoman.archive.ledger.ledger import EVERYTHING, Ledger, LedgerFilter
from dragoman.archive.places import ArchivePlace
from dragoman.drive.process import helper
from dragoman.errors import DragomanError

_MODULE: Final = "dragoman.archive.ledger.counting"
_SECONDS: Final = 600.0
_log = logging.getLogger(__name__)


class UsageQuery(msgspec.Struct, frozen=True):
    """What is to be summed up, and how."""

    by: By
    choice: LedgerFilter = EVERYTHING


class _CountRequest(msgspec.Struct):
    environment: dict[str, str]
    paths: tuple[str, ...]
    cache: str
    questions: list[UsageQuery]


def count(place: ArchivePlace, questions: Sequence[UsageQuery]) -> list[Summary]:
    """The answers, counted here and now."""
    cache = Path(place.index_folder, "usage.msgpack")
    ledger = Ledger.read(place.find(), cache=cache)
    return [summary(ledger, each.by, each.choice) for each in questions]


class CountingProcess:
    """Counts in a process of its own, or here where there can be none; one question after another."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._helper: helper.Helper | None = None
        self._is_over = False

    def count(self, place: ArchivePlace, questions: Sequence[UsageQuery]) -> list[Summary]:
        """As :func:`count`. May be called in any thread, and takes its time."""
        request = _CountRequest(place.environment, place.paths, place.cache, list(questions))
        try:
            beside = helper.Helper(_MODULE, helper.encode(request)) if helper.can_help() else None
        except OSError:
            beside = None  # no more processes, no more memory
        if beside is None:
            return count(place, questions)
        self._helper = beside
        try:
            is_done = not self._is_over and beside.wait(self._seconds)
        finally:
            beside.end()
        if self._is_over or not is_done:
            why = "was given up" if self._is_over else f"took more than {self._seconds:g} seconds"
            raise DragomanError(f"counting {why}")
        try:
            return msgspec.convert(json.loads(beside.answer), list[Summary])
        except ValueError:
            words = beside.answer.decode("utf-8", "replace")
            _log.warning("the process that counts is gone: %s", words or "it was ended")
            return count(place, questions)

    @property
    def pid(self) -> int | None:
        """The process that counts, or has counted last."""
        return self._helper.pid if self._helper is not None else None

    def end(self) -> None:
        """Nobody waits any more."""
        self._is_over = True
        if self._helper is not None:
            self._helper.end()


def main() -> None:
    """In that process."""
    request = msgspec.convert(json.loads(helper.begin()), _CountRequest)
    place = ArchivePlace.of(None, request.paths, request.cache, request.environment)
    helper.answer(helper.encode(count(place, request.questions)))


if __name__ == "__main__":
    main()
