"""Every exception Dragoman raises, in one tree.

::

    DragomanError
    ├── UsageError          the caller asked for something that cannot be done (exit code 2)
    │   ├── UnknownDialect
    │   ├── UnknownFormat
    │   ├── UnreadableSource
    │   └── Unsupported     this release of the agent cannot do it
    ├── ProtocolError       our own side broke the rules of a wire (a bug in the caller)
    └── AgentError          an agent could not be started, or did not do what was asked
        ├── InvalidWorkspace, AgentNotFound          before anything was started
        ├── ResponseError                            it refused a request
        │   └── AuthorityMismatch                    it applied other permissions than were asked
        ├── ResponseTimeout                          it did not answer in time
        ├── TurnFailed, TurnInterrupted, TurnTimeout a turn did not come to its end
        │   └── Stalled                              nothing was heard for too long
        └── ProcessExited                            its process is gone

What an agent *says* never raises: lines we do not understand become ``unknown`` or ``malformed``
messages. Facts are attributes; the sentence is made when somebody asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_SENTENCE: Final = 400
"""How many characters of what a process wrote are part of an error's sentence."""
_ASIDE: Final = r"(?i)\s*(warning\b|\S*\d{4}-\d\d-\d\dT\S+\s+(\S*m)?(info|warn|debug|trace)\b)"


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
    """Our side of a wire was used wrongly, for example an answer to a request that was never made."""


class Unsupported(UsageError):
    """This release of the agent cannot do what was asked."""

    def __init__(self, what: str, needs: str | None = None, have: str | None = None) -> None:
        super().__init__(what, needs, have)
        self.what = what
        self.needs = needs
        """The release that can, in words: ``Codex 0.148.0 or later``."""
        self.have = have

    def __str__(self) -> str:
        needs = f"; it needs {self.needs}" if self.needs else ""
        have = f", this is {self.have}" if self.have and self.needs else ""
        return f"{self.what} is not possible with this release{needs}{have}"


class AgentError(DragomanError):
    """An agent could not be started, or did not do what was asked.

    ``kind`` is the word that orchestrators act on, ``retryable`` whether the same again may help.
    """

    kind: str = "agent_error"
    retryable: bool = False
    shows_stderr: bool = False
    """Whether what the process wrote to its standard error belongs in the sentence. Only where it is the
    reason: an agent that answers says why itself, and its warnings are about something else."""

    def __init__(self, message: str, *, stderr: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.stderr = stderr
        """The last that the process wrote to its standard error, without secrets."""

    def __reduce__(self) -> tuple[object, ...]:
        return (_revive, (type(self), self.__dict__.copy(), self.args))

    def __str__(self) -> str:
        words = _last_words(self.stderr) if self.shows_stderr else ""
        return f"{self.message} ({words})" if words else self.message


class InvalidWorkspace(AgentError):
    """The directory to work in is not there, is no directory, or is not absolute."""

    kind = "invalid_workspace_cwd"
    shows_stderr = True


class AgentNotFound(AgentError):
    """The agent's program is not on this machine, or not where it was said to be."""

    kind = "agent_not_found"
    shows_stderr = True


class ResponseError(AgentError):
    """The agent refused a request."""

    kind = "response_error"

    def __init__(self, message: str, *, code: int | None = None, stderr: str = "") -> None:
        super().__init__(message, stderr=stderr)
        self.code = code


class AuthorityMismatch(ResponseError):
    """The agent says it applies another sandbox or approval policy than it was asked for."""


class ResponseTimeout(AgentError):
    """The agent did not answer a request in time."""

    kind = "response_timeout"
    retryable = True


class TurnFailed(AgentError):
    """A turn ended with an error."""

    kind = "turn_failed"

    def __init__(
        self, message: str, *, kind: str = "turn_failed", retryable: bool = True, stderr: str = ""
    ) -> None:
        super().__init__(message, stderr=stderr)
        self.kind = kind
        self.retryable = retryable


class TurnInterrupted(AgentError):
    """A turn was stopped before its end."""

    kind = "turn_cancelled"


class TurnTimeout(AgentError):
    """A turn took longer than it may."""

    kind = "turn_timeout"
    retryable = True


class Stalled(TurnTimeout):
    """Nothing was heard of a turn for too long; ``reason`` says what it was waiting for."""

    kind = "stall_timeout"

    def __init__(self, message: str, *, reason: str, stderr: str = "") -> None:
        super().__init__(message, stderr=stderr)
        self.reason = reason


class ProcessExited(AgentError):
    """The agent's process is gone."""

    kind = "port_exit"
    shows_stderr = True
    retryable = True

    def __init__(self, message: str, *, exit_code: int | None = None, stderr: str = "") -> None:
        super().__init__(message, stderr=stderr)
        self.exit_code = exit_code
        """Negative: the signal that ended it."""


def _last_words(stderr: str) -> str:
    """As many of the last lines as fit into a sentence, in one; of a last line that does not, its beginning."""
    words = ""
    for line in reversed(_said_about_it(stderr)):
        longer = " ".join((line + " " + words).split())
        if len(longer) > _SENTENCE:
            return words or longer[: _SENTENCE - 1] + "…"
        words = longer
    return words


def _said_about_it(stderr: str) -> list[str]:
    """The lines without backtraces, which name no cause, and without warnings and log lines."""
    before, _, _ = stderr.partition("Stack backtrace:")
    return [line for line in before.splitlines() if not re.match(_ASIDE, line)]


def _revive(
    kind: type[AgentError], facts: dict[str, object], args: tuple[object, ...]
) -> AgentError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(facts)
    return error


_BEFORE_THE_REASON: Final = (
    r"(?is)\A.*(?:\[errno -?\d+\] *|attempting to bind on address \([^)]*\): )"
)


def reason_of(problem: OSError) -> str:
    """Why the system refused something, in words and without its number."""
    reason = problem.strerror or str(problem) or type(problem).__name__
    # asyncio puts the reason, some versions with its number, behind a sentence of its own.
    reason = re.sub(_BEFORE_THE_REASON, "", reason)
    return reason[:1].lower() + reason[1:]
