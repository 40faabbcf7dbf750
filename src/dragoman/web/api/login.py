"""Signing in and out: the page sends the token once, and gets two secrets that are valid until it signs out."""

from __future__ import annotations

from hmac import compare_digest
from typing import Any, cast

from litestar import Request, Response, post
from litestar.datastructures import Cookie
from litestar.exceptions import HTTPException
from litestar.params import JSONBody

from dragoman.web.api.shapes import Login, SignedIn
from dragoman.web.guarding import LOGIN
from dragoman.web.service import TheService


@post("/login", summary="Sign in with the token", status_code=200, tags=["login"])
async def login(service: TheService, data: JSONBody[Login]) -> Response[SignedIn]:
    """Sets a cookie and returns a key. Each request needs both; send the key as ``X-Dragoman-Key``."""
    settings = service.settings
    is_token = compare_digest(data.token.encode("utf-8", "replace"), settings.token.encode())
    if not is_token and not settings.logins.take_code(data.token):
        raise HTTPException("invalid token", status_code=401)
    made = settings.logins.begin()
    cookie = _cookie(settings.cookie_name, made.cookie)
    return Response(SignedIn(made.key), status_code=200, cookies=[cookie])


@post("/logout", summary="Sign out", status_code=204, tags=["login"])
async def logout(service: TheService, request: Request[Any, Any, Any]) -> Response[None]:
    """Revokes this login: its cookie and key become invalid, and its streams end."""
    name = cast("dict[str, Any]", request.scope).get(LOGIN)
    if name is not None:
        service.settings.logins.end(name)
    gone = _cookie(service.settings.cookie_name, "", max_age=0)
    return Response(None, status_code=204, cookies=[gone])


def _cookie(name: str, value: str, **more: Any) -> Cookie:
    # Without Max-Age, browsers keep the cookie in memory and not in a file.
    return Cookie(key=name, value=value, httponly=True, samesite="strict", path="/", **more)


HANDLERS: list[Any] = [login, logout]
