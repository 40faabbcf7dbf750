"""Decisions about what an agent may do, and the policies that make them.

A policy is a callable, possibly async, that takes an approval request and returns a decision. None or ``ask``
leaves the decision to a person. Anything invalid (an unknown word, a wrong type, an exception) is a ``deny``.
This module does no I/O: :mod:`dragoman.drive.approvals.queue` asks people and applies the deadline, and
:mod:`dragoman.drive.approvals.rules` is the policy that policy files define.
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
"""Returned by a policy that leaves the decision to a person."""
UNNAMED: Final = "policy"
"""The value of ``by`` until it is set."""
DEADLINE_SECONDS: Final = 300.0
"""How long a person has to answer, by default."""
ALLOWING: Final[frozenset[str]] = frozenset(("allow", "allow_for_session", "allow_always"))


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an approval request."""

    word: Word
    message: str | None = None
    """A message to the model, such as the reason or an alternative."""
    answers: dict[str, list[str]] = {}
    """For questions: the answers, keyed by the question's id or text."""
    content: dict[str, Any] | None = None
    """For elicitations: the values of the form."""
    by: str = UNNAMED
    """Who decided: ``rule 'reading is fine'``, ``policy``, ``person``, ``deadline``, ``default``,
    ``no one to ask``, ``unreadable request``, ``closed``."""

    @property
    def allows(self) -> bool:
        return self.word in ALLOWING

    def intents(self, request: ApprovalRequested, in_answer: bool = False) -> list[Decide | Steer]:
        """The intents to send to the agent, in this order.

        A refusal may carry its reason ``in_answer``, where the agent has a field for it. Otherwise, and with
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
"""A decision, its word, or True or False. None or ``ask`` leaves it to a person."""
Policy: TypeAlias = Callable[[ApprovalRequested], Verdict | Awaitable[Verdict]]


def deny_all(request: ApprovalRequested) -> Decision:
    """Deny everything."""
    return Decision(word="deny")


def allow_all(request: ApprovalRequested) -> Decision | None:
    """Allow everything except questions and forms, which need an answer: a person is asked."""
    return None if request.kind in ("question", "elicitation") else Decision(word="allow")


def ask_always(request: ApprovalRequested) -> None:
    """Leave everything to a person."""


class Reading(NamedTuple):
    """A verdict as a decision."""

    decision: Decision | None
    """None: ask."""
    problem: str | None = None
    """Why the verdict is invalid."""


def read_verdict(value: object, by: str) -> Reading:
    """Convert what a policy or a person returned. Anything invalid is a ``deny``."""
    if value is None:
        return Reading(None)
    if isinstance(value, bool):
        return Reading(Decision(word="allow" if value else "deny", by=by))
    if isinstance(value, Decision):
        word = cast("object", value.word)  # not validated yet
        if not isinstance(word, str) or word not in WORDS:
            return Reading(_no(by), _unknown(word))
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
    return Reading(
        _no(by), f"a value of type {type(value).__name__} is not a decision; taken as deny"
    )


def _no(by: str) -> Decision:
    return Decision(word="deny", by=by)


def _unknown(word: object) -> str:
    shown = repr(word) if isinstance(word, str) else f"of the type {type(word).__name__}"
    return f"unknown decision {shown}; taken as deny (known: {', '.join(WORDS)}, {ASK})"
