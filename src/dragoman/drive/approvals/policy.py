"""Who decides what an agent may do: decisions, and the policies that make them.

A policy is any callable that takes what the agent asks and gives a decision; it may be async. None, or
the word ``ask``, leaves it to a person. What cannot be understood is never a yes: an unknown word, a
wrong type, an exception are all ``deny``. Nothing here does I/O; :mod:`dragoman.drive.approvals.queue` asks people
and keeps the time, :mod:`dragoman.drive.approvals.rules` is the policy that files are written for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, get_args

import msgspec

from dragoman.model.intents import Decide, Steer
from dragoman.model.messages import ApprovalRequested

Word: TypeAlias = Literal[
    "allow", "allow_for_session", "allow_always", "deny", "cancel", "answered"
]
WORDS: Final[tuple[str, ...]] = get_args(Word)
ASK: Final = "ask"
"""The word of a policy that leaves the decision to a person."""
UNNAMED: Final = "policy"
"""Who decided, unless somebody says so."""
ALLOWING: Final[frozenset[str]] = frozenset(("allow", "allow_for_session", "allow_always"))


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What became of something that an agent asked."""

    word: Word
    message: str | None = None
    """A word to the model: why not, or what to do instead."""
    answers: dict[str, list[str]] = {}
    """For questions: the answers by the question's id, or by its text."""
    content: dict[str, Any] | None = None
    """For elicitations: the form, filled in."""
    by: str = UNNAMED
    """Who decided: ``rule 'reading is fine'``, ``policy``, ``person``, ``deadline``, ``default``,
    ``nobody to ask``, ``unreadable request``, ``closed``."""

    @property
    def allows(self) -> bool:
        return self.word in ALLOWING

    def intents(self, request: ApprovalRequested, in_answer: bool = False) -> list[Decide | Steer]:
        """What to ask of the agent, in this order.

        A refusal may carry its reason ``in_answer``, where the agent has room for it. Otherwise, and with
        an approval, the message is sent to the turn first: then the model reads it together with the
        decision, and not one step later.
        """
        session_id = request.session_id or ""
        wishes: list[Decide | Steer] = []
        is_said = in_answer and not self.allows
        if self.message and self.word != "cancel" and request.turn_id and not is_said:
            wishes.append(Steer(session_id=session_id, turn_id=request.turn_id, text=self.message))
        wishes.append(
            Decide(
                session_id=session_id,
                approval_id=request.approval_id,
                decision=self.word,
                answers=self.answers,
                content=self.content,
                message=self.message if is_said else None,
            )
        )
        return wishes


Verdict: TypeAlias = Decision | str | bool | None
"""A decision, one of our words, yes or no; None or ``ask``: a person is to decide."""
Policy: TypeAlias = Callable[[ApprovalRequested], Verdict | Awaitable[Verdict]]


def deny_all(request: ApprovalRequested) -> Decision:
    """The policy that allows nothing."""
    return Decision(word="deny")


def allow_all(request: ApprovalRequested) -> Decision | None:
    """The policy that allows everything. A question or a form needs more than a yes: a person is asked."""
    return None if request.kind in ("question", "elicitation") else Decision(word="allow")


def ask_always(request: ApprovalRequested) -> None:
    """The policy that leaves everything to a person."""


class Reading(NamedTuple):
    """What somebody's verdict means."""

    decision: Decision | None
    """None: ask."""
    problem: str | None = None
    """Why it could not be taken as it was meant."""


def read_verdict(value: object, by: str) -> Reading:
    """The decision in what a policy or a person gave back. Whatever is not understood is ``deny``."""
    if value is None:
        return Reading(None)
    if isinstance(value, bool):
        return Reading(Decision(word="allow" if value else "deny", by=by))
    if isinstance(value, Decision):
        said = cast("object", value.word)  # nothing has checked that it is one of ours
        if not isinstance(said, str) or said not in WORDS:
            return Reading(_no(by), _unknown(said))
        try:
            given = msgspec.convert(msgspec.to_builtins(value), Decision)
        except (TypeError, ValueError, RecursionError) as problem:
            return Reading(_no(by), f"the decision is malformed ({problem}); taken as deny")
        return Reading(msgspec.structs.replace(given, by=by) if given.by == UNNAMED else given)
    if isinstance(value, str):
        if value == ASK:
            return Reading(None)
        for word in get_args(Word):
            if value == word:
                return Reading(Decision(word=word, by=by))
        return Reading(_no(by), _unknown(value))
    return Reading(_no(by), f"a {type(value).__name__} is no decision; taken as deny")


def _no(by: str) -> Decision:
    return Decision(word="deny", by=by)


def _unknown(word: object) -> str:
    shown = repr(word) if isinstance(word, str) else f"of the type {type(word).__name__}"
    return f"there is no decision {shown}; taken as deny (known: {', '.join(WORDS)}, {ASK})"
