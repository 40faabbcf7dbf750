"""What the app-server can do since which release: the first published one that did when it was tried."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.codex.versions import Feature, Version


def _feature(name: str, since: Version, until: Version | None = None) -> Feature:
    return Feature(name=name, since=since, until=until, where="app-server")


APP_SERVER: Final = _feature("driving the app-server", (0, 66, 0))
FORK: Final = _feature("branching off a session", (0, 80, 0))
TURN_SCHEMA: Final = _feature("a schema for a turn's answer", (0, 79, 0))
TOOLS: Final = _feature("giving the model tools of ours", (0, 97, 0))
"""Since 0.92, but what a tool of ours answers had another shape at first."""
NAMESPACES: Final = _feature("tools in a namespace", (0, 125, 0))
TYPED_TOOLS: Final = _feature("tools that name their type", (0, 142, 0))
COMPACT: Final = _feature("compacting a session", (0, 96, 0))
EPHEMERAL: Final = _feature("a session without a file", (0, 90, 0))
EPHEMERAL_FORK: Final = _feature("a branch without a file", (0, 120, 0))
PERSONALITY: Final = _feature("a personality", (0, 92, 0))
STEER: Final = _feature("`turn/steer`", (0, 99, 0))
READ: Final = _feature("reading a session", (0, 89, 0))
RENAME: Final = _feature("naming a session", (0, 93, 0))
UNARCHIVE: Final = _feature("bringing back an archived session", (0, 92, 0))
LIST_ARCHIVED: Final = _feature("listing archived sessions", (0, 89, 0))
STOP_COMMANDS: Final = _feature("stopping a session's commands", (0, 99, 0))
CLOSE: Final = _feature("`thread/unsubscribe`", (0, 106, 0))
START_STEERS: Final = _feature("a word to a running turn by `turn/start`", (0, 113, 0))
GRANULAR: Final = _feature("granular approvals", (0, 117, 0))
ON_FAILURE: Final = _feature("approvals only after a failure", (0, 66, 0), until=(0, 142, 0))
SHORT_RESUME: Final = _feature("resuming without the turns so far", (0, 125, 0))
KEBAB: Final = _feature("words with hyphens", (0, 72, 0))
GRANT_SCOPES: Final = _feature("saying how long a permission holds", (0, 117, 0))
REASONED_DENIALS: Final = _feature("giving a reason for a denial", (0, 153, 0))

FEATURES: Final = (
    APP_SERVER,
    FORK,
    COMPACT,
    EPHEMERAL,
    EPHEMERAL_FORK,
    PERSONALITY,
    TURN_SCHEMA,
    TOOLS,
    NAMESPACES,
    GRANULAR,
    ON_FAILURE,
    READ,
    RENAME,
    UNARCHIVE,
    LIST_ARCHIVED,
    STOP_COMMANDS,
)
"""What is refused where it cannot be had; docs/compatibility.md is made from it."""
SPELLINGS: Final = (
    STEER,
    START_STEERS,
    TYPED_TOOLS,
    CLOSE,
    SHORT_RESUME,
    KEBAB,
    GRANT_SCOPES,
    REASONED_DENIALS,
)
"""What every release can do, each in its own words."""
