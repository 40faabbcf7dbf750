from __future__ import annotations

import os
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.archive.api import SessionArchive
from dragoman.archive.numbering import Numbered, NumberedFile
from dragoman.archive.saved import SavedSession
from dragoman.model.messages import Delta, Message, Text, TurnEnded
from dragoman.reading.compression import zstd
from support.archive.saved_sessions import Rows, save

_RUNS = sorted((Path(__file__).parents[1] / "data/codex/runs").glob("*/*rollout.jsonl"))


def opened(home: Path, cache: Path) -> SavedSession:
    with SessionArchive(home=home, cache=cache) as archive:
        archive.index()
        [session] = archive.sessions()
        return session


def by_rows(path: Path) -> list[Message]:
    """What the rows of a whole file say, in one go."""
    from dragoman.reading.parsers import FileReader

    rows = path.read_bytes().split(b"\n")[:-1]
    reader = FileReader.sniffed(rows)
    reader.parser.receive_lines(rows)
    return [each for each in reader.messages() if not isinstance(each, Delta)]


@pytest.mark.parametrize("run", _RUNS[::7], ids=lambda path: f"{path.parent.name}/{path.name}")
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_numbers_never_change_their_meaning(
    run: Path, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """However a file is written and whenever it is read: the same numbers, the same messages."""
    whole = run.read_bytes()
    expected = list(enumerate(by_rows(run), 1))
    folder = tmp_path_factory.mktemp("numbering")
    path = save(folder / "home", 1, whole[: whole.index(b"\n") + 1])
    followers: list[NumberedFile] = []
    with (
        ExitStack() as stack,
        SessionArchive(home=folder / "home", cache=folder / "cache") as archive,
    ):
        stack.callback(lambda: [each.close() for each in followers])
        archive.index()
        [session] = archive.sessions()
        followed = session.follow()
        followers.append(followed)
        place, found = path.stat().st_size, list[Numbered]()
        while place < len(whole):
            size = data.draw(st.integers(len(whole) // 24 + 1, len(whole) // 6 + 1), label="size")
            with path.open("ab") as file:
                file.write(whole[place : place + size])
            place += size
            match data.draw(st.sampled_from(["follow", "read", "index", "sleep", "new follower"])):
                case "follow":
                    found += followed.news()
                    assert found == expected[: len(found)]
                case "read":
                    now = list(session.numbered())
                    assert now == expected[: len(now)]
                    after = data.draw(st.integers(0, len(expected)))
                    some = [each for each in session.numbered(after + 1) if each[0] > after]
                    assert some == expected[after : after + len(some)]
                case "index":
                    archive.index()
                    session = archive.get(session.id)
                case "new follower":
                    followed.close()
                    followed = session.follow(len(found) + 1)
                    followers.append(followed)
                    missed = [each for each in followed.news() if each[0] > len(found)]
                    found += missed
                case _:
                    followed.close()  # it is opened again
        found += followed.news()
        followed.close()
        assert found == expected
        assert list(session.numbered()) == expected


def test_a_session_that_is_compressed_keeps_its_numbers(tmp_path: Path) -> None:
    rows = Rows(1).turn("one", "first")
    path = save(tmp_path / "home", 1, rows.data)
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        [session] = archive.sessions()
        followed = session.follow()
        found = list(followed.news())
        rows.turn("two", "second")
        path.with_name(f"{path.name}.zst").write_bytes(zstd().compress(rows.data))
        path.unlink()
        found += followed.news()
        followed.close()
        archive.index()

        assert list(archive.get(session.id).numbered()) == found
    assert [each.text for _, each in found if isinstance(each, Text)] == ["first", "second"]


def test_no_end_is_made_up(tmp_path: Path) -> None:
    path = save(tmp_path / "home", 1, Rows(1).begin("go").run("ls", "x").say("done").data)
    old = time.time_ns() / 1e9 - 3600
    os.utime(path, (old, old))
    session = opened(tmp_path / "home", tmp_path / "cache")

    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        [session] = archive.sessions()
        assert not [each for _, each in session.numbered() if isinstance(each, TurnEnded)]
        assert not [each for each in session.messages() if isinstance(each, TurnEnded)]
        assert session.state == "open"


def test_half_a_row_is_told_when_it_is_whole_and_a_whole_one_without_its_newline(
    tmp_path: Path,
) -> None:
    data = Rows(1).turn("go", "done").data
    path = save(tmp_path / "home", 1, data[:-20])
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        [session] = archive.sessions()
        before = list(session.numbered())
        path.write_bytes(data[:-1])
        after = list(session.numbered())
        path.write_bytes(data)

        assert before == after[:-1]
        assert isinstance(after[-1][1], TurnEnded)
        assert list(session.numbered()) == after


def test_what_is_held_for_the_next_row_is_told_when_the_file_is_at_rest(tmp_path: Path) -> None:
    data = Rows(1).begin("go").event("agent_message", message="last words").data
    path = save(tmp_path / "home", 1, data)
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        [session] = archive.sessions()
        assert not [each for _, each in session.numbered() if isinstance(each, Text)]
        old = time.time_ns() / 1e9 - 3600
        os.utime(path, (old, old))
        assert [each.text for _, each in session.numbered() if isinstance(each, Text)] == [
            "last words"
        ]
