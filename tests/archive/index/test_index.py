from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.index import file as file_index
from support.archive.saved_sessions import Rows, save, simple


def test_a_mark_that_means_nothing_to_us_is_done_without(tmp_path: Path) -> None:
    home = tmp_path / "home"
    path = save(home, 1, simple(1, ["one", "two"]))
    with SessionArchive(home=home, cache=tmp_path / "cache") as archive:
        archive.index()
        archive._database.write("UPDATE files SET mark_state = x'ff00'")
        with path.open("ab") as file:
            file.write(Rows(1).turn("three", "done").data.split(b"\n", 1)[1])

        archive.index()

        [session] = archive.sessions()
        assert session.turn_count == 3
        assert len(archive.search("please").hits) == 2


def test_entries_know_their_bytes(tmp_path: Path) -> None:
    data = simple(1, ["one", "two"])
    save(tmp_path / "home", 1, data)
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        rows = archive._database.rows("SELECT line, offset, length FROM entries")

    lines = data.split(b"\n")
    assert rows
    for line, offset, length in rows:
        assert data[offset : offset + length] == lines[line - 1] + b"\n"


def test_a_message_from_very_far_back_has_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_index, "_STARTS_KEPT", 2)
    save(tmp_path / "home", 1, simple(1))
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        assert len(archive.search("please").hits) == 1


def test_a_damaged_compressed_file_says_so(tmp_path: Path) -> None:
    import gzip

    path = save(tmp_path / "home", 1, gzip.compress(simple(1, ["one"] * 50))[:-600])
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()

        assert archive._files.all()[str(path)].problem is not None
        assert archive.sessions()
