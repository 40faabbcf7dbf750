"""Every exception Dragoman raises, in one tree.

::

    DragomanError
    ├── UsageError          the caller asked for something that cannot be done (exit code 2)
    │   ├── UnknownDialect
    │   ├── UnknownFormat
    │   └── UnreadableSource
    └── ProtocolError       our own side broke the rules of a wire (a bug in the caller)

What an agent *says* never raises: lines we do not understand become ``unknown`` or ``malformed``
messages. Facts are attributes; the sentence is made when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence


class DragomanError(Exception):
    """The root: catch this to catch everything of ours."""


class UsageError(DragomanError):
    """The request cannot be carried out as asked; the sentence says what would work."""


class UnknownDialect(UsageError):
    """No dialect has this name."""

    def __init__(self, name: str, known: Sequence[str] = ()) -> None:
        super().__init__(name, known)
        self.name = name
        self.known = known

    def __str__(self) -> str:
        return f"there is no dialect {self.name!r}; known: {', '.join(self.known)}"


class UnknownFormat(UsageError):
    """No export format has this name."""

    def __init__(self, name: str, known: Sequence[str] = ()) -> None:
        super().__init__(name, known)
        self.name = name
        self.known = known

    def __str__(self) -> str:
        return f"there is no format {self.name!r}; known: {', '.join(self.known)}"


class UnreadableSource(UsageError):
    """The thing to read cannot be opened or is not a recording."""

    def __init__(self, source: str, problem: str) -> None:
        super().__init__(source, problem)
        self.source = source
        self.problem = problem

    def __str__(self) -> str:
        return f"cannot read {self.source}: {self.problem}"


class ProtocolError(DragomanError):
    """Our side of a wire was used wrongly, for example an answer to a request nobody made."""
