"""An agent from another package, driven through the API and shown on the page, with the real hub."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx

from dragoman.hub.hub import Hub
from dragoman.web.app import create_app
from dragoman.web.server import listen, serving
from dragoman.web.settings import Settings
from support.page.web_stage import SECONDS, TOKEN, open_archive, play
from support.toy.installing import Toy


def test_it_is_offered_and_runs_like_any_other(toy: Toy, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()

    async def story() -> None:
        on = listen("127.0.0.1", 0)
        settings = Settings(token=TOKEN, port=on.getsockname()[1])
        async with Hub(tmp_path / "data", roots=[root], harness="toy") as hub:
            app = create_app(hub, open_archive(tmp_path), settings)
            async with (
                serving(app, on, hang_up=app.state.hang_up),
                httpx.AsyncClient(
                    base_url=f"http://127.0.0.1:{settings.port}",
                    headers={"Authorization": f"Bearer {TOKEN}"},
                    timeout=SECONDS,
                ) as client,
            ):
                await look(client, root)

    async def look(client: httpx.AsyncClient, root: Path) -> None:
        known = (await client.get("/api/v1/harnesses")).json()["harnesses"]
        [toy_info] = [each for each in known if each["name"] == "toy"]
        assert toy_info["title"] == "Toy agent"
        assert [each["label"] for each in toy_info["access"]] == ["Touch", "Look"]
        assert toy_info["notes"] == ["It is only a toy."]
        start = (await client.get("/")).text
        assert '<input type="radio" name="harness" value="toy" checked>' in start
        assert "It can only look at the toys." in start
        given = {"cwd": str(root), "prompt": "hi", "harness": "toy", "access": "read"}
        refused = await client.post("/api/v1/sessions", json={**given, "access": "full"})
        assert refused.status_code == 400
        assert "touch, look" in refused.json()["error"]["message"]
        started = await client.post("/api/v1/sessions", json=given)
        assert started.status_code == 201, started.text
        session = started.json()
        assert (session["harness"], session["sandbox"]) == ("toy", "look")
        path = f"/api/v1/sessions/{session['id']}"
        while (await client.get(path)).json()["state"] != "done":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        entries = (await client.get(f"{path}/entries")).json()["entries"]
        assert "You said: hi" in [each["message"].get("text") for each in entries]
        page = (await client.get(f"/s/{session['id']}")).text
        assert "You said: hi" in page
        assert "Toy agent" in page
        assert '<option value="look" selected' in page
        turn = await client.post(f"{path}/turns", json={"text": "more", "access": "touch"})
        assert turn.status_code == 202, turn.text

    play(story())
