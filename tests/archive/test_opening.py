"""Opening sessions at any turn, and sessions that are made of several files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive import opening
from dragoman.archive.api import SessionArchive
from dragoman.archive.index import file as file_index
from dragoman.archive.opening import last_turn, messages_of
from dragoman.errors import UnreadableSource, UsageError
from dragoman.model.messages import Notice, Prompt, Text, TurnEnded, TurnStarted
from dragoman.reading.file_lines import LineBatch
from dragoman.reading.read import read
from dragoman.store.files import Files
from support.archive.saved_sessions import Rows, save, session_id, simple


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def archive(home: Path, tmp_path: Path) -> Iterator[SessionArchive]:
    with SessionArchive(home=home, cache=tmp_path / "cache") as opened:
        yield opened


def prompts(messages: Any) -> list[str]:
    return [message.text for message in messages if isinstance(message, Prompt)]


def test_all_messages_are_those_of_reading_the_file(data: Path) -> None:
    for wire in data.glob("codex/*/*/wire.jsonl"):
        assert list(messages_of(str(wire))) == list(read(wire)), wire


def test_any_turn_is_opened_by_its_number(home: Path, archive: SessionArchive) -> None:
    save(home, 1, simple(1, ["one", "two", "three"]))
    archive.index()
    session = archive.get(session_id(1))

    for number, word in ((1, "one"), (2, "two"), (3, "three"), (-1, "three"), (-3, "one")):
        messages = list(session.turn(number))
        assert isinstance(messages[0], TurnStarted)
        assert prompts(messages) == [f"please {word}"]
        assert isinstance(messages[-1], TurnEnded)
    assert prompts(session.last_turn()) == ["please three"]


@pytest.mark.parametrize("number", [0, 4, -4])
def test_a_turn_that_is_not_there_is_a_sentence(
    home: Path, archive: SessionArchive, number: int
) -> None:
    save(home, 1, simple(1, ["one", "two", "three"]))
    archive.index()

    with pytest.raises(UsageError, match="has 3 turns"):
        list(archive.get(session_id(1)).turn(number))


def test_a_late_turn_of_a_long_session_does_not_cost_the_session(
    home: Path, archive: SessionArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_index, "_MARK_BYTES", 100_000)
    rows = Rows(1)
    for number in range(400):
        rows.turn(f"prompt {number}", "done", ("echo", "words " * 1000))
    path = save(home, 1, rows.data)
    archive.index()
    read_from: list[int] = []
    real = opening.plain_lines

    def noted(file: BufferedReader, offset: int) -> Iterator[LineBatch]:
        read_from.append(offset)
        return real(file, offset)

    monkeypatch.setattr(opening, "plain_lines", noted)

    messages = list(archive.get(session_id(1)).turn(390))

    assert prompts(messages) == ["prompt 389"]
    assert read_from[0] > path.stat().st_size * 0.9
    whole = [each for each in read(path) if each.turn_id == messages[0].turn_id]
    assert messages == whole


@pytest.mark.parametrize("turns", [1, 3, 500])
def test_the_last_turn_of_a_file_that_is_not_indexed(home: Path, turns: int) -> None:
    rows = Rows(1)
    for number in range(turns):
        rows.turn(f"prompt {number}", "done", ("echo", "words " * 300))
    path = save(home, 1, rows.data)

    assert prompts(last_turn(str(path))) == [f"prompt {turns - 1}"]


def test_a_last_turn_that_is_longer_than_the_first_look(home: Path) -> None:
    rows = Rows(1).turn("first", "done").begin("second")
    for _ in range(300):
        rows.run("cat", "long output " * 500)
    path = save(home, 1, rows.data)

    assert prompts(last_turn(str(path))) == ["second"]


def test_a_line_as_it_stands_in_the_file(home: Path, archive: SessionArchive) -> None:
    data = simple(1, ["one", "two"])
    save(home, 1, data)
    archive.index()
    session = archive.get(session_id(1))

    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        assert session.raw_line(number) == line
    with pytest.raises(UsageError, match="no line 999"):
        session.raw_line(999)


def test_a_file_that_went_away_is_a_sentence(home: Path, archive: SessionArchive) -> None:
    path = save(home, 1, simple(1))
    archive.index()
    path.unlink()

    with pytest.raises(UnreadableSource, match="no longer exists"):
        list(archive.get(session_id(1)).messages())


# Sessions that are made of several files.


def numbered(data: bytes, first: int = 0) -> bytes:
    """The rows of a session, numbered as paginated ones are."""
    rows = [json.loads(line) for line in data.split(b"\n")[:-1]]
    return b"".join(
        json.dumps({**row, "ordinal": first + place}).encode() + b"\n"
        for place, row in enumerate(rows)
    )


def base(number: int, parent: bytes, before: bytes, **changes: Any) -> dict[str, Any]:
    end = parent.index(before)
    end = parent.rindex(b"\n", 0, end) + 1
    return {
        "thread_id": session_id(number),
        "end_ordinal_exclusive": parent[:end].count(b"\n"),
        "end_byte_offset": end,
        **changes,
    }


@pytest.mark.parametrize("changes", [{}, {"end_byte_offset": None}, {"end_byte_offset": 77}])
def test_a_fork_that_refers_to_its_parent_is_read_with_it(
    home: Path, archive: SessionArchive, changes: dict[str, Any]
) -> None:
    parent = numbered(simple(1, ["one", "two", "three"]))
    begin = b"01a1e150-b415-7001-0002"  # where the second turn begins
    fork = Rows(2, forked_from_id=session_id(1), history_base=base(1, parent, begin, **changes))
    save(home, 1, parent)
    save(home, 2, numbered(fork.turn("please fork", "forked").data, 30))
    archive.index()
    session = archive.get(session_id(2))

    assert prompts(session.messages()) == ["please one", "please fork"]
    assert prompts(session.turn(1)) == ["please fork"]
    assert session.origin == "fork"
    assert session.parent_id == session_id(1)
    assert not session.is_missing_its_base
    assert [child.id for child in archive.get(session_id(1)).children()] == [session.id]


def test_a_fork_of_all_there_was_is_read_with_it_even_if_bytes_are_miscounted(
    home: Path, archive: SessionArchive
) -> None:
    parent = numbered(simple(1, ["one"]))
    reference = {
        "thread_id": session_id(1),
        "end_ordinal_exclusive": parent.count(b"\n"),
        "end_byte_offset": len(parent) + 99,
    }
    fork = Rows(2, forked_from_id=session_id(1), history_base=reference)
    save(home, 1, parent)
    save(home, 2, numbered(fork.turn("please fork", "forked").data, 30))
    archive.index()

    assert prompts(archive.get(session_id(2)).messages()) == ["please one", "please fork"]


def test_a_fork_whose_parent_is_gone_is_read_alone(home: Path, archive: SessionArchive) -> None:
    reference = {"thread_id": session_id(1), "end_ordinal_exclusive": 5, "end_byte_offset": 99}
    fork = Rows(2, forked_from_id=session_id(1), history_base=reference)
    save(home, 2, fork.turn("please fork", "forked").data)
    archive.index()
    session = archive.get(session_id(2))

    assert prompts(session.messages()) == ["please fork"]
    assert session.is_missing_its_base


def test_a_session_that_was_reverted_goes_on_in_a_second_file(
    home: Path, archive: SessionArchive
) -> None:
    first = numbered(simple(1, ["one", "two", "three"]))
    rows = Rows(1, history_base=base(1, first, b"01a1e150-b415-7001-0002"))
    path = save(home, 1, first)
    again = path.with_name(path.name.replace(".jsonl", f"_{session_id(99)}.jsonl"))
    again.write_bytes(numbered(rows.turn("please four", "four").data, 40).replace(b"T10:", b"T11:"))
    archive.index()

    [session] = archive.sessions()
    messages = list(session.messages())

    assert prompts(messages) == ["please one", "please four"]
    assert [message.text for message in messages if isinstance(message, Notice)] == [
        "2 later turns were undone"
    ]
    assert session.origin == "revert"
    assert session.title == "please one"


def test_turns_that_were_rolled_back_are_known(home: Path, archive: SessionArchive) -> None:
    rows = Rows(1).turn("one", "1").turn("two", "2").turn("three", "3")
    rows.event("thread_rolled_back", num_turns=2)
    save(home, 1, rows.turn("four", "4").data)
    archive.index()
    session = archive.get(session_id(1))
    turns = session.turns()

    assert session.undone == 2
    assert session.undone_turns() == {turns[1].turn_id, turns[2].turn_id}


def test_sub_agents_and_reviews_are_under_their_parent(home: Path, archive: SessionArchive) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": session_id(1), "depth": 1}}}
    save(home, 1, simple(1))
    save(home, 2, Rows(2, source=spawn).turn("sub", "done").data)
    review = Rows(3, source={"subagent": "review"}, parent_thread_id=session_id(1))
    save(home, 3, review.turn("review", "fine").data)
    archive.index()

    assert [session.id for session in archive.sessions(top=True)] == [session_id(1)]
    children = {child.id: child.origin for child in archive.get(session_id(1)).children()}
    assert children == {session_id(2): "sub-agent", session_id(3): "review"}


def test_rows_copied_from_another_session_are_told_but_not_found_twice(
    data: Path, archive: SessionArchive, home: Path
) -> None:
    wire = data / "codex/codex-rollout/fork-0.146/wire.jsonl"
    save(home, 1, wire.read_bytes())
    archive.index()

    [session] = archive.sessions()
    own = [each for each in session.messages() if each.session_id == session.id]
    others = [each for each in session.messages() if each.session_id != session.id]

    assert others
    assert session.turn_count == sum(isinstance(each, TurnStarted) for each in own)
    entries = archive._database.rows("SELECT session_id, kind FROM entries")
    assert {row[0] for row in entries} == {None}
    texts = sum(isinstance(each, Text | Prompt) for each in own)
    assert sum(row[1] in (0, 1) for row in entries) == texts
    assert Files(archive._database).all()
