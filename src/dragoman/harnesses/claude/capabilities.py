"""What people can choose and do with Claude Code, release by release."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.capabilities import Ability, Capabilities, Choice
from dragoman.harnesses.contract.conversation import Release

ACCESS: Final = (
    Choice(
        value="default",
        label="Ask first",
        summary="It reads freely, and asks you before it edits files or runs commands.",
        level="write",
    ),
    Choice(
        value="acceptEdits",
        label="Accept edits",
        summary="It edits files in the workspace without asking, and asks you before other commands.",
        level="write",
    ),
    Choice(
        value="plan",
        label="Plan",
        summary="It reads and makes a plan; it asks you before it changes anything.",
        level="read",
    ),
    Choice(
        value="dontAsk",
        label="Do not ask",
        summary="It does what your own settings allow; everything else is denied.",
        level="write",
    ),
    Choice(
        value="bypassPermissions",
        label="Full access",
        summary="It edits every file and runs every command without asking.",
        level="full",
    ),
)
ASKING: Final = (
    Choice(
        value="on-request",
        label="When needed",
        summary="It asks you before what the access does not allow by itself.",
    ),
    Choice(
        value="never",
        label="Never",
        summary="It never asks: what the access does not allow by itself is denied.",
    ),
)
EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
# An asterisk of three bars, all drawn in one direction so that they fill where they cross.
_ICON: Final = (
    "M10.5 3.5h3v17h-3Z M18.61 6.45 20.11 9.05 5.39 17.55 3.89 14.95Z "
    "M3.89 9.05 5.39 6.45 20.11 14.95 18.61 17.55Z"
)
MODELS: Final = ("default", "opus", "sonnet", "haiku")
_ABILITIES: Final[frozenset[Ability]] = frozenset(
    (
        "steer",
        "interrupt",
        "resume",
        "fork",
        "compact",
        "rename",
        "models",
        "rate_limits",
        "images",
        "tools",
        "ephemeral",
        "add_dirs",
        "config",
        "instructions",
        "set_access",
        "check_turn",
        "stop_commands",
        "questions",
        "deny_message",
        "elicitation",
        "plan",
    )
)


def capabilities(release: Release | None) -> Capabilities:
    """What a release offers; without one, what today's does."""
    return Capabilities(
        access=ACCESS,
        asking=ASKING,
        efforts=EFFORTS,
        models=MODELS,
        can=_ABILITIES,
        confirms_access=True,
        icon=_ICON,
        sign_in_command="claude (then /login), or claude setup-token",
        notes=(
            "Claude Code has no sandbox of its own here: access decides what it asks about, not what a "
            "command that you allow can reach.",
        ),
    )
