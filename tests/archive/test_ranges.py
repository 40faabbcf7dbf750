"""Stretches of sessions are those of the whole, wherever marks lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.archive import opening
from dragoman.archive.api import SessionArchive
from dragoman.archive.index import file as file_index
from dragoman.archive.ranges import message_range
from dragoman.model.messages import Delta, Prompt, Text, TurnEnded, TurnStarted
from dragoman.reading.file_lines import plain_lines
from dragoman.rendering.render import one_line
from dragoman.store.files import TurnRow
from support.archive.saved_sessions import Rows, save, session_id


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every mark is kept, however near to the last one."""
    monkeypatch.setattr(file_index, "_MARK_BYTES", 1)


def save_real_ones(data: Path, home: Path) -> None:
    wires = [
        *data.glob("codex/codex-rollout*/*/wire.jsonl"),
        *data.glob("codex/runs/*/*rollout.jsonl"),
    ]
    for number, wire in enumerate(sorted(wires)):
        save(home, number, wire.read_bytes())


@pytest.mark.usefixtures("marked")
def test_real_sessions_have_the_same_numbers_from_every_mark(data: Path, tmp_path: Path) -> None:
    save_real_ones(data, tmp_path / "home")
    marks = 0
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        for session in archive.sessions():
            whole = [each for _, each in session.numbered()]
            read = [each for each in session.messages() if not isinstance(each, Delta)]
            assert read[: len(whole)] == whole
            # Beyond the rows: the end of a turn, in files of releases that never write one.
            assert [type(each) for each in read[len(whole) :]] in (
                [],
                [TurnEnded],
                [Text, TurnEnded],
            )
            numbers = list(enumerate(whole, 1))
            rows = archive._database.rows(
                "SELECT before FROM marks WHERE file_id = ?", (session._file_id,)
            )
            marks += len(rows)
            for (before,) in rows:
                assert list(session.numbered(before + 1)) == numbers[before:]
            for first in {1, len(whole) // 3, len(whole)}:
                assert message_range(session, after=first, limit=7) == numbers[first : first + 7]
                assert (
                    message_range(session, before=first, limit=5)
                    == numbers[max(0, first - 6) : first - 1]
                )
            assert message_range(session, before=1 << 53, limit=4) == numbers[-4:]
            assert message_range(session, before=1 << 53, limit=10_000) == numbers
    assert marks > 30


def test_turns_are_listed_as_reading_tells_them(data: Path, tmp_path: Path) -> None:
    save_real_ones(data, tmp_path / "home")
    count = 0
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        for session in archive.sessions():
            listed = session.turn_list()
            if listed is None:
                continue
            told: list[TurnRow] = []
            for seq, message in session.numbered():
                if message.session_id != session.id:
                    continue
                if isinstance(message, TurnStarted):
                    told.append(TurnRow(len(told) + 1, seq))
                elif not told:
                    continue
                elif isinstance(message, Prompt) and told[-1].title is None:
                    told[-1] = told[-1]._replace(title=one_line(message.text, 120))
                elif isinstance(message, TurnEnded):
                    told[-1] = told[-1]._replace(outcome=message.outcome)
            if told and told[-1].outcome is None:
                told[-1] = told[-1]._replace(outcome=listed[-1].outcome)  # no row says so
            assert listed == told
            count += len(told)
    assert count > 100


@pytest.mark.usefixtures("marked")
def test_the_end_of_a_long_session_is_read_and_not_what_comes_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Rows(1)
    for number in range(300):
        rows.turn(f"turn {number}", "done", ("echo", "word " * 200))
    save(tmp_path / "home", 1, rows.data)
    read = 0

    def counted(file: object, offset: int) -> object:
        nonlocal read
        for piece in plain_lines(file, offset):  # pyright: ignore[reportArgumentType]
            read += piece.starts[-1] - piece.starts[0]
            yield piece

    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        session = archive.get(session_id(1))
        monkeypatch.setattr(opening, "plain_lines", counted)
        last = message_range(session, before=1 << 53, limit=20)
        assert len(last) == 20
        assert read < len(rows.data) / 20
        total = last[-1][0]
        assert message_range(session, after=total, limit=5) == []


def test_a_session_that_goes_on_from_another_is_numbered_from_its_beginning(tmp_path: Path) -> None:
    parent = Rows(1).turn("first", "one")
    save(tmp_path / "home", 1, parent.data)
    base = {"thread_id": parent.id, "end_byte_offset": len(parent.data)}
    save(tmp_path / "home", 2, Rows(2, history_base=base).turn("second", "two").data)
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        session = archive.get(session_id(2))
        asked = [each.text for _, each in session.numbered() if isinstance(each, Prompt)]
        assert asked == ["first", "second"]
        assert session.turn_list() is None
        assert [seq for seq, _ in message_range(session, after=2, limit=3)] == [3, 4, 5]
