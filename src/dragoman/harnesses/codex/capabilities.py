"""What people can choose and do with Codex, release by release."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.codex.app_server.client import features
from dragoman.harnesses.codex.versions import Feature, Version, can
from dragoman.harnesses.contract.capabilities import Ability, Capabilities, Choice

ACCESS: Final = (
    Choice(
        value="workspace-write",
        label="Workspace",
        summary="Commands can change files in the workspace; the rest of the disk is read-only and "
        "there is no network.",
        level="write",
    ),
    Choice(
        value="read-only",
        label="Read only",
        summary="Commands can read files and change nothing.",
        level="read",
    ),
    Choice(
        value="danger-full-access",
        label="Full access",
        summary="Commands run without a sandbox: every file and the network.",
        level="full",
    ),
)
_ON_REQUEST: Final = Choice(
    value="on-request",
    label="When needed",
    summary="It asks you when it needs more than the sandbox allows.",
)
_UNTRUSTED: Final = Choice(
    value="untrusted",
    label="Unless trusted",
    summary="It asks you before all but harmless commands.",
)
_ON_FAILURE: Final = Choice(
    value="on-failure",
    label="On failure",
    summary="It asks you when a command has failed in the sandbox.",
)
_NEVER: Final = Choice(
    value="never",
    label="Never",
    summary="It never asks: what the sandbox does not allow fails.",
)
# A terminal prompt.
_ICON: Final = "M4 5.5 10.5 12 4 18.5 5.9 20.4 14.3 12 5.9 3.6Z M13 17h8v2.7h-8Z"
_EFFORTS: Final = ("minimal", "low", "medium", "high", "xhigh")
_ALWAYS: Final[frozenset[Ability]] = frozenset(
    (
        "steer",
        "interrupt",
        "resume",
        "review",
        "archive",
        "sessions",
        "models",
        "rate_limits",
        "images",
        "add_dirs",
        "profile",
        "config",
        "instructions",
        "questions",
        "elicitation",
        "plan",
    )
)
_SINCE: Final[dict[Ability, Feature]] = {
    "fork": features.FORK,
    "compact": features.COMPACT,
    "rename": features.RENAME,
    "tools": features.TOOLS,
    "schema": features.TURN_SCHEMA,
    "ephemeral": features.EPHEMERAL,
    "personality": features.PERSONALITY,
    "check_turn": features.READ,
    "stop_commands": features.STOP_COMMANDS,
}


def capabilities(release: Version | None) -> Capabilities:
    """What a release offers; without one, what today's does."""
    after_failures = (
        (_ON_FAILURE,) if release is not None and can(release, features.ON_FAILURE) else ()
    )
    can_now: set[Ability] = {ability for ability, since in _SINCE.items() if can(release, since)}
    return Capabilities(
        access=ACCESS,
        asking=(_ON_REQUEST, _UNTRUSTED, *after_failures, _NEVER),
        efforts=_EFFORTS,
        can=_ALWAYS | can_now,
        confirms_access=True,
        icon=_ICON,
        sign_in_command="codex login",
    )
