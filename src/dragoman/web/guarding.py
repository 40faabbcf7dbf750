"""The guard at the door: who may come in, by which name, from which page; and what every answer says.

An ASGI application around the rest, so that nothing is answered without it. It looks, in this order, at

1. the ``Host``: one of ours, or a page elsewhere has pointed its name at this machine;
2. the ``Origin``, where there is one: our own page, whatever is asked;
3. the token (``Authorization: Bearer``) or the cookie that it was exchanged for. With the cookie, a browser
   speaks: what changes something must come with an ``Origin``, and nothing may come from another site.

Only the page's own files and the exchange of the token need neither.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final, TypeAlias, cast

import msgspec
from litestar.types import ASGIApp, Receive, Scope, Send

from dragoman.web.settings import Settings
from dragoman.web.streaming import SEND

_access = logging.getLogger("dragoman.web.access")
_Headers: TypeAlias = dict[bytes, bytes]

SIGNED_IN: Final = "dragoman.signed_in"
"""The key of a request's scope that says whether it was let in."""
_OPEN: Final = frozenset({"/", "/history", "/usage", "/policy", "/api/v1/login"})
_OPEN_BELOW: Final = ("/s/", "/static/")
"""What anybody may ask for: a page is a login for those who have not signed in. All else is closed."""
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


class Guard:
    """``Guard(app, settings)``: the application, for those who may use it."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._token = settings.token.encode()
        self._cookie = settings.cookie.encode()
        self._cookie_name = settings.cookie_name
        self._hosts = frozenset(each.encode() for each in settings.hosts)
        self._origins = frozenset(each.encode() for each in settings.origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                return  # there are none here
            await self._app(scope, receive, send)
            return
        cast("dict[str, Any]", scope)[SEND] = send
        answer = _Answer(cast("dict[str, Any]", scope), send)
        refusal = self._refusal(cast("dict[str, Any]", scope))
        if refusal is not None:
            await answer.refuse(*refusal)
        else:
            await self._app(scope, receive, cast("Send", answer.send))

    def _refusal(self, scope: dict[str, Any]) -> tuple[int, str, str] | None:
        pairs = cast("Iterable[tuple[bytes, bytes]]", scope["headers"])
        headers: _Headers = dict(pairs)
        names = [value for name, value in pairs if name == b"host"]
        if len(names) != 1 or names[0].lower() not in self._hosts:
            return 421, "wrong_host", "this server does not answer to that name"
        origin = headers.get(b"origin")
        if origin is not None and origin not in self._origins:
            return 403, "wrong_origin", "requests from other pages are refused"
        by_cookie = self._has_cookie(headers)
        is_in = by_cookie or self._has_token(headers)
        scope[SIGNED_IN] = is_in
        path, method = str(scope["path"]), str(scope["method"])
        if path in _OPEN or path.startswith(_OPEN_BELOW):
            return None
        if not is_in:
            return 401, "not_signed_in", "say who you are: Authorization: Bearer TOKEN"
        if by_cookie and headers.get(b"authorization") is None:
            if headers.get(b"sec-fetch-site", b"none") not in _OWN_SITE:
                return 403, "wrong_origin", "requests from other pages are refused"
            if method not in _SAFE and origin is None:
                return 403, "no_origin", "a request that changes something must name its origin"
        return None

    def _has_token(self, headers: _Headers) -> bool:
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        return scheme.lower() == b"bearer" and compare_digest(given.strip(), self._token)

    def _has_cookie(self, headers: _Headers) -> bool:
        try:
            jar = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
        except CookieError:
            return False
        held = jar.get(self._cookie_name)
        given = held.value.encode("latin-1", "replace") if held is not None else b""
        return compare_digest(given, self._cookie)


class _Answer:
    """An answer on its way: given the headers that all answers have, and noted in the log."""

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
            # The path and nothing behind it: a query may hold what somebody looks for.
            path = "".join(c if c.isprintable() else "?" for c in str(self._scope["path"]))
            took_ms = (time.monotonic() - self._began) * 1000
            _access.info("%s %s %d %.1f ms", self._scope["method"], path, status, took_ms)
