"""What people can choose and do with Copilot."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.capabilities import Ability, Capabilities, Choice
from dragoman.harnesses.contract.conversation import Release

MANUAL: Final = "manual"
PLAN: Final = "plan"
ALLOW_ALL: Final = "allow-all"

ACCESS: Final = (
    Choice(
        value=MANUAL,
        label="Ask first",
        summary="It reads freely, and asks you before it edits files or runs commands.",
        level="write",
    ),
    Choice(
        value=PLAN,
        label="Plan",
        summary="It reads and makes a plan; it asks you before it changes anything.",
        level="read",
    ),
    Choice(
        value=ALLOW_ALL,
        label="Full access",
        summary="It edits every file and runs every command without asking.",
        level="full",
    ),
)
_ABILITIES: Final[frozenset[Ability]] = frozenset(
    (
        "steer",
        "interrupt",
        "resume",
        "fork",
        "rename",
        "models",
        "sessions",
        "images",
        "tools",
        "config",
        "instructions",
        "set_access",
        "check_turn",
        "questions",
        "deny_message",
        "elicitation",
        "plan",
    )
)

# A pair of goggles.
_ICON: Final = "M4 8h7v3h2V8h7l2 4v3a3 3 0 0 1-3 3h-4l-2-3h-2l-2 3H5a3 3 0 0 1-3-3v-3Z"


def capabilities(release: Release | None) -> Capabilities:
    """What a release offers; without one, what today's does."""
    return Capabilities(
        access=ACCESS,
        efforts=("low", "medium", "high", "xhigh"),
        can=_ABILITIES,
        confirms_access=True,
        icon=_ICON,
        sign_in_command="copilot login, or set COPILOT_PROVIDER_BASE_URL for a provider of your own",
        notes=(
            "Copilot has no sandbox here: access decides what it asks about, not what a command that you "
            "allow can reach.",
        ),
    )
