"""What people can choose and do with Qwen Code."""

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
        value="auto-edit",
        label="Accept edits",
        summary="It edits files in the workspace without asking, and asks you before it runs commands.",
        level="write",
    ),
    Choice(
        value="plan",
        label="Plan",
        summary="It reads and makes a plan; it changes nothing.",
        level="read",
    ),
    Choice(
        value="yolo",
        label="Full access",
        summary="It edits every file and runs every command without asking.",
        level="full",
    ),
    Choice(
        value="auto",
        label="A model decides",
        summary="A second model decides which commands run without asking you.",
        level="full",
    ),
)
EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
# A ring with a tail: the letter Q.
_ICON: Final = (
    "M12 3a9 9 0 1 0 5.2 16.3l1.9 1.9 2.1-2.1-1.9-1.9A9 9 0 0 0 12 3Z"
    "M12 6a6 6 0 0 1 5.1 9.1l-2-2-2.1 2.1 2 2A6 6 0 1 1 12 6Z"
)
_ABILITIES: Final[frozenset[Ability]] = frozenset(
    (
        "queue",
        "interrupt",
        "resume",
        "fork",
        "compact",
        "models",
        "tools",
        "ephemeral",
        "add_dirs",
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
        efforts=EFFORTS,
        can=_ABILITIES,
        confirms_access=True,
        icon=_ICON,
        sign_in_command="qwen, and choose how to sign in; or set OPENAI_API_KEY and OPENAI_BASE_URL",
        notes=(
            "Qwen Code never asks for a sub-agent's permission when it is driven, so sub-agents are off unless "
            "it asks for nothing (plan, full access).",
            "It waits ten minutes for the answer to a request, and then denies it.",
            "After a turn that failed it does not save what follows: resume the session to save it.",
        ),
    )
