from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.handoff.handing_off import HandoffFailed, receivers
from dragoman.errors import Unsupported, UsageError
from dragoman.harnesses import harness
from dragoman.model.messages import Prompt, Text
from support.archive.saved_sessions import Rows, save, session_id


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(tmp_path: Path, work: Path) -> Iterator[SessionArchive]:
    rows = Rows(1, cwd=str(work))
    rows.turn("one", "First.", ("ls", "a.py"))
    rows.turn("two", "Second.")
    rows.turn("three", "Third.")
    save(tmp_path / "codex", 1, rows.data)
    save(tmp_path / "codex", 2, Rows(2, cwd=str(tmp_path / "gone")).turn("go", "Gone.").data)
    save(tmp_path / "codex", 3, Rows(3, cwd=str(work)).data)
    environment = {
        "CODEX_HOME": str(tmp_path / "codex"),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
        "HOME": str(tmp_path),
    }
    with SessionArchive(environment=environment, cache=tmp_path / "cache") as made:
        made.index()
        yield made


def test_a_session_becomes_one_of_another_agent(opened: SessionArchive, work: Path) -> None:
    done = opened.hand_off(session_id(1)[:13], to="claude")
    opened.index()
    new = opened.get(done.session_id)

    assert (new.harness, new.project, new.origin, new.parent_id) == (
        "claude", str(work), "hand-off", session_id(1),
    )  # fmt: skip
    assert (new.title, new.turn_count, new.state, new.tokens) == ("one", 3, "completed", None)
    assert [each.text for each in new.messages() if isinstance(each, Prompt)] == [
        "one", "two", "three",
    ]  # fmt: skip
    assert (done.turns, done.tool_calls, done.path) == (3, 1, new.path)
    assert Path(done.path).stat().st_mode & 0o777 == 0o600
    assert opened.sessions(top=True)[0].id == done.session_id
    assert [each.id for each in opened.get(session_id(1)).children()] == [done.session_id]


def test_the_first_session_stays_as_it_is(opened: SessionArchive) -> None:
    path = Path(opened.get(session_id(1)).path)
    before = path.read_bytes(), path.stat().st_mtime_ns
    opened.hand_off(session_id(1), to="claude")
    opened.hand_off(session_id(1), to="codex")

    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_there_and_back_again(opened: SessionArchive) -> None:
    there = opened.hand_off(session_id(1), to="claude")
    opened.index()
    back = opened.hand_off(there.session_id, to="codex")
    opened.index()

    first, last = opened.get(session_id(1)), opened.get(back.session_id)
    assert [each.text for each in last.messages() if isinstance(each, Prompt | Text)] == [
        each.text for each in first.messages() if isinstance(each, Prompt | Text)
    ]
    assert back.losses == ()


def test_some_turns(opened: SessionArchive) -> None:
    done = opened.hand_off(session_id(1), to="claude", turns="2..")
    opened.index()

    prompts = [each for each in opened.get(done.session_id).messages() if isinstance(each, Prompt)]
    assert [each.text for each in prompts] == ["two", "three"]
    with pytest.raises(UsageError, match="has no such turns to hand off"):
        opened.hand_off(session_id(1), to="claude", turns="9..")


def test_a_directory(opened: SessionArchive, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    done = opened.hand_off(session_id(2), to="claude", cwd=tmp_path / "link")

    assert done.cwd == str(tmp_path / "real")  # programs see no symbolic links
    with pytest.raises(
        UsageError, match=r"there is no directory .*gone; choose another one with --cwd"
    ):
        opened.hand_off(session_id(2), to="claude")


def test_what_cannot_be_handed_off(opened: SessionArchive) -> None:
    with pytest.raises(UsageError, match="'gemini'; they can to codex, claude"):
        opened.hand_off(session_id(1), to="gemini")
    with pytest.raises(UsageError, match="'nonsense'"):
        opened.hand_off(session_id(1), to="nonsense")
    with pytest.raises(UsageError, match="has no turns to hand off"):
        opened.hand_off(session_id(3), to="claude")
    assert [each.name for each in receivers()] == ["codex", "claude"]


def test_a_release_that_resumes_no_such_session(
    opened: SessionArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho codex-cli 0.42.0\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")

    with pytest.raises(
        Unsupported, match=r"needs Codex CLI 0\.44\.0 or later, this is Codex CLI 0\.42\.0"
    ):
        opened.hand_off(session_id(1), to="codex")


def test_a_home_that_cannot_be_written(opened: SessionArchive, tmp_path: Path) -> None:
    (tmp_path / "claude").write_text("a file")

    with pytest.raises(HandoffFailed, match=r"cannot write .*claude/projects"):
        opened.hand_off(session_id(1), to="claude")


def test_the_settings_of_the_home_choose_the_provider(
    opened: SessionArchive, tmp_path: Path
) -> None:
    (tmp_path / "codex" / "config.toml").write_text('model_provider = "mine"\n')

    written = Path(opened.hand_off(session_id(1), to="codex").path).read_bytes()

    header = json.loads(written.split(b"\n")[0])
    assert header["payload"]["model_provider"] == "mine"


def test_files_named_by_hand_are_handed_off_to_the_users_home(
    tmp_path: Path, opened: SessionArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "other"))
    path = opened.get(session_id(1)).path
    with SessionArchive(paths=[path], cache=tmp_path / "cache") as alone:
        alone.index()
        done = alone.hand_off(session_id(1), to="claude")

    assert Path(done.path).is_relative_to(tmp_path / "other" / "projects")


def test_commands_and_json(opened: SessionArchive, work: Path) -> None:
    done = opened.hand_off(session_id(1), to="claude")

    assert done.in_shell(done.native_command) == f"cd {work} && claude --resume {done.session_id}"
    assert done.command == ("dragoman", "chat", "--resume", done.session_id)
    row = done.as_json()
    assert json.loads(json.dumps(row)) == row
    assert row["source"] == {"session_id": session_id(1), "harness": "codex"}
    assert harness(done.harness).title == done.title
