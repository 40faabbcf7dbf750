"""The live view: shows messages as they arrive, on a terminal or in a pipe.

On a terminal, the last rows are updated in place (see :mod:`dragoman.cli.live.view`). In a pipe, or with
``NO_COLOR`` or ``TERM=dumb``, the messages become plain lines without control characters (see
:mod:`dragoman.cli.live.lines`). Interactivity is separate: the user can be asked at any terminal, with or
without colours.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TextIO, TypeAlias

from dragoman.cli.live.out import Out
from dragoman.cli.streams import terminal_size
from dragoman.model.messages import ApprovalRequested, Message

Below: TypeAlias = Callable[[int, int, bool], list[str]]
"""Makes the rows below a request, from the width, the most rows, and whether the request was cut."""
Foot: TypeAlias = Callable[[int], list[str]]
"""Makes the footer for a width."""


class _View(Protocol):
    def show(self, message: Message) -> None: ...
    def tick(self, now: float) -> None: ...
    def resize(self, width: int, height: int) -> None: ...
    def hint(self, words: str) -> None: ...
    def footer(self, foot: Foot | None) -> None: ...
    def ask(self, request: ApprovalRequested | None, below: Below | None) -> None: ...
    def show_all(self, request: ApprovalRequested) -> None: ...
    def typing(self, line: str | None) -> None: ...
    def entered(self, text: str) -> None: ...
    def write_rows(self, rows: Sequence[str]) -> None: ...
    def close(self) -> None: ...


class LiveView:
    """Shows messages as they arrive. Has no clock: the caller passes the time to :meth:`tick`."""

    def __init__(
        self,
        out: TextIO,
        *,
        colour: bool,
        width: int,
        height: int = 24,
        animate: bool,
        interactive: bool | None = None,
    ) -> None:
        self.animate = animate
        """Whether rows are updated after they were written."""
        self.interactive = animate if interactive is None else interactive
        """Whether a user can be asked."""
        self.colour = colour
        self.width = width
        self._foot: Foot | None = None
        self._out = Out(out)
        self._made: _View | None = None
        if animate:
            from dragoman.cli.live.view import TerminalView

            self._made = TerminalView(self._out, colour=colour, width=width, height=height)

    @property
    def _view(self) -> _View:
        # Lines have nothing to show until there is a message, and the agent starts before they are imported.
        if self._made is None:
            from dragoman.cli.live.lines import LineView

            self._made = LineView(
                self._out, colour=self.colour, width=self.width, asks=self.interactive
            )
        return self._made

    @property
    def is_lost(self) -> bool:
        """Whether the terminal is gone."""
        return self._out.is_lost

    def lose(self) -> None:
        """Stop writing, because the terminal is gone."""
        self._out.lose()

    def on_lost(self, call: Callable[[], None] | None) -> None:
        """Set a callback for when the terminal is gone. Called at once if it already is."""
        self._out.on_lost = call
        if self._out.is_lost and call is not None:
            call()

    @property
    def footed(self) -> list[str]:
        """The rows of the current footer."""
        return self._foot(self.width - 1) if self._foot is not None else []

    def show(self, message: Message) -> None:
        """Show a message."""
        self._view.show(message)

    def tick(self, now: float) -> None:
        """Advance the time, in seconds since any fixed moment."""
        if self._made is not None:
            self._made.tick(now)

    def measure(self) -> None:
        """Read the size of the terminal again."""
        size = self._out.size()
        self.resize(size.columns, size.lines)

    def resize(self, width: int, height: int) -> None:
        """Adapt to a new size of the terminal."""
        self.width = width
        if self._made is not None:
            self._made.resize(width, height)

    def hint(self, words: str) -> None:
        """Set the hint after the spinner: what the user can do now."""
        if self._made is not None:
            self._made.hint(words)

    def footer(self, foot: Sequence[str] | Foot) -> None:
        """Set the rows below everything else, such as the user's input."""
        if callable(foot):
            self._foot = foot
        else:
            rows = list(foot)
            self._foot = (lambda width: rows) if rows else None
        if self._made is not None:
            self._made.footer(self._foot)

    def ask(self, request: ApprovalRequested | None, below: Below | None = None) -> None:
        """Show a request with these rows below it, or remove it when it is settled (None).

        The request stays on the screen during other output, and hides the footer.
        """
        self._view.ask(request, below)

    def show_all(self, request: ApprovalRequested) -> None:
        """Write a request in full that did not fit on the screen."""
        self._view.show_all(request)

    def typing(self, line: str | None) -> None:
        """Update the input line; None when it was entered. Only without cursor control."""
        self._view.typing(line)

    def entered(self, text: str) -> None:
        """Note a prompt that the user entered: a view that still shows it does not repeat it."""
        self._view.entered(text)

    def write_rows(self, rows: Sequence[str]) -> None:
        """Show rows of Dragoman itself. They must be free of control characters."""
        self._view.write_rows(rows)

    def close(self) -> None:
        """Write out partial text, and restore the terminal."""
        if self._made is not None:
            self._made.close()


def view_for(out: TextIO, env: Mapping[str, str] | None = None) -> LiveView:
    """The view for a stream: with cursor control and colours only where the terminal supports both."""
    env = os.environ if env is None else env
    is_terminal = out.isatty()
    lively = is_terminal and not env.get("NO_COLOR") and env.get("TERM") != "dumb"
    size = terminal_size(out)
    return LiveView(
        out,
        colour=lively,
        width=size.columns,
        height=size.lines,
        animate=lively,
        interactive=is_terminal,
    )
