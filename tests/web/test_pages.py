from __future__ import annotations

from pathlib import Path

from dragoman.model.messages import ApprovalRequested, Text
from support.archive.saved_sessions import Rows, save, session_id
from support.page.web_stage import play, web_stage
from support.terminal.chat_story import story


def test_who_is_not_signed_in_sees_the_login_and_nothing_else(tmp_path: Path) -> None:
    async def look() -> None:
        async with web_stage(tmp_path) as web, web.anonymous() as client:
            web.hub.add("s1", title="a secret title")
            for path in ("/", "/s/s1", "/s/zz", "/history", "/usage", "/policy"):
                response = await client.get(path)
                assert response.status_code == 200
                assert 'id="login"' in response.text
                assert "secret" not in response.text

    play(look())


def test_every_page_is_there_and_has_no_script_of_its_own(tmp_path: Path) -> None:
    async def look() -> None:
        save(tmp_path / "home", 1, Rows(1).turn("paint the shed", "Done.").data)
        async with web_stage(tmp_path) as web:
            web.hub.add("s1", title="<script>alert(1)</script>")
            web.hub.tell("s1", *story(), Text(text="<img src=x onerror=alert(1)>"))
            web.hub.ask_person(ApprovalRequested(approval_id="a1", kind="command", summary="rm x"))
            pages = ("/", "/s/s1", f"/s/{session_id(1)}", "/history", "/history?q=shed")
            for path in (*pages, "/history?q=%22", "/usage", "/policy"):
                response = await web.client.get(path)
                assert response.status_code == 200, path
                assert response.headers["content-type"].startswith("text/html")
                assert "<script>" not in response.text
                assert "<img src=x" not in response.text
                assert " style=" not in response.text
            found = (await web.client.get("/history?q=shed")).text
            assert "<mark>shed</mark>" in found
            assert "rm x" in (await web.client.get("/s/s1")).text
            assert f'href="/s/{session_id(1)}#t1"' in found

    play(look())


def test_what_cannot_be_shown_is_said_in_a_sentence_with_the_way_out(tmp_path: Path) -> None:
    async def look() -> None:
        async with web_stage(tmp_path) as web:
            for path, status, words in (
                (
                    "/s/zz",
                    404,
                    "There is no session &#x27;zz&#x27; on this machine; it may have been deleted.",
                ),
                ("/history?cursor=zz", 400, "Invalid cursor."),
            ):
                response = await web.client.get(path)
                assert response.status_code == status
                assert response.headers["content-type"].startswith("text/html")
                assert words in response.text
                assert 'href="/history"' in response.text

    play(look())


def test_files_of_the_page_are_kept_until_they_change(tmp_path: Path) -> None:
    async def look() -> None:
        async with web_stage(tmp_path) as web, web.anonymous() as client:
            first = await client.get("/static/app.js")
            assert first.status_code == 200
            assert first.headers["content-type"].startswith("text/javascript")
            tag = {"If-None-Match": first.headers["etag"]}
            again = await client.get("/static/app.js", headers=tag)
            assert again.status_code == 304
            assert again.content == b""
            for name in ("nothing.js", "..%2Fviews.py", "%2e%2e/views.py", "app.py", "%00.js"):
                assert (await client.get(f"/static/{name}")).status_code == 404

    play(look())
