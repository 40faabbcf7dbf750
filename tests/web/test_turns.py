from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from dragoman.model.messages import Prompt, Text, TurnEnded, TurnStarted
from dragoman.web.library import Library
from dragoman.web.office import Office
from dragoman.web.settings import Settings
from dragoman.web.turns import Mark, TurnMarks
from fake_hub import FakeHub
from web_stage import open_archive, play


def test_turns_are_marked_and_read_on_from_where_they_were(tmp_path: Path) -> None:
    async def story() -> None:
        hub = FakeHub(tmp_path)
        hub.add("s1")
        of: dict[str, Any] = {"session_id": "native-s1"}
        office = Office(hub, Library(open_archive(tmp_path)), Settings())
        marks = TurnMarks(office)
        hub.tell("s1", TurnStarted(**of), Prompt(**of, text="Paint\nthe shed"))
        assert await marks.of(await office.session("s1")) == [Mark(1, "Paint the shed", "open")]
        helper: dict[str, Any] = {"session_id": "helper"}
        hub.tell("s1", TurnStarted(**helper), TurnEnded(**helper, outcome="failed"))
        hub.tell("s1", Prompt(**of, text="steering"), TurnEnded(**of, outcome="completed"))
        hub.tell("s1", *(Text(text="x") for _ in range(1_500)), TurnStarted(**of))
        assert await marks.of(await office.session("s1")) == [
            Mark(1, "Paint the shed", "completed"),
            Mark(1507, "", "open"),
        ]
        await office.library.close()

    play(story())


def test_a_saved_session_that_becomes_a_live_one_is_marked_anew(tmp_path: Path) -> None:
    async def story() -> None:
        hub = FakeHub(tmp_path)
        of: dict[str, Any] = {"session_id": "native-s1"}
        office = Office(hub, Library(open_archive(tmp_path)), Settings())
        marks = TurnMarks(office)
        hub.add("s1")
        live = await office.session("s1")
        saved = msgspec.structs.replace(live, is_live=False)
        hub.tell("s1", TurnStarted(**of), Prompt(**of, text="Paint the shed"))

        for session in (saved, live, saved, live):
            assert await marks.of(session) == [Mark(1, "Paint the shed", "open")]
        hub.tell("s1", TurnEnded(**of, outcome="completed"))
        assert await marks.of(live) == [Mark(1, "Paint the shed", "completed")]
        await office.library.close()

    play(story())
