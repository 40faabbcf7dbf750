"""Settings of the web interface: addresses, names and limits."""

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
    """Settings besides the hub and the archive."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)
    """Grants full access, for the lifetime of the server."""
    logins: Logins = field(default_factory=Logins, repr=False)
    """The logins of pages."""
    port: int = 0
    names: Collection[str] = ()
    """Host names, with or without a port, by which other machines may reach us."""
    max_body: int = 12_000_000
    """The most bytes of a request body: a prompt with images."""
    heartbeat_seconds: float = 15.0
    """Seconds of silence after which a stream sends a heartbeat."""
    retry_ms: int = 1_000
    """Milliseconds that a client waits before it reconnects."""
    slow_seconds: float = 30.0
    """Seconds after which a reader that takes no data is disconnected. It can reconnect with its cursor."""
    keep: int = 1_024
    """The number of encoded events kept per session, for readers that are slightly behind."""

    @property
    def cookie_name(self) -> str:
        # Cookies ignore ports: without the port in its name, two servers would sign each other out.
        return f"dragoman_{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """The accepted values of ``Host``, in lower case."""
        named = [each.lower() for each in self.names]
        with_port = [f"{each}:{self.port}" for each in (*LOOPBACK, *named) if not _has_port(each)]
        bare = [*LOOPBACK, *named] if self.port in (0, 80) else []
        return frozenset((*with_port, *bare, *(each for each in named if _has_port(each))))

    @property
    def origins(self) -> frozenset[str]:
        """The accepted values of ``Origin``: only our own."""
        near = {f"http://{each}" for each in self.hosts}
        bare = [each.lower() for each in self.names if not _has_port(each)]
        # Remote access goes through a TLS proxy, so those origins use https.
        far = {f"https://{each.lower()}" for each in self.names}
        return frozenset(near | far | {f"https://{each}:{self.port}" for each in bare})


def _has_port(name: str) -> bool:
    return name.rpartition("]")[2].count(":") == 1
