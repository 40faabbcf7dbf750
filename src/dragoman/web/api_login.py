"""The token for a cookie: the page has it from the address that was printed, and gives it away once."""

from __future__ import annotations

from hmac import compare_digest
from typing import Any

from litestar import Response, post
from litestar.datastructures import Cookie
from litestar.exceptions import HTTPException
from litestar.params import JSONBody

from dragoman.web.office import TheOffice
from dragoman.web.shapes import Login


@post("/login", summary="Exchange the token for a cookie", status_code=204, tags=["login"])
async def login(office: TheOffice, data: JSONBody[Login]) -> Response[None]:
    settings = office.settings
    if not compare_digest(data.token.encode("utf-8", "replace"), settings.token.encode()):
        raise HTTPException("this is not the token", status_code=401)
    cookie = Cookie(
        key=settings.cookie_name, value=settings.cookie, httponly=True, samesite="strict", path="/"
    )
    return Response(None, status_code=204, cookies=[cookie])


@post("/logout", summary="Take the cookie back", status_code=204, tags=["login"])
async def logout(office: TheOffice) -> Response[None]:
    gone = Cookie(
        key=office.settings.cookie_name,
        value="",
        max_age=0,
        httponly=True,
        samesite="strict",
        path="/",
    )
    return Response(None, status_code=204, cookies=[gone])


HANDLERS: list[Any] = [login, logout]
