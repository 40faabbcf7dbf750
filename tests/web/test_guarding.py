"""Who is let in: hosts, origins, tokens, cookies; and what every answer says of itself."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from dragoman.hub.hub import Peer
from support.page.web_stage import TOKEN, Web, play, web_stage

HARNESSES = "/api/v1/harnesses"
SESSIONS = "/api/v1/sessions"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@asynccontextmanager
async def signed_in(web: Web) -> AsyncGenerator[httpx.AsyncClient]:
    """A browser that has exchanged the token."""
    async with web.anonymous(Origin=web.address) as client:
        response = await client.post("/api/v1/login", json={"token": TOKEN})
        assert response.status_code == 200
        client.headers["X-Dragoman-Key"] = response.json()["key"]
        yield client


async def status(web: Web, path: str = HARNESSES, *, method: str = "GET", **headers: str) -> int:
    async with web.anonymous() as client:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return (await client.request(method, path, headers=named)).status_code


def test_nobody_gets_in_without_the_token(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            assert await status(web) == 401
            assert await status(web, Authorization="Bearer wrong") == 401
            assert await status(web, Authorization=f"Basic {TOKEN}") == 401
            assert await status(web, Authorization=f"bearer  {TOKEN}") == 200
            assert await status(web, Cookie=f"dragoman_{web.port}={TOKEN}") == 401
            assert await status(web, Cookie='a="b; =;;') == 401
            assert await status(web, "/api/v1/nothing") == 401
            assert await status(web, "/api/v1/openapi.json") == 401
            for path in ("//api/v1/harnesses", "/%61pi/v1/harnesses", "/s/../api/v1/harnesses"):
                assert await status(web, path) in (401, 404), path
            for path in (
                "/API/v1/harnesses",
                "/static/../api/v1/harnesses",
                "/.//api/v1/harnesses",
            ):
                assert await status(web, path) in (401, 404), path
            assert await status(web, "/api/v1/sessions/s1/stream") == 401

    play(story())


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1:PORT", 200),
        ("localhost:PORT", 200),
        ("LOCALHOST:PORT", 200),
        ("[::1]:PORT", 200),
        ("127.0.0.1", 421),
        ("127.0.0.1:1", 421),
        ("evil.example:PORT", 421),
        ("localhost.evil.example:PORT", 421),
        ("", 421),
    ],
)
def test_only_our_own_names_are_answered_to(tmp_path: Path, host: str, expected: int) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            named = host.replace("PORT", str(web.port))
            assert await status(web, Host=named, **BEARER) == expected
            assert await status(web, "/", Host=named) == expected
            assert await status(web, "/static/app.js", Host=named) == expected

    play(story())


@pytest.mark.parametrize(
    ("origin", "is_ours"),
    [
        ("http://127.0.0.1:PORT", True),
        ("http://localhost:PORT", True),
        ("http://127.0.0.1:1", False),
        ("https://127.0.0.1:PORT", False),
        ("http://evil.example", False),
        ("null", False),
        ("", False),
    ],
)
def test_only_our_own_page_may_ask(tmp_path: Path, origin: str, is_ours: bool) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            named = origin.replace("PORT", str(web.port))
            expected = 200 if is_ours else 403
            assert await status(web, Origin=named, **BEARER) == expected
            assert await status(web, "/", Origin=named) == expected
            refused = await status(web, SESSIONS, method="POST", Origin=named, **BEARER)
            assert refused == (400 if is_ours else 403)
            async with web.anonymous(Origin=named) as client:
                response = await client.post("/api/v1/login", json={"token": TOKEN})
                assert response.status_code == (200 if is_ours else 403)

    play(story())


def test_a_stream_is_not_for_other_pages_either(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            path = "/api/v1/sessions/s1/stream"
            assert await status(web, path, Origin="http://evil.example", **BEARER) == 403
            async with signed_in(web) as client:
                del client.headers["Origin"]
                response = await client.get(path, headers={"Sec-Fetch-Site": "cross-site"})
                assert response.status_code == 403
                same = {"Sec-Fetch-Site": "same-origin"}
                async with client.stream("GET", path, headers=same) as response:
                    assert response.status_code == 200

    play(story())


def test_with_the_cookie_what_changes_something_must_name_its_origin(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            async with signed_in(web) as client:
                assert (await client.post("/api/v1/sessions/s1/interrupt")).status_code == 204
                del client.headers["Origin"]
                assert (await client.get(HARNESSES)).status_code == 200
                refused = await client.post("/api/v1/sessions/s1/interrupt")
                assert refused.status_code == 403
                assert refused.json()["error"]["code"] == "no_origin"
            # A program that has the token itself is no browser.
            response = await web.post("/api/v1/sessions/s1/interrupt")
            assert response.status_code == 204

    play(story())


def test_the_cookie_is_for_this_server_and_no_script(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web, web.anonymous(Origin=web.address) as client:
            wrong = await client.post("/api/v1/login", json={"token": "wrong"})
            assert wrong.status_code == 401
            assert "set-cookie" not in wrong.headers
            response = await client.post("/api/v1/login", json={"token": TOKEN})
            cookie = response.headers["set-cookie"]
            assert cookie.startswith(f"dragoman_{web.port}=")
            assert "HttpOnly" in cookie
            assert "SameSite=strict" in cookie
            assert "Max-Age" not in cookie  # browsers write what has an age to the disk
            assert TOKEN not in cookie + response.text
            assert response.json()["key"] not in cookie

    play(story())


def test_neither_the_cookie_nor_the_key_is_enough(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web, signed_in(web) as client:
            web.hub.add("s1", title="painting the shed")
            interrupt = "/api/v1/sessions/s1/interrupt"
            cookie = f"dragoman_{web.port}={client.cookies[f'dragoman_{web.port}']}"
            key = client.headers["X-Dragoman-Key"]
            # What a server on another port of this machine is sent by the browser, and can send itself.
            for headers in (
                {"Cookie": cookie},
                {"Cookie": cookie, "Origin": web.address},
                {"Cookie": cookie, "Origin": web.address, "X-Dragoman-Key": "wrong"},
                {"Cookie": cookie, "Origin": web.address, "X-Dragoman-Key": ""},
                {"X-Dragoman-Key": key, "Origin": web.address},
                {"Cookie": f"dragoman_{web.port}=wrong", "X-Dragoman-Key": key},
            ):
                async with web.anonymous(**headers) as thief:
                    assert (await thief.get(HARNESSES)).status_code == 401
                    assert (await thief.post(interrupt)).status_code == 401
                    page = await thief.get("/s/s1")
                    assert "painting" not in page.text
            assert (await client.get(HARNESSES)).status_code == 200
            assert (await client.post(interrupt)).status_code == 204
            assert "painting" in (await client.get("/s/s1")).text
            async with signed_in(web) as other:
                other.headers["X-Dragoman-Key"] = key  # of another login
                assert (await other.get(HARNESSES)).status_code == 401

    play(story())


def test_whoever_logs_out_is_out_with_every_copy_of_the_secrets(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web, signed_in(web) as client, signed_in(web) as other:
            name = f"dragoman_{web.port}"
            copied = {
                "Cookie": f"{name}={client.cookies[name]}",
                "X-Dragoman-Key": client.headers["X-Dragoman-Key"],
                "Origin": web.address,
            }
            async with web.anonymous(**copied) as copy:
                assert (await copy.get(HARNESSES)).status_code == 200
                assert (await client.post("/api/v1/logout")).status_code == 204
                assert (await copy.get(HARNESSES)).status_code == 401
                assert (await copy.post("/api/v1/logout")).status_code == 401
            assert (await client.get(HARNESSES)).status_code == 401
            assert (await other.get(HARNESSES)).status_code == 200

    play(story())


def test_logging_out_ends_the_streams_of_that_login(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path, heartbeat_seconds=0.2) as web, signed_in(web) as client:
            web.hub.add("s1")
            for path in ("/api/v1/sessions/s1/stream", "/api/v1/stream"):
                async with (
                    signed_in(web) as leaving,
                    client.stream("GET", path) as kept,
                    leaving.stream("GET", path) as ended,
                ):
                    assert (await leaving.post("/api/v1/logout")).status_code == 204
                    with suppress(httpx.RemoteProtocolError, httpx.ReadError):
                        async for _ in ended.aiter_raw():
                            continue
                    assert await anext(kept.aiter_raw())

    play(story())


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}"},
        {"Authorization": "Basic eA=="},
        {"X-Requested-With": "XMLHttpRequest"},
    ],
)
def test_no_other_header_makes_up_for_the_wrong_page(tmp_path: Path, extra: dict[str, str]) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web, signed_in(web) as client:
            web.hub.add("s1")
            interrupt = "/api/v1/sessions/s1/interrupt"
            for where in (
                {"Origin": "http://127.0.0.1:3000"},
                {"Origin": "null"},
                {"Sec-Fetch-Site": "same-site"},  # another port of this machine
                {"Sec-Fetch-Site": "cross-site"},
            ):
                headers = {**extra, **where}
                assert (await client.post(interrupt, headers=headers)).status_code == 403
                assert (await client.get(HARNESSES, headers=headers)).status_code == 403
            del client.headers["Origin"]
            assert (await client.post(interrupt, headers=extra)).status_code == 403

    play(story())


@pytest.mark.parametrize(
    "extra",
    [
        (("Origin", "http://127.0.0.1:1"), ("Origin", "OURS")),
        (("Origin", "OURS"), ("Origin", "null")),
        (("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Site", "none")),
    ],
)
def test_a_second_header_does_not_hide_the_first(
    tmp_path: Path, extra: tuple[tuple[str, str], ...]
) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web, web.anonymous() as client:
            ours = [(name, value.replace("OURS", web.address)) for name, value in extra]
            response = await client.get(HARNESSES, headers=[*BEARER.items(), *ours])
            assert response.status_code == 403

    play(story())


def test_cookies_of_other_servers_neither_hide_ours_nor_sign_anybody_out(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web, signed_in(web) as client:
            name = f"dragoman_{web.port}"
            held = client.cookies[name]
            key = {"X-Dragoman-Key": client.headers["X-Dragoman-Key"]}
            for cookies in (
                f"{name}=planted; {name}={held}",
                f'a="b; [{{}}=@; {name}={held}; c',
                f"{name}={held}; {name}=planted",
            ):
                assert await status(web, Cookie=cookies, **key) == 200
                # It is seen as a cookie, too: a token does not make up for a missing Origin.
                named = {"Cookie": cookies, **BEARER}
                assert await status(web, "/api/v1/logout", method="POST", **named) == 403
            async with web.anonymous() as other:
                two = [("Cookie", "a=b"), ("Cookie", f"{name}={held}"), *key.items()]
                assert (await other.get(HARNESSES, headers=two)).status_code == 200

    play(story())


def test_a_link_from_elsewhere_leads_to_an_empty_page_and_to_nothing_else(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1", title="painting the shed")
            far = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
            async with web.anonymous(**far) as client:
                page = await client.get("/s/s1")
                assert page.status_code == 200
                assert "painting" not in page.text
                assert (await client.get("/static/app.js")).status_code == 403
                assert (
                    await client.post("/api/v1/login", json={"token": TOKEN})
                ).status_code == 403

    play(story())


@pytest.mark.parametrize("peer", ["agent", "gone"])
def test_a_program_of_an_agent_is_refused_whatever_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peer: Peer
) -> None:
    asked: list[tuple[Any, Any]] = []

    async def story() -> None:
        async with web_stage(tmp_path) as web, signed_in(web) as client:

            def who(client: Any, server: Any) -> Peer:
                asked.append((client, server))
                return peer

            monkeypatch.setattr(web.guard, "_peer", who)
            async with web.anonymous(**BEARER) as program:
                for path in (HARNESSES, "/", "/static/app.js"):
                    assert (await program.get(path)).status_code == 403
                assert len(asked) == 1  # once for a connection
                login = await program.post("/api/v1/login", json={"token": TOKEN})
                assert login.status_code == 403
            assert asked[0][1] == ("127.0.0.1", web.port)
            # A connection that was looked at before stays what it was.
            assert (await client.get(HARNESSES)).status_code == 200

    play(story())


def test_every_answer_says_what_a_browser_must_not_do(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            for path in ("/", "/static/app.js", "/nothing", HARNESSES, "/api/v1/nothing"):
                headers = (await web.client.get(path)).headers
                policy = headers["content-security-policy"]
                assert "default-src 'none'" in policy
                assert "frame-ancestors 'none'" in policy
                assert "unsafe" not in policy
                assert headers["x-content-type-options"] == "nosniff"
                assert headers["referrer-policy"] == "no-referrer"
                assert headers["cross-origin-opener-policy"] == "same-origin"
                assert "cache-control" in headers
                assert "access-control-allow-origin" not in headers

    play(story())


def test_the_log_has_the_path_and_nothing_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            await web.client.get(f"/api/v1/search?q={TOKEN}")
            await web.client.get("/history%0Ainjected?q=hidden")
            await web.post("/api/v1/login", {"token": TOKEN})

    with caplog.at_level(logging.DEBUG):
        play(story())

    ours = "\n".join(each.getMessage() for each in caplog.records if "dragoman" in each.name)
    assert "GET /api/v1/search 200" in ours
    assert "GET /history?injected 404" in ours
    assert TOKEN not in ours
    assert "hidden" not in ours


def test_others_may_come_in_by_the_name_that_was_allowed(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path, names=["box.example", "proxy.example:443"]) as web:
            assert await status(web, Host=f"box.example:{web.port}", **BEARER) == 200
            assert await status(web, Host="proxy.example:443", **BEARER) == 200
            assert await status(web, Host="box.example", **BEARER) == 421
            assert await status(web, Origin="https://box.example", **BEARER) == 200

    play(story())


def test_there_are_no_web_sockets(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", **BEARER}
            assert await status(web, "/api/v1/sessions/s1/stream", **upgrade) == 404

    play(story())
