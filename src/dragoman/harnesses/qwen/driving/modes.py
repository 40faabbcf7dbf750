"""Approval modes: the native words, and which of two lets the agent do more."""

from __future__ import annotations

from typing import Final

from dragoman.model.intents import OpenSession

PLAN: Final = "plan"
DEFAULT: Final = "default"
YOLO: Final = "yolo"

_ALIASES: Final = {
    # The words of other harnesses, for callers that use one setting for all of them.
    "read": PLAN,
    "read-only": PLAN,
    "write": DEFAULT,
    "workspace-write": DEFAULT,
    "full": YOLO,
    "danger-full-access": YOLO,
}
_WIDTH: Final = {PLAN: 0, DEFAULT: 1, "auto-edit": 2, "auto": 3, YOLO: 4}
_ASKS_NOTHING: Final = frozenset((PLAN, YOLO))


def native_mode(access: str) -> str:
    """The approval mode for a level, a mode, or another harness's word for one."""
    return _ALIASES.get(access, access)


def mode_of(opening: OpenSession) -> str:
    """The approval mode that a session asks for."""
    return native_mode(opening.access or opening.sandbox)


def is_wider(confirmed: str, granted: str) -> bool:
    """Whether the agent applies more than was granted. A mode that is not known counts as the widest."""
    return _WIDTH.get(confirmed, 9) > _WIDTH.get(granted, 0)


def may_have_agents(mode: str) -> bool:
    """Whether sub-agents may be used: the permission that one needs is never asked for, and it would wait for ever."""
    return mode in _ASKS_NOTHING


def widened(granted: str | None) -> str:
    """What is granted when a person has approved leaving plan mode."""
    return "auto-edit" if granted in (None, PLAN) else granted
