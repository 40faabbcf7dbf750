"""Release numbers, and what changed with them that a reader must know."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

Version: TypeAlias = tuple[int, int, int]

PATCH_EVENTS: Final = (0, 129, 0)
"""From here on legacy rollouts tell the end of a patch, with the real diff, as an event."""
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
