"""The archive over a home of Claude Code: names, forks, sub-agents, growth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive import homes
from dragoman.archive.api import SessionArchive
from dragoman.archive.care.checking import check
from dragoman.archive.finding import Home
from dragoman.archive.following import follow
from dragoman.model.messages import Prompt, Text
from dragoman.store.database import NAME
from dragoman.store.search import Filters
from support.archive.saved_sessions import save, session_id, simple
from support.claude.homes import AGENT, FAILED, FORK, PARENT, RESUMED, STORY, recorded_home


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def project(home: Path) -> Path:
    return recorded_home(home)


@pytest.fixture
def opened(home: Path, project: Path, tmp_path: Path) -> Iterator[SessionArchive]:
    assert project.is_dir()
    with SessionArchive(home=home, cache=tmp_path / "cache") as archive:
        archive.index()
        yield archive


def append(path: Path, **row: Any) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, separators=(",", ":")) + "\n")


def test_every_session_is_listed_with_where_it_comes_from(opened: SessionArchive) -> None:
    listed = {each.id: each for each in opened.sessions()}

    assert {name: (each.origin, each.parent_id) for name, each in listed.items()} == {
        STORY: (None, None),
        FORK: ("fork", STORY),
        RESUMED: (None, None),
        PARENT: (None, None),
        AGENT: ("sub-agent", PARENT),
        FAILED: (None, None),
    }
    assert AGENT not in {each.id for each in opened.sessions(top=True)}
    assert [each.id for each in opened.get(PARENT).children()] == [AGENT]
    assert [each.id for each in opened.get(STORY).children()] == [FORK]
    story, fork = listed[STORY], listed[FORK]
    assert (story.harness, story.version, story.project) == ("claude", "2.1.326", "/workspace")
    assert (story.title, story.turn_count, story.state) == ("do the story", 9, "completed")
    assert story.model == "claude-sonnet-4-5-20250929"
    assert (fork.turn_count, fork.tokens) == (2, 2 * (11 + 22 + 33 + 44))
    assert story.usage is not None
    assert story.usage.output_tokens == 705
    assert (listed[FAILED].state, listed[FAILED].tokens) == ("failed", None)
    assert not any(each.archived for each in listed.values())


def test_a_session_is_found_by_a_prefix_of_its_id_without_the_index(
    home: Path, project: Path, tmp_path: Path
) -> None:
    with SessionArchive(home=home, cache=tmp_path / "cache") as archive:
        archive.prepare(FORK[:8])
        assert archive.get(FORK[:8]).id == FORK
        assert not archive.has(STORY)


def test_what_a_fork_copied_is_found_once(opened: SessionArchive) -> None:
    hits = opened.search("Leap", Filters()).hits
    assert {hit.match.session_id for hit in hits} == {STORY}

    fork = opened.get(FORK)
    prompts = [each for each in fork.messages() if isinstance(each, Prompt)]
    assert [each.session_id for each in prompts].count(FORK) == 2
    assert prompts[0].session_id == STORY  # it is part of the conversation nevertheless


def test_the_user_s_title_comes_before_the_model_s(opened: SessionArchive, project: Path) -> None:
    path = project / f"{RESUMED}.jsonl"

    def title_after(**row: Any) -> str | None:
        append(path, sessionId=RESUMED, **row)
        opened.index()
        return opened.get(RESUMED).title

    def row(kind: str, **value: str) -> dict[str, Any]:
        return {"type": kind, **value}

    assert opened.get(RESUMED).title == "first"
    assert (
        title_after(**row("summary", summary="Sums")) != "Sums"
    )  # its type is not what it begins with
    for line, expected in (
        (row("summary", summary="Sums", leafUuid="x"), "Sums"),
        (row("ai-title", aiTitle="Guessed"), "Guessed"),
        (row("summary", summary="Later", leafUuid="x"), "Guessed"),
        (row("custom-title", customTitle="Mine"), "Mine"),
        (row("ai-title", aiTitle="Other"), "Mine"),
        (row("custom-title", customTitle="Renamed"), "Renamed"),
    ):
        append(path, **line, sessionId=RESUMED)
        opened.index()
        assert opened.get(RESUMED).title == expected
    assert opened.get("renamed").id == RESUMED


def test_a_session_that_grows_is_read_on(opened: SessionArchive, project: Path) -> None:
    path = project / f"{RESUMED}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    last = next(row for row in reversed(rows) if row.get("type") == "assistant")
    prompt = next(row for row in rows if row.get("type") == "user")
    append(
        path,
        **prompt
        | {
            "uuid": "u3",
            "parentUuid": last["uuid"],
            "message": {"role": "user", "content": "a third prompt"},
        },
    )
    opened.index()

    session = opened.get(RESUMED)
    assert (session.turn_count, session.is_open) == (3, True)
    assert len(opened.search("third prompt", Filters()).hits) == 1
    answer = {**last["message"], "id": "msg_3", "content": [{"type": "text", "text": "Done."}]}
    append(path, **last | {"uuid": "u4", "parentUuid": "u3", "message": answer})
    append(path, type="last-prompt", sessionId=RESUMED)
    opened.index()

    session = opened.get(RESUMED)
    assert (session.turn_count, session.state) == (3, "completed")
    assert session.usage is not None
    assert session.usage.output_tokens == 3 * 44
    assert [each.text for each in session.last_turn() if isinstance(each, Text)] == ["Done."]


def test_new_messages_are_followed_as_they_are_written(
    opened: SessionArchive, project: Path
) -> None:
    path = project / f"{RESUMED}.jsonl"
    prompt = next(
        json.loads(line)
        for line in path.read_text(encoding="utf-8").splitlines()
        if '"type":"user"' in line
    )
    news = follow(opened.find, sleep=lambda _: None)
    assert next(news) == []
    append(path, **prompt | {"uuid": "u9", "message": {"role": "user", "content": "news"}})

    said = [each.message for each in next(news)]

    assert [each.text for each in said if isinstance(each, Prompt)] == ["news"]


def test_a_home_that_is_added_appears_in_the_index_that_is_there(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a release of ours, or a plug-in, brings another harness."""
    save(home, 1, simple(1))
    every = homes.registered()

    def ids(known: tuple[Home, ...]) -> set[str]:
        def all_homes(_cache: object) -> tuple[Home, ...]:
            return known

        monkeypatch.setattr("dragoman.archive.places.all_homes", all_homes)
        with SessionArchive(home=home, cache=tmp_path / "cache") as archive:
            archive.index()
            return {each.id for each in archive.sessions()}

    # Qwen Code keeps its chats in a folder of the same name, and all have one home here.
    others = tuple(each for each in every if each.harness not in ("claude", "qwen"))
    assert ids(others) == {session_id(1)}
    assert ids(every) == {session_id(1), STORY, FORK, RESUMED, PARENT, AGENT, FAILED}
    assert len(list((tmp_path / "cache").glob(f"*/{NAME}"))) == 1


def test_nothing_is_wrong_with_them(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))

    assert list(check()) == []
    (project / f"{PARENT}.jsonl").unlink()
    [finding] = check()
    assert (finding.kind, finding.is_broken) == ("orphan", False)
    assert PARENT in finding.what
