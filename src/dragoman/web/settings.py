"""How the web front door is opened: where it listens, under which names, and what it takes at most."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from dragoman.web.logins import Logins

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
TOKEN_BYTES: Final = 32


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that the web front door must be told besides the hub and the archive."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)
    """Whoever has it may do everything. It lasts as long as the server does."""
    logins: Logins = field(default_factory=Logins, repr=False)
    """Pages that are signed in."""
    port: int = 0
    names: Collection[str] = ()
    """Names, with or without a port, under which others than this machine may reach us."""
    max_body: int = 12_000_000
    """Bytes of a request: a prompt, and images in it."""
    heartbeat_seconds: float = 15.0
    """After so long a silence a stream says that it lives."""
    retry_ms: int = 1_000
    """How long a reader waits before it connects again."""
    slow_seconds: float = 30.0
    """A reader that has taken nothing for so long is cut off; it may come again with its cursor."""
    keep: int = 1_024
    """How many of a session's newest events are kept encoded, for readers that are a little late."""

    @property
    def cookie_name(self) -> str:
        # Cookies do not tell ports apart; two servers on one machine must not sign each other out.
        return f"dragoman_{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """What a request may call us, in lower case."""
        named = [each.lower() for each in self.names]
        with_port = [f"{each}:{self.port}" for each in (*LOOPBACK, *named) if not _has_port(each)]
        bare = [*LOOPBACK, *named] if self.port in (0, 80) else []
        return frozenset((*with_port, *bare, *(each for each in named if _has_port(each))))

    @property
    def origins(self) -> frozenset[str]:
        """Where a page that talks to us may come from: from us."""
        near = {f"http://{each}" for each in self.hosts}
        bare = [each.lower() for each in self.names if not _has_port(each)]
        # Behind a proxy that speaks TLS, which is the only way for others that makes sense.
        far = {f"https://{each.lower()}" for each in self.names}
        return frozenset(near | far | {f"https://{each}:{self.port}" for each in bare})


def _has_port(name: str) -> bool:
    return name.rpartition("]")[2].count(":") == 1
