"""Release numbers, and what changed with them that a reader or a driver must know."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

import msgspec

from dragoman.errors import Unsupported

Version: TypeAlias = tuple[int, int, int]

PATCH_EVENTS: Final = (0, 129, 0)
"""From here on legacy rollouts report the end of a patch, with the real diff, as an event."""
PAGINATED: Final = (0, 149, 0)
"""From here on rollouts are paginated by default (``exec`` first): items instead of events."""

_NUMBER: Final = re.compile(r"(?<!\d)(\d{1,6})\.(\d{1,6})\.(\d{1,6})")


def parse_version(text: str | None) -> Version | None:
    """The release in ``0.166.0``, ``codex-cli 0.166.0`` or ``lab/0.166.0 (Debian …)``."""
    found = _NUMBER.search(text) if text else None
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def release_in(user_agent: str | None) -> str | None:
    """The release that a user agent names, as text."""
    found = _NUMBER.search(user_agent) if user_agent else None
    return found[0] if found else None


class Feature(msgspec.Struct, frozen=True, kw_only=True):
    """Something that only some releases can do."""

    name: str
    """What it is, so that "… is not possible with this release" is a sentence."""
    since: Version
    """The first release that can, among those that were tried (see NOTES.md)."""
    until: Version | None = None
    """The last release that can; None for one that today's can, too."""
    where: str = "exec"
    """Which way of driving it belongs to: ``exec`` or ``app-server``."""

    @property
    def releases(self) -> str:
        """The releases that can, in words."""
        if self.until is None:
            return f"{spelled(self.since)} or later"
        return f"{spelled(self.since)} to {spelled(self.until)}"


def spelled(version: Version) -> str:
    """``0.166.0``."""
    return ".".join(str(part) for part in version)


def can(release: Version | None, feature: Feature) -> bool:
    """Whether a release can do this. An unknown release counts as the newest."""
    if release is None:
        return feature.until is None
    return feature.since <= release and (feature.until is None or release <= feature.until)


def need(release: Version | None, feature: Feature) -> None:
    """Refuse what this release cannot do, in a sentence that names the release that can."""
    if not can(release, feature):
        have = f"Codex {spelled(release)}" if release is not None else None
        raise Unsupported(feature.name, needs=f"Codex {feature.releases}", have=have)


EXEC_JSON: Final = Feature(name="running a prompt with `codex exec --json`", since=(0, 44, 0))
EXEC_RESUME: Final = Feature(name="going on with a session (`exec resume`)", since=(0, 36, 0))
EXEC_FORK: Final = Feature(name="branching off a session (`exec fork`)", since=(0, 148, 0))
FULL_AUTO: Final = Feature(name="`--full-auto`", since=(0, 8, 0), until=(0, 125, 0))
OUTPUT_SCHEMA: Final = Feature(name="a schema for the answer (`--output-schema`)", since=(0, 42, 0))
ADD_DIR: Final = Feature(name="another writable directory (`--add-dir`)", since=(0, 59, 0))
EPHEMERAL: Final = Feature(name="leaving no session file (`--ephemeral`)", since=(0, 99, 0))
IMAGES: Final = Feature(name="a prompt with images (`exec --image`)", since=(0, 53, 0))
"""Before, they are a prompt of their own, and ``exec`` may wait for ever after it."""
PROFILE_FILES: Final = Feature(name="a profile in a file of its own", since=(0, 134, 0))
THREAD_TOTALS: Final = Feature(name="token totals that go on with the session", since=(0, 79, 0))
"""Before, a resumed ``exec`` counts from nothing."""
KNOWS_MISSING: Final = Feature(
    name="refusing to resume a session that is not there", since=(0, 117, 0)
)
"""Before, a new session begins without a word."""

FEATURES: Final = (
    EXEC_JSON,
    EXEC_RESUME,
    EXEC_FORK,
    KNOWS_MISSING,
    FULL_AUTO,
    IMAGES,
    OUTPUT_SCHEMA,
    ADD_DIR,
    EPHEMERAL,
    PROFILE_FILES,
    THREAD_TOTALS,
)
"""Everything above. docs/compatibility.md is made from it, and from ``app_server_features``."""
