"""Compute usage summaries in a separate process: the client side, and the program it runs.

This is for servers. Counting holds the usage of every session in memory at once, which blocks the
interpreter for other requests and fragments the memory of a long-running process. The separate
process ends after its answer, or with its parent (:mod:`dragoman.drive.process.helper`).
"""

from __future__ import annotations

import json
import logging
import os
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
    """What to sum up, and how to group it."""

    by: By
    choice: LedgerFilter = EVERYTHING


class _CountRequest(msgspec.Struct):
    homes: dict[str, str]
    paths: tuple[str, ...]
    cache: str
    questions: list[UsageQuery]


def count(place: ArchivePlace, questions: Sequence[UsageQuery]) -> list[Summary]:
    """Compute the summaries in this process."""
    cache = Path(place.index_folder, "usage.msgpack")
    ledger = Ledger.read(place.find(), cache=cache)
    return [summary(ledger, each.by, each.choice) for each in questions]


class CountingProcess:
    """Counts in a separate process, or in this one if that is impossible; one request at a time."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._helper: helper.Helper | None = None
        self._is_over = False

    def count(self, place: ArchivePlace, questions: Sequence[UsageQuery]) -> list[Summary]:
        """Do the same as :func:`count`, in the separate process. Blocks; call it from any thread."""
        request = _CountRequest(place.home_folders, place.paths, place.cache, list(questions))
        try:
            beside = helper.Helper(_MODULE, helper.encode(request)) if helper.can_help() else None
        except OSError:
            beside = None  # no process or memory available
        if beside is None:
            return count(place, questions)
        self._helper = beside
        try:
            is_done = not self._is_over and beside.wait(self._seconds)
        finally:
            beside.end()
        if self._is_over or not is_done:
            why = "was cancelled" if self._is_over else f"took more than {self._seconds:g} seconds"
            raise DragomanError(f"counting {why}")
        try:
            return msgspec.convert(json.loads(beside.answer), list[Summary])
        except ValueError:
            words = beside.answer.decode("utf-8", "replace")
            _log.warning("the counting process died: %s", words or "it was killed")
            return count(place, questions)

    @property
    def pid(self) -> int | None:
        """The process that is counting, or counted last."""
        return self._helper.pid if self._helper is not None else None

    def end(self) -> None:
        """Stop counting. The pending call raises."""
        self._is_over = True
        if self._helper is not None:
            self._helper.end()


def main() -> None:
    """Answer one request; this is the entry point of the separate process."""
    request = msgspec.convert(json.loads(helper.begin()), _CountRequest)
    place = ArchivePlace.of(None, request.paths, request.cache, os.environ, request.homes)
    helper.answer(helper.encode(count(place, request.questions)))


if __name__ == "__main__":
    main()
