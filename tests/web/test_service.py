from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from dragoman.errors import UsageError
from dragoman.hub.hub import Forbidden, UnknownSession
from dragoman.web.archive_worker import ArchiveWorker
from dragoman.web.service import SessionService
from dragoman.web.settings import Settings
from support.page.fake_hub import AT, FakeHub
from support.page.web_stage import open_archive, play


def service(folder: Path) -> tuple[SessionService, FakeHub]:
    hub = FakeHub(folder)
    return SessionService(hub, ArchiveWorker(open_archive(folder)), Settings()), hub


def test_sessions_that_were_heard_last_in_the_same_moment_are_all_listed_once(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        made, hub = service(tmp_path)
        for number in range(9):
            hub.add(f"s{number}", updated_at=AT + timedelta(seconds=number // 3))
        seen: list[str] = []
        cursor = None
        while True:
            page, cursor = await made.sessions(limit=2, cursor=cursor, live=True)
            seen += [each.id for each in page]
            if cursor is None:
                break
        assert seen == [f"s{n}" for n in (6, 7, 8, 3, 4, 5, 0, 1, 2)]
        await made.archive_worker.close()

    play(story())


def test_a_list_can_be_narrowed(tmp_path: Path) -> None:
    async def story() -> None:
        made, hub = service(tmp_path)
        hub.add("a", cwd="/work/app", archived=True)
        hub.add("b", cwd="/work/app/deeper")
        hub.add("c", cwd="/work/apple")
        found, _ = await made.sessions(limit=9, project="/work/app", live=True)
        assert {each.id for each in found} == {"a", "b"}
        found, _ = await made.sessions(limit=9, archived=True, live=True)
        assert [each.id for each in found] == ["a"]
        with pytest.raises(UsageError):
            await made.sessions(limit=9, cursor="bm90IGEgY3Vyc29y")
        await made.archive_worker.close()

    play(story())


def test_names_and_images(tmp_path: Path) -> None:
    made, hub = service(tmp_path)
    hub.add("s1", native_id="n1")

    assert made.spoken_to("n1") == "s1"
    with pytest.raises(UnknownSession):
        made.spoken_to("zz")
    assert made.images(["data:x"]) == ["data:x"]
    with pytest.raises(Forbidden):
        made.images(["/etc/passwd"])
