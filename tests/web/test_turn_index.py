from __future__ import annotations

from pathlib import Path
from typing import Any

from dragoman.model.messages import Prompt, Text, TurnEnded, TurnStarted
from dragoman.web.archive_worker import ArchiveWorker
from dragoman.web.ranges import SessionRanges
from dragoman.web.service import SessionService
from dragoman.web.settings import Settings
from dragoman.web.turn_index import TurnMarks, TurnStart
from support.archive.saved_sessions import Rows, save, session_id
from support.page.fake_hub import FakeHub
from support.page.web_stage import open_archive, play


def test_turns_are_marked_and_read_on_from_where_they_were(tmp_path: Path) -> None:
    async def story() -> None:
        hub = FakeHub(tmp_path)
        hub.add("s1")
        of: dict[str, Any] = {"session_id": "native-s1"}
        service = SessionService(hub, ArchiveWorker(open_archive(tmp_path)), Settings())
        marks = TurnMarks(service, SessionRanges(service))
        hub.tell("s1", TurnStarted(**of), Prompt(**of, text="Paint\nthe shed"))
        assert await marks.of(await service.session("s1")) == [
            TurnStart(1, "Paint the shed", "open")
        ]
        helper: dict[str, Any] = {"session_id": "helper"}
        hub.tell("s1", TurnStarted(**helper), TurnEnded(**helper, outcome="failed"))
        hub.tell("s1", Prompt(**of, text="steering"), TurnEnded(**of, outcome="completed"))
        hub.tell("s1", *(Text(text="x") for _ in range(1_500)), TurnStarted(**of))
        assert await marks.of(await service.session("s1")) == [
            TurnStart(1, "Paint the shed", "completed"),
            TurnStart(1507, "", "open"),
        ]
        await service.archive_worker.close()

    play(story())


def test_a_saved_session_that_becomes_a_live_one_is_marked_anew(tmp_path: Path) -> None:
    name = session_id(1)
    (tmp_path / "home").mkdir()
    save(tmp_path / "home", 1, Rows(1).turn("Paint the shed", "done").data)

    async def story() -> None:
        hub = FakeHub(tmp_path)
        service = SessionService(hub, ArchiveWorker(open_archive(tmp_path)), Settings())
        marks = TurnMarks(service, SessionRanges(service))
        [saved] = await marks.of(await service.session(name))
        assert saved.title == "Paint the shed"
        hub.add(name)
        of: dict[str, Any] = {"session_id": f"native-{name}"}
        hub.tell(name, TurnStarted(**of), Prompt(**of, text="And the door"))
        assert await marks.of(await service.session(name)) == [TurnStart(1, "And the door", "open")]
        await service.archive_worker.close()

    play(story())


def test_the_turns_of_a_saved_session_are_those_of_the_index(tmp_path: Path) -> None:
    rows = Rows(1).turn("Paint\nthe shed", "done").begin("and now?").say("I do")
    save(tmp_path / "home", 1, rows.data)

    async def story() -> None:
        service = SessionService(
            FakeHub(tmp_path), ArchiveWorker(open_archive(tmp_path)), Settings()
        )
        found = await service.session(session_id(1))
        marks = await TurnMarks(service, SessionRanges(service)).of(found)
        assert [mark[1:] for mark in marks] == [
            ("Paint the shed", "completed"),
            ("and now?", "open"),
        ]
        for mark in marks:
            [first] = await service.entries(session_id(1), after=mark.seq - 1, limit=1)
            assert isinstance(first.message, TurnStarted)
        await service.archive_worker.close()

    (tmp_path / "home").mkdir(exist_ok=True)
    play(story())
