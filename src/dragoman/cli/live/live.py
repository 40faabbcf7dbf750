"""The live view: messages as they come, for a terminal or for a pipe.

On a terminal, the last rows move (see :mod:`dragoman.cli.live.view`). Where nothing can or must move,
into a pipe, or with ``NO_COLOR`` or ``TERM=dumb``, the same messages make plain lines without a control
character (see :mod:`dragoman.cli.live.lines`). Whether someone can be asked is another matter: at any
terminal, with or without colours.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TextIO, TypeAlias

from dragoman.cli.live.lines import LineView
from dragoman.cli.live.out import Out
from dragoman.cli.live.view import TerminalView
from dragoman.cli.streams import terminal_size
from dragoman.model.messages import ApprovalRequested, Message

Below: TypeAlias = Callable[[int, int, bool], list[str]]
"""What stands below a question: for a width, for at most so many rows, and if the question was cut."""
Foot: TypeAlias = Callable[[int], list[str]]
"""What stands at the very end, for a width."""


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
    def say(self, rows: Sequence[str]) -> None: ...
    def close(self) -> None: ...


class LiveView:
    """Shows messages as they come. Has no clock: :meth:`tick` tells it the time."""

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
        """Whether the cursor is moved: rows change after they were written."""
        self.interactive = animate if interactive is None else interactive
        """Whether someone is there to be asked."""
        self.colour = colour
        self.width = width
        self._foot: Foot | None = None
        self._out = Out(out)
        self._view: _View = (
            TerminalView(self._out, colour=colour, width=width, height=height)
            if animate
            else LineView(self._out, colour=colour, width=width, asks=self.interactive)
        )

    @property
    def is_lost(self) -> bool:
        """Whether the terminal has gone away."""
        return self._out.is_lost

    def lose(self) -> None:
        """The terminal has gone away: nothing is written to it any more."""
        self._out.lose()

    def on_lost(self, call: Callable[[], None] | None) -> None:
        """Who is told that the terminal has gone away; at once if it has already."""
        self._out.on_lost = call
        if self._out.is_lost and call is not None:
            call()

    @property
    def footed(self) -> list[str]:
        """What stands at the very end now."""
        return self._foot(self.width - 1) if self._foot is not None else []

    def show(self, message: Message) -> None:
        """Something was said."""
        self._view.show(message)

    def tick(self, now: float) -> None:
        """Time went by: it is so many seconds after any moment you like."""
        self._view.tick(now)

    def measure(self) -> None:
        """See how large the terminal is now."""
        size = self._out.size()
        self.resize(size.columns, size.lines)

    def resize(self, width: int, height: int) -> None:
        """The terminal has another size now."""
        self.width = width
        self._view.resize(width, height)

    def hint(self, words: str) -> None:
        """What the user can do now, for the end of the spinner's line."""
        self._view.hint(words)

    def footer(self, foot: Sequence[str] | Foot) -> None:
        """What stands below everything else, for instance what the user is typing."""
        if callable(foot):
            self._foot = foot
        else:
            rows = list(foot)
            self._foot = (lambda width: rows) if rows else None
        self._view.footer(self._foot)

    def ask(self, request: ApprovalRequested | None, below: Below | None = None) -> None:
        """A question is put to the user, with this below it; None: it is settled.

        It stays on the screen, whatever else goes on, and hides the footer meanwhile.
        """
        self._view.ask(request, below)

    def show_all(self, request: ApprovalRequested) -> None:
        """Write down all of a question that did not fit on the screen."""
        self._view.show_all(request)

    def typing(self, line: str | None) -> None:
        """The line that is being typed reads so now; None: it is entered. Only where nothing moves."""
        self._view.typing(line)

    def entered(self, text: str) -> None:
        """The user typed this as a prompt: where it stays in sight it is not shown again."""
        self._view.entered(text)

    def say(self, rows: Sequence[str]) -> None:
        """Show lines that no agent said. They must be harmless."""
        self._view.say(rows)

    def close(self) -> None:
        """Keep what was being said, and leave the terminal as it was found."""
        self._view.close()


def view_for(out: TextIO, env: Mapping[str, str] | None = None) -> LiveView:
    """The view that suits a stream: moving and coloured only on a terminal that wants to be."""
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
