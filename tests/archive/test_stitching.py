"""More in ``test_opening``; here on files of the real program."""

from __future__ import annotations

from pathlib import Path

from dragoman.archive.api import SessionArchive
from dragoman.archive.stitching import parts
from dragoman.store.files import Files
from support.archive.saved_sessions import save, simple


def test_a_session_by_itself_is_one_part(tmp_path: Path) -> None:
    save(tmp_path / "home", 1, simple(1))
    with SessionArchive(home=tmp_path / "home", cache=tmp_path / "cache") as archive:
        archive.index()
        files = Files(archive._database)
        [row] = files.all().values()

        assert [(part.row, part.end) for part in parts(files, row)] == [(row, None)]
