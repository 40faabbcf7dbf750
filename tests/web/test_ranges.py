from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dragoman.model.messages import Prompt, Text, TurnStarted
from dragoman.web.archive_worker import ArchiveWorker
from dragoman.web.ranges import EntryRange, SessionRanges, drawn
from dragoman.web.service import SessionService
from dragoman.web.settings import Settings
from dragoman.web.turn_index import TurnMarks
from support.archive.saved_sessions import Rows, save, session_id
from support.page.fake_hub import FakeHub
from support.page.web_stage import open_archive, play

NOW = datetime.now(UTC)


def numbers(stretch: EntryRange) -> list[int]:
    return [each.entry.seq for each in stretch]


def test_a_session_that_is_taken_up_again_has_its_earlier_words_above_its_own(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        name = session_id(1)
        rows = Rows(1, cwd="/work/app").turn("paint the shed", "Painted.", ("make", "ok"))
        save(tmp_path / "home", 1, rows.data)
        hub = FakeHub(tmp_path)
        service = SessionService(hub, ArchiveWorker(open_archive(tmp_path)), Settings())
        ranges = SessionRanges(service)
        marks = TurnMarks(service, ranges)
        found = await service.session(name)
        whole = await ranges.before(found, 1 << 53, 100)
        count = len(whole)
        assert numbers(whole) == list(range(1, count + 1))
        assert [each.title for each in await marks.of(found)] == ["paint the shed"]

        hub.add(name, native_id=name, created_at=NOW)
        of: dict[str, Any] = {"session_id": name}
        hub.tell(name, TurnStarted(**of), Prompt(**of, text="and the door"), Text(**of, text="x"))
        found = await service.session(name)
        newest = await ranges.before(found, 4, 100)
        assert numbers(newest) == [*range(-count, 0), 1, 2, 3]
        assert [each.entry.message for each in newest[:count]] == [
            each.entry.message for each in whole
        ]
        assert numbers(await ranges.before(found, 4, 3)) == [1, 2, 3]
        assert numbers(await ranges.before(found, 4, 5)) == [-2, -1, 1, 2, 3]
        assert numbers(await ranges.before(found, -1, 2)) == [-3, -2]
        assert numbers(await ranges.before(found, -count, 2)) == []
        assert numbers(await ranges.after(found, -3, 3)) == [-2, -1, 1]
        assert numbers(await ranges.after(found, -count - 9, 2)) == [-count, 1 - count]
        assert numbers(await ranges.after(found, -1, 9)) == [1, 2, 3]
        assert numbers(await ranges.after(found, 2, 9)) == [3]
        # The numbers of the saved session are not those of the live one, though it has the same name.
        turns = [(each.seq, each.title) for each in await marks.of(found)]
        begun = next(e.seq for _, e in newest if isinstance(e.message, TurnStarted))
        assert turns == [(begun, "paint the shed"), (1, "and the door")]
        assert "data-agent" not in "".join(each.html for each in drawn(newest))
        await service.archive_worker.close()

    play(story())


def test_a_session_that_has_just_begun_has_nothing_above_it(tmp_path: Path) -> None:
    async def story() -> None:
        name = session_id(1)
        rows = Rows(1, cwd="/work/app").turn("paint the shed", "Painted.", ("make", "ok"))
        save(tmp_path / "home", 1, rows.data)
        hub = FakeHub(tmp_path)
        service = SessionService(hub, ArchiveWorker(open_archive(tmp_path)), Settings())
        first = await service.archive_worker.entries(name, limit=1)
        # Its file is a moment older than what the hub knows of it, and nobody had asked anything.
        hub.add(name, native_id=name, created_at=first[0].at)
        hub.tell(name, TurnStarted(session_id=name))
        hub.add("not-on-disk", created_at=NOW)
        ranges = SessionRanges(service)
        for each in (name, "not-on-disk"):
            assert list(await ranges.earlier(await service.session(each))) == []
        await service.archive_worker.close()

    play(story())


def test_a_file_that_was_moved_keeps_nobody_from_what_is_said_here(tmp_path: Path) -> None:
    async def story() -> None:
        name = session_id(1)
        rows = Rows(1, cwd="/work/app").turn("paint the shed", "Painted.", ("make", "ok"))
        path = save(tmp_path / "home", 1, rows.data)
        hub = FakeHub(tmp_path)
        service = SessionService(hub, ArchiveWorker(open_archive(tmp_path)), Settings())
        await service.session(name)  # now the index has it
        hub.add(name, native_id=name, created_at=NOW)
        hub.tell(name, TurnStarted(session_id=name))
        path.rename(path.with_name("elsewhere"))
        ranges = SessionRanges(service)
        assert numbers(await ranges.before(await service.session(name), 9, 9)) == [1]
        await service.archive_worker.close()

    play(story())


def test_a_branch_begins_with_what_was_said_before_it(tmp_path: Path) -> None:
    async def story() -> None:
        hub = FakeHub(tmp_path)
        service = SessionService(hub, ArchiveWorker(open_archive(tmp_path)), Settings())
        hub.add("trunk")
        trunk: dict[str, Any] = {"session_id": "native-trunk"}
        hub.tell("trunk", TurnStarted(**trunk), Prompt(**trunk, text="one"))
        hub.tell("trunk", Text(**trunk, text="said later"))
        hub.add("branch", parent="trunk", parent_seq=2)
        branch: dict[str, Any] = {"session_id": "native-branch"}
        hub.tell("branch", TurnStarted(**branch), Prompt(**branch, text="two"))
        hub.add("twig", parent="branch", parent_seq=2)
        hub.tell("twig", Prompt(session_id="native-twig", text="three"))
        hub.add("orphan", parent="gone", parent_seq=2)
        ranges = SessionRanges(service)

        said = await ranges.before(await service.session("twig"), 2, 100)
        assert numbers(said) == [-4, -3, -2, -1, 1]
        prompts = [e.message.text for _, e in said if isinstance(e.message, Prompt)]
        assert prompts == ["one", "two", "three"]
        html = "".join(each.html for each in drawn(said))
        assert "said later" not in html
        # Words of the sessions that it comes from are not those of helpers.
        assert "data-agent" not in html
        assert list(await ranges.earlier(await service.session("orphan"))) == []
        await service.archive_worker.close()

    play(story())


def test_a_branch_of_a_saved_session_begins_with_what_was_in_its_file_by_then(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        rows = Rows(1, cwd=str(tmp_path)).turn("paint the shed", "Painted.")
        branched_at = rows.at + timedelta(milliseconds=100)
        rows.turn("said later", "Yes.")
        save(tmp_path / "home", 1, rows.data)
        hub = FakeHub(tmp_path)
        service = SessionService(hub, ArchiveWorker(open_archive(tmp_path)), Settings())
        trunk: dict[str, Any] = {"parent": session_id(1), "parent_seq": 0}
        hub.add("branch", created_at=branched_at, **trunk)
        hub.tell("branch", Prompt(session_id="native-branch", text="and the door"))
        hub.add("twig", created_at=NOW, parent="branch", parent_seq=1)
        # This one comes from an entry of a session that the hub does not know any more.
        hub.add("late", created_at=NOW, parent=session_id(1), parent_seq=7)

        async def prompts(name: str) -> list[str]:
            said = await SessionRanges(service).before(await service.session(name), 9, 100)
            assert "data-agent" not in "".join(each.html for each in drawn(said))
            return [e.message.text for _, e in said if isinstance(e.message, Prompt)]

        assert await prompts("branch") == ["paint the shed", "and the door"]
        assert await prompts("twig") == ["paint the shed", "and the door"]
        assert await prompts("late") == ["paint the shed", "said later"]
        # Once the other session is taken up, too, what it has said since is still its own.
        hub.add(session_id(1), native_id=session_id(1), created_at=NOW)
        hub.tell(session_id(1), Prompt(session_id=session_id(1), text="still later"))
        assert await prompts("branch") == ["paint the shed", "and the door"]
        await service.archive_worker.close()

    play(story())


def test_the_words_that_a_fork_goes_on_from_are_not_those_of_helpers(tmp_path: Path) -> None:
    async def story() -> None:
        trunk = Rows(1, cwd="/work/app").turn("one", "1.").data
        save(tmp_path / "home", 1, trunk)
        base = {"thread_id": session_id(1), "end_byte_offset": len(trunk)}
        own = Rows(2, cwd="/work/app", forked_from_id=session_id(1), history_base=base)
        save(tmp_path / "home", 2, own.turn("two", "2.").data)
        hub = FakeHub(tmp_path)
        service = SessionService(hub, ArchiveWorker(open_archive(tmp_path)), Settings())

        async def looks_right() -> None:
            found = await service.session(session_id(2))
            assert found.parent_id == session_id(1)
            said = await SessionRanges(service).before(found, 1 << 53, 100)
            texts = [e.message.text for _, e in said if isinstance(e.message, Prompt)]
            assert texts == ["one", "two"]
            assert "data-agent" not in "".join(each.html for each in drawn(said))

        await looks_right()
        hub.add(session_id(2), native_id=session_id(2), created_at=NOW, parent=session_id(1))
        await looks_right()
        await service.archive_worker.close()

    play(story())
