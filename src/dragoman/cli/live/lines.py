"""The live view without cursor control: the lines of the transcript, each when it is complete.

At a terminal, requests are printed in full when they arrive. The user's input is on its own line; if
other output interrupts it, the next key prints the line again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dragoman.cli.live import approvals
from dragoman.cli.live.cells import cells, tidy
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.out import Out
from dragoman.export.base import Options
from dragoman.export.text.exporter import TextExporter
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Prompt,
    SessionStarted,
)


class LineView:
    def __init__(self, out: Out, *, colour: bool, width: int, asks: bool = False) -> None:
        options = Options(include=frozenset({"deltas"}), color=colour, width=width)
        self._exporter = TextExporter(options)
        self._ink = Ink(colour=colour)
        self._out = out
        self._width = width
        self._asks = asks
        self._is_first = True
        self._roots: dict[str | None, str] = {}
        self._asked: set[str] = set()
        """The requests that were printed."""
        self._typed: str | None = None
        """The last printed input, if it is the last line on the screen."""
        self._entered = ""
        """The last entry. It is not printed again when the agent confirms it."""

    def show(self, message: Message) -> None:
        if isinstance(message, SessionStarted) and message.cwd:
            self._roots[message.session_id] = message.cwd
        if self._asks and isinstance(message, ApprovalRequested):
            self.ask(message, None)
        elif self._asks and isinstance(message, ApprovalSettled):
            self._lines([approvals.settled(message.decision, self._ink)])
        elif not (isinstance(message, Prompt) and message.text == self._entered):
            self._write(self._exporter.export([message]))

    def tick(self, now: float) -> None:
        pass

    def resize(self, width: int, height: int) -> None:
        self._width = width

    def hint(self, words: str) -> None:
        pass

    def footer(self, foot: Callable[[int], list[str]] | None) -> None:
        pass

    def ask(self, request: ApprovalRequested | None, below: Any) -> None:
        if request is None or request.approval_id in self._asked:
            return
        self._asked.add(request.approval_id)
        self.show_all(request)

    def show_all(self, request: ApprovalRequested) -> None:
        root = self._roots.get(request.session_id)
        self.write_rows(approvals.asked_rows(request, self._ink, self._width - 1, root).whole())

    def typing(self, line: str | None) -> None:
        before = self._typed
        if line is None:
            if before is not None:
                self._out.write("\n")
            self._typed = None
            return
        line = tidy(line).replace("\n", "␊")
        if before is None:
            self._out.write(line)
        elif line.startswith(before):
            self._out.write(line[len(before) :])
        elif before.startswith(line):
            self._out.write("\b \b" * cells(before[len(line) :]))
        else:
            self._out.write(f"\n{line}")
        self._typed = line

    def entered(self, text: str) -> None:
        self._entered = text

    def write_rows(self, rows: Sequence[str]) -> None:
        self._lines(rows if self._is_first else ["", *rows])

    def close(self) -> None:
        self._write(self._exporter.finish())

    def _lines(self, rows: Sequence[str]) -> None:
        self._write("".join(f"{line}\n" for line in rows).encode("utf-8", "backslashreplace"))

    def _write(self, data: bytes) -> None:
        if not data:
            return
        self._is_first = False
        if self._typed is not None:
            self.typing(None)
        self._out.write(data.decode("utf-8"))
