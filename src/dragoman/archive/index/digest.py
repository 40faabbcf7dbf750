"""Summarize the messages of a file per session: the facts that a list shows.

A digest can be stored and loaded, so that a file that has grown is counted from the last mark on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from dragoman.model.messages import (
    Message,
    Notice,
    Prompt,
    SessionStarted,
    TurnEnded,
    TurnStarted,
)
from dragoman.model.usage import Usage
from dragoman.store.sessions import IndexedSession

_TITLE: Final = 200


class Facts(msgspec.Struct, array_like=True):
    """The facts about one session. Append fields only, because it is stored as an array."""

    parent_session_id: str | None = None
    harness: str | None = None
    version: str | None = None
    model: str | None = None
    cwd: str | None = None
    title: str | None = None
    started_at: float | None = None
    last_at: float | None = None
    turns: int = 0
    undone: int = 0
    outcome: str | None = None
    is_open: bool = False
    usage: Usage | None = None
    is_own: bool = False
    """Whether the session starts in this file, rather than only having rows copied into it."""
    name: str | None = None
    """The name that rows of the file give the session."""
    name_rank: int = 0
    is_agent: bool = False
    """Whether a call of another session has started it."""


_COUNTED: Final = frozenset((TurnStarted, TurnEnded, Prompt, SessionStarted, Notice))
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(dict[str, Facts]).decode


class Digest:
    """The sessions of one file, as far as it has been read."""

    def __init__(
        self, turns_undone: Callable[[Notice], int] | None = None, kept: bytes | None = None
    ) -> None:
        self.sessions: dict[str, Facts] = _decode(kept) if kept else {}
        self._turns_undone = turns_undone

    def encode(self) -> bytes:
        return _encode(self.sessions)

    def of(self, message: Message) -> Facts:
        """Return the facts about the session of a message."""
        key = message.session_id or ""
        facts = self.sessions.get(key)
        if facts is None:
            facts = self.sessions[key] = Facts()
        return facts

    def take(self, message: Message) -> Facts:
        """Add a message and return the updated facts of its session."""
        facts = self.of(message)
        if message.at is not None:
            facts.last_at = message.at.timestamp()
            if facts.started_at is None:
                facts.started_at = facts.last_at
        if message.__class__ not in _COUNTED:
            return facts
        if isinstance(message, TurnStarted):
            facts.turns += 1
            facts.is_open = True
            facts.outcome = None
        elif isinstance(message, TurnEnded):
            facts.is_open = False
            facts.outcome = message.outcome
            if message.usage is not None:
                facts.usage = message.usage if facts.usage is None else facts.usage + message.usage
        elif isinstance(message, Prompt):
            if facts.title is None:
                facts.title = title_in(message.text)
        elif isinstance(message, SessionStarted):
            _know(facts, message)
        elif isinstance(message, Notice) and self._turns_undone is not None:
            undone = facts.undone + self._turns_undone(message)
            facts.undone = min(undone, facts.turns)
        return facts

    def name(self, session_id: str | None, rank: int, name: str) -> None:
        """Take a name from a row; the last one of the highest rank counts."""
        facts = self.sessions.get(session_id or "")
        if facts is None:
            facts = self.sessions[session_id or ""] = Facts()
        if rank >= facts.name_rank:
            facts.name = title_in(name)
            facts.name_rank = rank if facts.name else 0

    def spend(self, session_id: str | None, usage: Usage) -> None:
        """Add the tokens of a turn that has no end."""
        facts = self.sessions.get(session_id or "")
        if facts is not None:
            facts.usage = usage if facts.usage is None else facts.usage + usage

    def _origin(self, facts: Facts, origin: str | None, *, is_own: bool) -> str | None:
        """Where a session comes from: ``origin`` is what the file contains about its own.

        Some harnesses keep sub-agents in the file of the session that started them. Older files do not show that
        they are forks, but they contain rows of their parent.
        """
        if is_own and origin is not None:
            return origin
        if facts.is_agent:
            return "sub-agent"
        return "fork" if is_own and facts.parent_session_id in self.sessions else None

    def rows(
        self, file_id: int, *, own: str, origin: str | None, otherwise: float
    ) -> list[IndexedSession]:
        """Return the sessions as rows. ``own`` is the id for rows that name no session."""
        has_own = any(facts.is_own for facts in self.sessions.values())
        rows: list[IndexedSession] = []
        for key, facts in self.sessions.items():
            if has_own and not facts.is_own:
                continue  # rows copied from another session, or messages before the first one
            usage = facts.usage
            rows.append(
                IndexedSession(
                    file_id=file_id,
                    session_id=kept(key or own) or own,
                    parent_session_id=kept(facts.parent_session_id),
                    origin=self._origin(facts, origin, is_own=key == own),
                    harness=facts.harness,
                    version=kept(facts.version),
                    model=kept(facts.model),
                    cwd=kept(facts.cwd),
                    title=kept(facts.name or facts.title),
                    started_at=facts.started_at,
                    last_at=facts.last_at if facts.last_at is not None else otherwise,
                    turns=facts.turns,
                    undone=facts.undone,
                    outcome=facts.outcome,
                    is_open=facts.is_open,
                    input_tokens=usage.input_tokens if usage else None,
                    cached_input_tokens=usage.cached_input_tokens if usage else None,
                    cache_write_input_tokens=usage.cache_write_input_tokens if usage else None,
                    output_tokens=usage.output_tokens if usage else None,
                    reasoning_output_tokens=usage.reasoning_output_tokens if usage else None,
                )
            )
        return list({row.session_id: row for row in rows}.values())


def _know(facts: Facts, message: SessionStarted) -> None:
    facts.is_own = True
    facts.harness = message.harness
    facts.version = message.version or facts.version
    facts.model = message.model or facts.model
    facts.cwd = message.cwd or facts.cwd
    facts.parent_session_id = message.parent_session_id or facts.parent_session_id
    facts.is_agent = facts.is_agent or message.parent_call_id is not None


def title_in(text: str) -> str | None:
    """Return the first non-empty line of a text."""
    for line in text[: 20 * _TITLE].split("\n"):
        if words := " ".join(line.split()):
            return words[:_TITLE]
    return None


def kept(text: str | None) -> str | None:
    """Return text that can be stored: lone surrogates are replaced."""
    return None if text is None else text.encode("utf-8", "replace").decode()
