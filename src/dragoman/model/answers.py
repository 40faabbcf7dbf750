"""What an agent answers to our questions, in the same words for every harness.

Each value has ``native``: the harness's own value, for programs that need more than these fields.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman.model.messages import Outcome, RateWindow


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model that the agent offers."""

    id: str
    """The name to request it by."""
    label: str = ""
    """The name that people see; the id if there is no other."""
    description: str = ""
    efforts: list[str] = []
    """How hard it can think, from least to most; empty if that cannot be chosen."""
    default_effort: str | None = None
    is_default: bool = False
    native: dict[str, Any] = {}


class AgentAccount(msgspec.Struct, frozen=True, kw_only=True):
    """The account that the agent works with."""

    kind: str
    """How it signs in: ``api_key``, ``subscription``, or the harness's own word."""
    name: str | None = None
    """An e-mail address, or another name that people know it by."""
    plan: str | None = None
    native: dict[str, Any] = {}


class AgentTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of a saved session, as the agent lists it."""

    id: str | None = None
    outcome: Outcome | None = None
    """None while it runs, or if the agent does not report it."""
    items: int = 0
    """How many things there are in it, as the agent counts them."""
    native: dict[str, Any] = {}


class AgentSession(msgspec.Struct, frozen=True, kw_only=True):
    """A saved session, as the agent itself lists it."""

    id: str
    title: str | None = None
    preview: str | None = None
    """The beginning of its first prompt."""
    cwd: str | None = None
    path: str | None = None
    """The file it is kept in."""
    created_at: float | None = None
    """In seconds since 1970."""
    updated_at: float | None = None
    parent_session_id: str | None = None
    turns: list[AgentTurn] = []
    """Only if they were requested."""
    native: dict[str, Any] = {}


class AgentSessions(msgspec.Struct, frozen=True, kw_only=True):
    """One page of the agent's list of saved sessions."""

    sessions: list[AgentSession]
    cursor: str | None = None
    """For the next page; None on the last."""


class AccountLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the account's allowance is used up."""

    windows: list[RateWindow] = []
    plan: str | None = None
    native: dict[str, Any] = {}
