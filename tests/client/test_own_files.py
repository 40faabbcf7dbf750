from __future__ import annotations

from pathlib import Path
from typing import Any

from dragoman.client.own_files import OwnFiles
from dragoman.harnesses.gemini.history import GEMINI_FILES
from dragoman.model.intents import OpenSession


def test_without_files_of_interest_a_link_stays_as_it_is() -> None:
    link: Any = object()
    files = OwnFiles(None, {})

    assert files.followed(link, OpenSession(cwd="/w")) is link
    assert (files.resume_pause("s"), files.resume_reason) == (0.0, "")


def test_a_session_that_began_long_ago_is_resumed_at_once(tmp_path: Path) -> None:
    chats = tmp_path / ".gemini" / "tmp" / "p" / "chats"
    chats.mkdir(parents=True)
    (chats / "session-2020-01-01T00-00-89eac02b.jsonl").write_bytes(b"{}\n")
    (chats / "session-2999-01-01T00-00-11111111.jsonl").write_bytes(b"{}\n")
    files = OwnFiles(GEMINI_FILES, {"GEMINI_CLI_HOME": str(tmp_path)})
    link: Any = object()

    assert files.resume_pause("89eac02b-d5f7") == 0.0
    assert 0 < files.resume_pause("11111111-d5f7") <= 61
    assert files.followed(link, None) is link
    assert files.followed(link, OpenSession(cwd="/w")) is not link
