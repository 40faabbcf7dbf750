"""The archive over a home of Qwen Code: names, forks, sub-agents, growth, damage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.care.checking import check_file
from dragoman.archive.following import follow
from dragoman.model.messages import Text
from dragoman.store.search import Filters
from support.qwen import replied, row, text_part
from support.qwen_home import FORK, PARENT, WORK, WORK_AGENT, recorded_home


@pytest.fixture
def home(tmp_path: Path) -> Path:
    recorded_home(tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def opened(home: Path, tmp_path: Path) -> Iterator[SessionArchive]:
    with SessionArchive(home=home, cache=tmp_path / "cache") as archive:
        archive.index()
        yield archive


def _chat(home: Path, session_id: str) -> Path:
    return home / "projects" / "-workspace" / "chats" / f"{session_id}.jsonl"


def _faults(path: Path) -> list[str]:
    return [each.kind for each in check_file(path).findings]


def test_every_session_is_listed_with_where_it_comes_from(opened: SessionArchive) -> None:
    listed = {each.id: each for each in opened.sessions()}

    assert (listed[FORK].origin, listed[FORK].parent_id) == ("fork", PARENT)
    assert (listed[WORK_AGENT].origin, listed[WORK_AGENT].parent_id) == ("sub-agent", WORK)
    assert WORK_AGENT not in {each.id for each in opened.sessions(top=True)}
    work, fork = listed[WORK], listed[FORK]
    assert (work.harness, work.version, work.project) == ("qwen", "0.24.4", "/workspace")
    assert (work.title, work.turn_count, work.state) == ("do it", 1, "completed")
    assert work.model == "qwen3-coder-plus"
    assert (fork.turn_count, fork.tokens) == (1, 200)


def test_what_a_fork_copied_is_found_once(opened: SessionArchive) -> None:
    found = {hit.match.session_id for hit in opened.search('"sort note.txt"', Filters()).hits}

    assert {WORK, PARENT} <= found
    assert FORK not in found


def test_a_title_is_that_of_the_user(home: Path, tmp_path: Path) -> None:
    payload = {"customTitle": "The broken door", "titleSource": "manual"}
    title = row("system", "t1", subtype="custom_title", systemPayload=payload, sessionId=WORK)
    with _chat(home, WORK).open("a", encoding="utf-8") as file:
        file.write(json.dumps(title, separators=(",", ":")) + "\n")
    with SessionArchive(home=home, cache=tmp_path / "cache") as archive:
        archive.index()

        assert archive.get(WORK).title == "The broken door"


def test_a_chat_that_is_being_written_is_followed(home: Path, opened: SessionArchive) -> None:
    news = follow(opened.find, sleep=lambda _: None)
    assert next(news) == []
    later = replied(text_part("And more."), name="later", sessionId=WORK)
    with _chat(home, WORK).open("a", encoding="utf-8") as file:
        file.write(json.dumps(later) + "\n")

    said = [each.message for each in next(news)]

    assert [each.text for each in said if isinstance(each, Text)] == ["And more."]


def test_a_damaged_chat_is_found(home: Path) -> None:
    path = _chat(home, WORK)
    assert _faults(path) == []
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], lines[3][:50] + b"\n", *lines[4:]]))

    assert _faults(path) == ["unreadable", "chain"]
