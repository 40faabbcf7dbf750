"""Guards the application: checks who sends a request, by which host name and from which page, and adds headers.

It is an ASGI application around the rest, so that no route can bypass it. The checks, in order:

1. The process behind a local connection. Descendants of our agents are refused, whatever they know,
   because an agent must not approve its own requests.
2. The ``Host``. Any other name means that a foreign site resolves its name to this machine (DNS rebinding).
3. The ``Origin`` and ``Sec-Fetch-Site``, if present: only our own page.
4. The token (``Authorization: Bearer``), or a login: the cookie *and* the key of
   :mod:`dragoman.web.logins`. A request with our cookie comes from a browser, which sends the origin; if the
   origin is missing, the request is refused.

Only static files, the empty page and the login endpoint need neither token nor login.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, MutableMapping
from functools import partial
from hmac import compare_digest
from typing import Any, Final, TypeAlias, cast

import msgspec
from litestar.types import ASGIApp, Receive, Scope, Send

from dragoman.hub.hub import Peer
from dragoman.web.logins import Logins
from dragoman.web.settings import Settings
from dragoman.web.streams.streaming import IS_ALLOWED, SEND

_access = logging.getLogger("dragoman.web.access")
_Headers: TypeAlias = defaultdict[bytes, list[bytes]]

SIGNED_IN: Final = "dragoman.signed_in"
"""Scope key: whether the request was authenticated."""
LOGIN: Final = "dragoman.login"
"""Scope key: the name of the login, if one was used."""
CONNECTION: Final = "dragoman.connection"
"""Scope key: facts about the connection, in a mapping with the same lifetime. Set by our server."""
KEY: Final = b"x-dragoman-key"
"""The header in which the page's code sends the key of its login."""
_OPEN: Final = frozenset({"/", "/history", "/usage", "/policy", "/api/v1/login"})
_OPEN_BELOW: Final = ("/s/", "/static/")
"""Public paths. Without a login, a page contains only the login form. Everything else is closed."""
_PAGES: Final = frozenset({"/", "/history", "/usage", "/policy"})
_MOST_COOKIES: Final = 16
_SAFE: Final = frozenset({"GET", "HEAD"})
_OWN_SITE: Final = frozenset({b"same-origin", b"none"})
CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_ALWAYS: Final[tuple[tuple[bytes, bytes], ...]] = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


_Refusal: TypeAlias = tuple[int, str, str]
_OTHER_PAGE: Final[_Refusal] = (403, "wrong_origin", "requests from other pages are refused")
_BY_PEER: Final[dict[Peer, _Refusal]] = {
    "agent": (403, "from_an_agent", "programs that an agent started may not use this server"),
    "gone": (403, "peer_gone", "the program that sent this request has ended"),
}
_Address: TypeAlias = tuple[str, int]


class Guard:
    """An ASGI application that passes allowed requests on to ``app``.

    ``peer(client, server)`` identifies the process behind a connection. It is called in a thread, once
    per connection.
    """

    def __init__(
        self, app: ASGIApp, settings: Settings, peer: Callable[[_Address, _Address], Peer]
    ) -> None:
        self._app = app
        self._peer = peer
        self._looking = asyncio.Semaphore(1)
        self._logins: Logins = settings.logins
        self._token = settings.token.encode()
        self._cookie_name = settings.cookie_name
        self._hosts = frozenset(each.encode() for each in settings.hosts)
        self._origins = frozenset(each.encode() for each in settings.origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                return  # there are no WebSockets here
            await self._app(scope, receive, send)
            return
        known = cast("dict[str, Any]", scope)
        known[SEND] = send
        answer = _Answer(known, send)
        refusal = _BY_PEER.get(await self._who(known)) or self._refusal(known)
        if refusal is not None:
            await answer.refuse(*refusal)
        else:
            await self._app(scope, receive, cast("Send", answer.send))

    async def _who(self, scope: dict[str, Any]) -> Peer:
        connection: MutableMapping[str, Any] = scope.get(CONNECTION, {})
        if "peer" not in connection:
            client, server = scope.get("client"), scope.get("server")
            if not client or not server:
                return "unknown"
            # One at a time: hundreds of simultaneous connections must not starve other requests.
            async with self._looking:
                found = await asyncio.to_thread(self._peer, tuple(client[:2]), tuple(server[:2]))
            connection["peer"] = found
        return connection["peer"]

    def _refusal(self, scope: dict[str, Any]) -> _Refusal | None:
        headers = _by_name(cast("Iterable[tuple[bytes, bytes]]", scope["headers"]))
        names = headers[b"host"]
        if len(names) != 1 or names[0].lower() not in self._hosts:
            return 421, "wrong_host", "this server does not serve that host name"
        path, method = str(scope["path"]), str(scope["method"])
        origins = headers[b"origin"]
        if not self._origins.issuperset(origins):
            return _OTHER_PAGE
        cookies = _values(headers[b"cookie"], self._cookie_name)
        login = self._login(cookies, headers[KEY])
        is_in = login is not None or self._has_token(headers)
        # A link on another site may open a page, which is empty without a login, but nothing else.
        is_page = path in _PAGES or path.startswith("/s/")
        if not _OWN_SITE.issuperset(headers[b"sec-fetch-site"]) and (is_in or not is_page):
            return _OTHER_PAGE
        # Browsers send the origin for any method but GET. A GET needs the key, which other pages cannot send.
        if cookies and is_in and not origins and method not in _SAFE:
            return 403, "no_origin", "a request with a cookie must send its Origin"
        scope[SIGNED_IN], scope[LOGIN] = is_in, login
        if login is not None:
            scope[IS_ALLOWED] = partial(self._logins.holds, login)
        if path in _OPEN or path.startswith(_OPEN_BELOW) or is_in:
            return None
        return 401, "not_signed_in", "send the token as `Authorization: Bearer TOKEN`, or sign in"

    def _has_token(self, headers: _Headers) -> bool:
        return any(self._is_token(each) for each in headers[b"authorization"])

    def _is_token(self, given: bytes) -> bool:
        scheme, _, token = given.partition(b" ")
        return scheme.lower() == b"bearer" and compare_digest(token.strip(), self._token)

    def _login(self, cookies: list[str], keys: list[bytes]) -> str | None:
        """Find a login among all cookies of our name: another local server can set one, which must not hide ours."""
        if len(keys) != 1:
            return None
        key = keys[0].decode("latin-1")
        found = (self._logins.find(each, key) for each in cookies[:_MOST_COOKIES])
        return next((each for each in found if each is not None), None)


def _by_name(pairs: Iterable[tuple[bytes, bytes]]) -> _Headers:
    """All values of each header, so that a second header cannot hide the first."""
    found: _Headers = defaultdict(list)
    for name, value in pairs:
        found[name].append(value)
    return found


def _values(cookies: list[bytes], name: str) -> list[str]:
    """The values of the cookies with this name. Cookies of other local servers may be malformed."""
    pairs = [
        each.strip().partition("=")
        for line in cookies
        for each in line.decode("latin-1").split(";")
    ]
    return [value.strip('"') for key, _, value in pairs if key == name and value]


class _Answer:
    """Adds the common headers to a response, and logs it."""

    def __init__(self, scope: dict[str, Any], send: Send) -> None:
        self._scope = scope
        self._send = send
        self._began = time.monotonic()

    async def refuse(self, status: int, code: str, message: str) -> None:
        body = msgspec.json.encode({"error": {"code": code, "message": message}})
        headers = [(b"content-type", b"application/json")]
        headers.append((b"content-length", b"%d" % len(body)))
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})

    async def send(self, event: dict[str, Any]) -> None:
        if event["type"] == "http.response.start":
            given = list(cast("Iterable[tuple[bytes, bytes]]", event.get("headers", ())))
            named = {name for name, _ in given}
            extra: list[tuple[bytes, bytes]] = [pair for pair in _ALWAYS if pair[0] not in named]
            if b"cache-control" not in named:
                extra.append((b"cache-control", b"no-store"))
            event = {**event, "headers": [*given, *extra]}
            self._note(int(event["status"]))
        await self._send(cast("Any", event))

    def _note(self, status: int) -> None:
        if _access.isEnabledFor(logging.INFO):
            # Log only the path: the query may contain a private search.
            path = "".join(c if c.isprintable() else "?" for c in str(self._scope["path"]))
            took_ms = (time.monotonic() - self._began) * 1000
            _access.info("%s %s %d %.1f ms", self._scope["method"], path, status, took_ms)
