"""What people can choose and do with opencode."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.capabilities import Ability, Capabilities, Choice
from dragoman.harnesses.contract.conversation import Release

ASK: Final = "ask"
PLAN: Final = "plan"
ALLOW: Final = "allow"

ACCESS: Final = (
    Choice(
        value=ASK,
        label="Ask first",
        summary="It reads freely, and asks you before it edits files, runs commands or reaches the network.",
        level="write",
    ),
    Choice(
        value=PLAN,
        label="Plan",
        summary="It reads and makes a plan; edits are denied, and it asks you before it runs commands.",
        level="read",
    ),
    Choice(
        value=ALLOW,
        label="Full access",
        summary="It edits every file and runs every command that your configuration does not deny, without asking.",
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
        "config",
        "instructions",
        "set_access",
        "check_turn",
        "questions",
        "deny_message",
        "plan",
    )
)


def capabilities(release: Release | None) -> Capabilities:
    """What a release offers; without one, what today's does."""
    return Capabilities(
        access=ACCESS,
        can=_ABILITIES,
        confirms_access=True,
        sign_in_command="opencode auth login",
        notes=(
            "opencode has no sandbox: access decides what it asks about, not what a command that you allow "
            "can reach.",
            "A model is named with its provider, such as anthropic/claude-sonnet-4-5.",
        ),
    )
