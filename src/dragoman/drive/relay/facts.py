"""What is known of a relay, for those that list it."""

from __future__ import annotations

import msgspec


class RelayFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A relay, running or not."""

    name: str
    folder: str
    command: list[str] = []
    cwd: str = ""
    started: int = 0
    """Seconds since 1970."""
    pid: int = 0
    agent_pid: int = 0
    is_running: bool = False
    readers: int = 0
    is_owned: bool = False
    """Whether a client is connected that may write."""
    next: int = 1
    exit_code: int | None = None
    why: str = ""
    """Why it was ended; empty if the agent ended by itself."""
