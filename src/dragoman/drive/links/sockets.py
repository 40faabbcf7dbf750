"""Attaching to a server that runs already: ``unix:///path``, ``ws://127.0.0.1:4500``, ``wss://host``.

All of them carry WebSocket, the unix socket too. A token is sent as ``Authorization: Bearer …``, as real
servers want it, and never over a network in the clear unless the caller insists.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import ipaddress
import ssl
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from dragoman.drive.links.link import Closed, Link, OpenLink, Receive
from dragoman.drive.links.websocket import WebSocketLink
from dragoman.errors import (
    AgentError,
    ProcessExited,
    ResponseError,
    ResponseTimeout,
    Unsupported,
    UsageError,
)
from dragoman.wire.lines import DEFAULT_MAX_LINE

OPEN_SECONDS = 30.0
_SCHEMES = ("unix", "ws", "wss")


class Address(NamedTuple):
    """Where a server listens."""

    path: str | None
    """Of its unix socket."""
    host: str
    port: int
    secure: bool
    uri: str
    """What it is asked for in the handshake."""

    def __str__(self) -> str:
        """For people; without a query, which may hold secrets."""
        if self.path is not None:
            return f"unix://{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'wss' if self.secure else 'ws'}://{host}:{self.port}"


def open_address(
    address: str,
    *,
    token: str | None = None,
    insecure: bool = False,
    tls: ssl.SSLContext | None = None,
    open_seconds: float = OPEN_SECONDS,
    max_line: int | None = DEFAULT_MAX_LINE,
) -> OpenLink:
    """How to attach to the server at ``address``.

    ``insecure`` allows ``ws://`` to another machine, where everybody on the way can read and change
    what is said. Raises :class:`UsageError` for an address that cannot be, or must not be, used.
    """
    place = parse_address(address)
    if place.path is None and not place.secure and not insecure and not _is_loopback(place.host):
        raise UsageError(
            f"{place} is another machine, and ws:// is neither secret nor safe from changes: use wss://, "
            f"or forward a port with ssh, or allow it with insecure"
        )
    if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
        raise UsageError("the token must be one line of printable ASCII characters")
    if importlib.util.find_spec("websockets") is None:
        raise UsageError("attaching to a server needs websockets: pip install 'dragoman[ws]'")
    if place.path is None and place.secure and tls is None:
        tls = ssl.create_default_context()

    async def open_link(receive: Receive, closed: Closed) -> Link:
        link = functools.partial(
            WebSocketLink,
            place.uri,
            receive,
            closed,
            token=token.strip() if token else None,
            max_line=max_line,
        )
        return await _open(place, link, tls, open_seconds)

    return open_link


def parse_address(address: str) -> Address:
    """Take an address apart. Raises :class:`UsageError`, whose text shows no secrets."""
    try:
        url = urlsplit(address)
        port = url.port
    except ValueError as exc:
        raise UsageError(f"the address cannot be read: {exc}") from None
    if url.scheme not in _SCHEMES:
        known = ", ".join(f"{scheme}://" for scheme in _SCHEMES)
        raise UsageError(f"an address begins with one of {known}, not with {url.scheme!r}")
    if url.username is not None or url.password is not None:
        raise UsageError("an address must not hold a name or a password: give the token by itself")
    return _unix(url) if url.scheme == "unix" else _tcp(url, port)


def _unix(url: SplitResult) -> Address:
    path = unquote(url.path)
    if url.netloc or not path.startswith("/"):
        raise UsageError("the address of a unix socket is unix:// and an absolute path: unix:///…")
    return Address(path, "", 0, False, "ws://localhost/")


def _tcp(url: SplitResult, port: int | None) -> Address:
    if not url.hostname:
        raise UsageError(f"the address names no host: {url.scheme}://HOST:PORT")
    secure = url.scheme == "wss"
    return Address(None, url.hostname, port or (443 if secure else 80), secure, url.geturl())


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _open(
    place: Address,
    make_link: Callable[[], WebSocketLink],
    tls: ssl.SSLContext | None,
    seconds: float,
) -> WebSocketLink:
    link: WebSocketLink | None = None
    try:
        async with asyncio.timeout(seconds):
            link = await _connect(place, make_link, tls)
            await link.opened
            opened, link = link, None
            return opened
    except TimeoutError:
        raise ResponseTimeout(
            f"the server at {place} did not accept us within {seconds:g} seconds"
        ) from None
    except (ResponseError, ProcessExited) as exc:
        exc.message = f"{place}: {exc.message}"
        raise
    finally:
        if link is not None:
            link.abort()


async def _connect(
    place: Address, make_link: Callable[[], WebSocketLink], tls: ssl.SSLContext | None
) -> WebSocketLink:
    loop = asyncio.get_running_loop()
    try:
        if place.path is not None:
            # Not everywhere there are unix sockets, and the types know it.
            connect: Callable[..., Any] | None = getattr(loop, "create_unix_connection", None)
            if connect is None:
                raise Unsupported("attaching to a unix socket", "another system than Windows")
            _, link = await connect(make_link, place.path)
        else:
            _, link = await loop.create_connection(make_link, place.host, place.port, ssl=tls)
    except OSError as exc:
        raise _unreachable(exc) from exc
    return link


def _unreachable(exc: OSError) -> AgentError:
    error = ProcessExited(f"could not connect to the server: {_sentence(exc)}")
    # A server that is not up may come up; a certificate or a path does not get better by itself.
    error.retryable = not isinstance(exc, ssl.SSLError | FileNotFoundError | PermissionError)
    return error


def _sentence(exc: OSError) -> str:
    if isinstance(exc, ssl.SSLCertVerificationError):
        return f"its certificate was not accepted: {exc.verify_message}"
    return exc.strerror or str(exc)
