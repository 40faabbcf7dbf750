from __future__ import annotations

from pathlib import Path

from dragoman.model.usage import Usage
from dragoman.web.api import shapes
from support.archive.saved_sessions import Rows, save, session_id
from support.page.fake_hub import FakeHub
from support.page.web_stage import open_archive


def test_a_live_session_with_all_that_is_known(tmp_path: Path) -> None:
    session = FakeHub(tmp_path).add("s1", state="waiting", usage=Usage(5, 0, 0, 1), error="no")

    info = shapes.live(session)

    assert info.is_live
    assert (info.state, info.error, info.native_id) == ("waiting", "no", "native-s1")
    assert info.usage == Usage(5, 0, 0, 1)


def test_a_saved_session_is_done_however_it_was_left(tmp_path: Path) -> None:
    save(tmp_path / "home", 1, Rows(1).turn("first", "one").data)
    with open_archive(tmp_path)() as archive:
        archive.index()

        info = shapes.saved(archive.get(session_id(1)))

    assert not info.is_live
    assert (info.id, info.state, info.cwd) == (session_id(1), "done", "/work/app")
    assert info.updated_at is not None
    assert info.updated_at.tzinfo is not None
