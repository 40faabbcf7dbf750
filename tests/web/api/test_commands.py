from __future__ import annotations

from pathlib import Path

from dragoman.hub.hub import RunningCommand
from support.page.web_stage import play, web_stage

AT = "/api/v1/sessions/s1"


def test_commands_are_listed_and_stopped(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            web.hub.running = [RunningCommand(command="make serve", pid=7)]
            made = [{"command": "make serve", "pid": 7}]
            assert await web.get(f"{AT}/commands") == {"commands": made}
            stopped = await web.post(f"{AT}/commands/stop")
            assert (stopped.status_code, stopped.json()) == (200, {"stopped": made})
            assert await web.get(f"{AT}/commands") == {"commands": []}
            assert (await web.post(f"{AT}/commands/stop")).json() == {"stopped": []}

    play(story())


def test_a_session_that_does_not_exist_has_no_commands(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            for answer in (
                await web.client.get("/api/v1/sessions/none/commands"),
                await web.post("/api/v1/sessions/none/commands/stop"),
            ):
                assert answer.status_code == 404
                assert answer.json()["error"]["code"] == "no_session"

    play(story())


def test_commands_can_be_kept_when_a_turn_or_a_session_is_stopped(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            for path in ("interrupt", "stop"):
                assert (await web.post(f"{AT}/{path}?keep_commands=true")).status_code == 204
                assert (await web.post(f"{AT}/{path}")).status_code == 204
                assert web.hub.asked[-2:] == [(path, "s1", "keep"), (path, "s1")]

    play(story())
