"""What people can choose and do with any agent over ACP. What a single agent offers shows when it is greeted."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.capabilities import Ability, Capabilities, Choice
from dragoman.harnesses.contract.conversation import Release

ACCESS: Final = (
    Choice(
        value="default",
        label="Ask first",
        summary="The agent's own default mode, in which it asks you before it changes anything.",
        level="write",
    ),
    Choice(
        value="read",
        label="Plan",
        summary="The agent's mode for reading and planning, if it has one.",
        level="read",
    ),
    Choice(
        value="full",
        label="Full access",
        summary="The agent's mode in which it does everything without asking, if it has one.",
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
ABILITIES: Final[frozenset[Ability]] = frozenset(
    (
        "interrupt",
        "resume",
        "fork",
        "models",
        "images",
        "config",
        "set_access",
        "elicitation",
        "plan",
        "add_dirs",
    )
)
# Two chevrons around a bar: a message between two programs.
_ICON: Final = "M8 6 2 12 8 18 9.5 16.5 5 12 9.5 7.5Z M16 6 22 12 16 18 14.5 16.5 19 12 14.5 7.5Z M11 4h2v16h-2Z"


def capabilities(release: Release | None) -> Capabilities:
    """The same for every release: the release is that of the agent."""
    return Capabilities(
        access=ACCESS,
        asking=ASKING,
        can=ABILITIES,
        confirms_access=False,
        icon=_ICON,
        sign_in_command="",
        notes=(
            "Whether an agent can resume, fork, take images or more directories depends on the agent; one that "
            "cannot says so.",
        ),
    )
