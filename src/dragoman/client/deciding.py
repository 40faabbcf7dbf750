"""Who decides what an agent may do: the names that front doors need."""

from __future__ import annotations

from dragoman.drive.approvals.policy import Decision, allow_all, ask_always, deny_all

__all__ = ["Decision", "allow_all", "ask_always", "deny_all"]
