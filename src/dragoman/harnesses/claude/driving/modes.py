"""Claude's permission modes, and what Dragoman's three levels of access mean in them.

A mode decides two things at once: what the agent may do, and what it asks about. ``asking`` narrows the
second: with ``never`` no one is asked, and what would have been asked about is denied.
"""

from __future__ import annotations

from typing import Final

from dragoman.model.intents import OpenSession

PLAN: Final = "plan"
DEFAULT: Final = "default"
ACCEPT_EDITS: Final = "acceptEdits"
DONT_ASK: Final = "dontAsk"
AUTO: Final = "auto"
BYPASS: Final = "bypassPermissions"

ON_REQUEST: Final = "on-request"
NEVER: Final = "never"

_ALIASES: Final = {
    "manual": DEFAULT,
    # The words of other harnesses, for callers that use one setting for all of them.
    "read": PLAN,
    "read-only": PLAN,
    "write": DEFAULT,
    "workspace-write": DEFAULT,
    "full": BYPASS,
    "danger-full-access": BYPASS,
}
_WIDTH: Final = {PLAN: 0, DONT_ASK: 1, DEFAULT: 1, ACCEPT_EDITS: 1, AUTO: 1, BYPASS: 2}


def native_mode(access: str) -> str:
    """The permission mode for a level, a mode, or another harness's word for one."""
    return _ALIASES.get(access, access)


def mode_of(opening: OpenSession) -> str:
    """The permission mode that a session asks for."""
    return native_mode(opening.access or opening.sandbox)


def asking_of(opening: OpenSession) -> str:
    """Whether anyone is asked in it."""
    asking = opening.asking if opening.asking is not None else opening.approvals
    return NEVER if asking == NEVER else ON_REQUEST


def other_than(mode: str) -> str:
    """A harmless mode that is not this one.

    Claude reports a mode, and with it the id of the session, only when the mode changes. So a session is
    opened by switching to another mode and back, before there is any prompt that could run in it.
    """
    return DEFAULT if mode == PLAN else PLAN


def is_wider(confirmed: str, granted: str) -> bool:
    """Whether the agent applies more than was granted. A mode that is not known counts as the widest."""
    return _WIDTH.get(confirmed, 3) > _WIDTH.get(granted, 0)


def widened(granted: str | None) -> str:
    """What is granted when a person has approved leaving plan mode."""
    return ACCEPT_EDITS if granted in (None, PLAN) else granted
