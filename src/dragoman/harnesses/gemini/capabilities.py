"""What people can choose and do with Gemini CLI."""

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
        value="autoEdit",
        label="Accept edits",
        summary="It edits files in the workspace without asking, and asks you before it runs commands.",
        level="write",
    ),
    Choice(
        value="plan",
        label="Plan",
        summary="It reads and makes a plan; it changes nothing else.",
        level="read",
    ),
    Choice(
        value="yolo",
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
# A four-pointed star.
_ICON: Final = "M12 2c1 6 4 9 10 10-6 1-9 4-10 10-1-6-4-9-10-10 6-1 9-4 10-10Z"
MODELS: Final = ("auto", "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite")
_ABILITIES: Final[frozenset[Ability]] = frozenset(
    ("interrupt", "resume", "models", "images", "config", "set_access", "elicitation", "plan")
)


def capabilities(release: Release | None) -> Capabilities:
    """What a release offers; without one, what today's does."""
    return Capabilities(
        access=ACCESS,
        asking=ASKING,
        models=MODELS,
        can=_ABILITIES,
        confirms_access=True,
        icon=_ICON,
        sign_in_command="gemini, and choose how to sign in; or set GEMINI_API_KEY",
        notes=(
            "It has no sandbox here: access decides what it asks about, not what a command that you allow can reach.",
            "A session cannot be resumed in the minute in which it began: Dragoman waits until that is over.",
            "A message with a denial does not reach the model.",
        ),
    )
