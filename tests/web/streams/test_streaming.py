"""Streams over a real socket: cursors, deltas, signs of life, readers that go, sleep or are many."""

from __future__ import annotations

import asyncio
import json
import select
import socket
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.model.messages import Delta, Text, TurnEnded, TurnStarted
from support.page.web_stage import TOKEN, Events, Web, play, web_stage
from support.terminal.chat_story import first_turn

STREAM = "/api/v1/sessions/s1/stream"


def texts(count: int) -> list[Text]:
    return [Text(text=f"{number}") for number in range(count)]


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(1_000):
        if condition():
            return
        await asyncio.sleep(0.01)
    pytest.fail("it never came to that")


def test_entries_deltas_and_the_place_of_each(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            web.hub.tell("s1", Text(text="before"))
            async with web.client.stream("GET", STREAM) as response:
                assert response.headers["content-type"].startswith("text/event-stream")
                events = Events(response)
                first = await events.next()
                assert (first["id"], first["event"]) == ("1", "entry")
                assert json.loads(first["data"])["message"]["text"] == "before"
                web.hub.tell("s1", Delta(of="text", text="n"), Text(text="now"))
                passing, entry = await events.take(2)
                assert passing["event"] == "delta"
                assert "id" not in passing
                assert json.loads(passing["data"])["message"]["text"] == "n"
                assert entry["id"] == "2"

    play(story())


@pytest.mark.parametrize(
    ("query", "header", "first"),
    [
        ("", None, 1),
        ("?after=3", None, 4),
        ("", "7", 8),
        ("?after=3", "7", 8),  # a browser that comes again asks at the old address
        ("?after=3", "rubbish", 4),
        ("?after=3", "-1", 4),
    ],
)
def test_a_reader_goes_on_from_its_cursor(
    tmp_path: Path, query: str, header: str | None, first: int
) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            web.hub.tell("s1", *texts(10))
            headers = {"Last-Event-ID": header} if header is not None else {}
            async with web.client.stream("GET", STREAM + query, headers=headers) as response:
                read = await Events(response).take(11 - first)
            assert [int(each["id"]) for each in read] == list(range(first, 11))

    play(story())


def test_a_stream_says_when_to_come_again_and_that_it_lives(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path, heartbeat_seconds=0.1, retry_ms=777) as web:
            web.hub.add("s1")
            async with web.client.stream("GET", STREAM) as response:
                events = Events(response)
                assert await events.line() == "retry: 777"
                assert await events.line() == ""
                assert await events.line() == ":"

    play(story())


def test_many_readers_share_one_subscription_which_ends_with_them(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path, heartbeat_seconds=0.1) as web:
            web.hub.add("s1")
            async with asyncio.TaskGroup() as group:
                for _ in range(20):
                    group.create_task(_read(web, 5))
                await until(lambda: web.hub.reader_count > 0)
                web.hub.tell("s1", *texts(5))
                assert web.hub.reader_count == 1
            await until(lambda: web.hub.reader_count == 0)
            await _read(web, 5)  # and begins anew with the next

    play(story())


async def _read(web: Web, count: int) -> None:
    async with web.client.stream("GET", STREAM) as response:
        read = await Events(response).take(count)
    assert [int(each["id"]) for each in read] == list(range(1, count + 1))


def test_a_reader_that_does_not_read_harms_nobody_and_is_cut_off(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path, slow_seconds=0.3, keep=16) as web:
            web.hub.add("s1")
            sleeper = socket.create_connection(("127.0.0.1", web.port))
            sleeper.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            request = f"GET {STREAM} HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
            sleeper.sendall(request.encode())
            try:
                async with web.client.stream("GET", STREAM) as response:
                    events = Events(response)
                    for number in range(60):
                        web.hub.tell("s1", Text(text="x" * 200_000))
                        assert (await events.next())["id"] == str(number + 1)
                await until(lambda: _is_cut(sleeper))
            finally:
                sleeper.close()

    play(story())


def _is_cut(sock: socket.socket) -> bool:
    """Whether the other side has ended it, without reading any of it."""
    looking = select.poll()
    looking.register(sock, select.POLLHUP)
    return bool(looking.poll(0))


def test_a_slow_reader_gets_a_gap_and_then_everything_from_the_store(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path, keep=8) as web:
            web.hub.add("s1")
            async with web.client.stream("GET", STREAM) as response:
                events = Events(response)
                for _ in range(80):
                    web.hub.tell("s1", Text(text="x" * 100_000))
                    await asyncio.sleep(0)
                read = [each async for each in _until_id(events, 80)]
            numbers = [int(each["id"]) for each in read if "id" in each]
            assert numbers == list(range(1, 81))
            assert any(each.get("event") == "gap" for each in read)

    play(story())


async def _until_id(events: Events, last: int) -> AsyncGenerator[dict[str, str]]:
    while True:
        event = await events.next()
        yield event
        if event.get("id") == str(last):
            return


def test_the_list_of_sessions_can_be_followed(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            async with web.client.stream("GET", "/api/v1/stream") as response:
                events = Events(response)
                whole = await events.next()
                assert whole["event"] == "sessions"
                assert [each["id"] for each in json.loads(whole["data"])] == ["s1"]
                web.hub.change("s1", state="working")
                changed = await events.next()
                if changed["event"] == "saved_sessions":  # once, as soon as they were looked at
                    assert json.loads(changed["data"]) == {"sessions": [], "are_all": True}
                    changed = await events.next()
                assert changed["event"] == "session"
                assert json.loads(changed["data"])["state"] == "working"

    play(story())


@pytest.mark.parametrize("name", ["claude", "ndjson", "orchestrator", "unified", "messages"])
def test_any_export_format_can_be_streamed(tmp_path: Path, name: str) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            web.hub.tell("s1", *first_turn())
            async with web.client.stream("GET", f"{STREAM}?format={name}") as response:
                event = await Events(response).next()
            assert json.loads(event["data"])

    play(story())


def test_a_transcript_can_be_streamed_line_by_line(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            web.hub.tell("s1", TurnStarted(), Text(text="a\nb"), TurnEnded(outcome="completed"))
            async with web.client.stream("GET", f"{STREAM}?format=text") as response:
                event = await Events(response).next()
            assert "a\n" in event["data"]

    play(story())


def test_chat_formats_tell_one_turn_and_end(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            web.hub.tell("s1", *first_turn(), *first_turn())
            response = await web.client.get(f"{STREAM}?format=ai-sdk&after=0")
            assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
            assert response.text.endswith("data: [DONE]\n\n")
            assert response.text.count('"type":"start"') == 1
            response = await web.client.get(f"{STREAM}?format=ag-ui&after=0")
            assert response.text.count("RUN_FINISHED") == 1

    play(story())


def test_a_chat_that_comes_again_gets_the_turn_under_way_from_its_beginning(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            web.hub.tell("s1", *first_turn())
            assert (await web.client.get(f"{STREAM}?format=ai-sdk")).status_code == 204
            of: dict[str, Any] = {"session_id": "native-s1", "turn_id": "t9"}
            web.hub.tell("s1", TurnStarted(**of), Text(**of, text="still at it"))
            web.hub.change("s1", state="working")
            async with web.client.stream("GET", f"{STREAM}?format=ai-sdk") as response:
                first = await Events(response).next()
            assert json.loads(first["data"])["messageId"] == "t9"

    play(story())


def test_what_there_is_no_format_or_session_for_is_refused(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            response = await web.client.get(f"{STREAM}?format=nonsense")
            assert response.status_code == 400
            assert response.json()["error"]["code"] == "no_format"
            assert (await web.client.get("/api/v1/sessions/zz/stream")).status_code == 404
            assert (await web.client.get(f"{STREAM}?after=-1")).status_code == 400

    play(story())


def test_the_end_of_the_server_is_the_end_of_its_streams(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            async with web.client.stream("GET", STREAM) as response:
                web.app.state.hang_up()
                lines = [line async for line in response.aiter_lines()]
            assert lines[0].startswith("retry")

    play(story())
