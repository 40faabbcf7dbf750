"""What an agent remembers as always allowed: listed, and taken away without touching anything else."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from dragoman.client.remembered import RememberedRules, RulesUnwritable
from dragoman.harnesses import HARNESSES
from dragoman.hub.hub import Hub
from support.agents.hubs import eventually, is_end, read_until
from support.agents.stages import SECONDS, Stage

MakeStage: TypeAlias = Callable[..., Stage]
_ONE = b'prefix_rule(pattern=["git", "push"], decision="allow")\n'
_TWO = b'network_rule(host="a.b", protocol="https", decision="allow")\r\n'
_OTHER = b"# mine\nprefix_rule(\n  pattern=['ls'],\n)\n\xff\n"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    path = folder / "default.rules"
    path.write_bytes(_OTHER + _ONE + _TWO + _ONE)
    path.chmod(0o640)
    return path


def _of(home: Path) -> RememberedRules:
    return RememberedRules.of(HARNESSES[0], {"CODEX_HOME": str(home)})


def test_rules_are_listed_with_their_place(rules: Path) -> None:
    found = _of(rules.parents[1]).rules()
    assert [(each.prefix, each.host, each.line) for each in found] == [
        (["git", "push"], None, 6),
        ([], "a.b", 7),
        (["git", "push"], None, 8),
    ]
    assert {each.stored_in for each in found} == {str(rules)}
    assert len({each.id for each in found}) == 3


def test_only_the_line_of_a_rule_is_taken_away(rules: Path) -> None:
    home = rules.parents[1]
    one, two, three = _of(home).rules()
    assert _of(home).remove(two.id)
    assert rules.read_bytes() == _OTHER + _ONE + _ONE
    assert rules.stat().st_mode & 0o777 == 0o640
    assert not _of(home).remove(two.id)
    assert _of(home).remove(three.id)
    assert _of(home).remove(one.id)
    assert rules.read_bytes() == _OTHER
    assert os.listdir(rules.parent) == ["default.rules"]


def test_only_regular_files_in_the_folder_are_read(rules: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.rules"
    outside.write_bytes(_ONE)
    (rules.parent / "link.rules").symlink_to(outside)
    (rules.parent / "notes.txt").write_bytes(_ONE)
    os.mkfifo(rules.parent / "pipe.rules")
    (rules.parent / "folder.rules").mkdir()
    assert {each.stored_in for each in _of(rules.parents[1]).rules()} == {str(rules)}


def test_without_a_folder_there_are_none(tmp_path: Path) -> None:
    assert _of(tmp_path / "nowhere").rules() == []
    assert not _of(tmp_path).remove("x")
    assert RememberedRules(None, None).rules() == []


def test_a_file_that_cannot_be_written_is_said(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dragoman.client.remembered.tempfile.mkstemp", full)
    known = _of(rules.parents[1])
    with pytest.raises(RulesUnwritable, match="No space left"):
        known.remove(known.rules()[0].id)
    assert len(known.rules()) == 3


def test_what_the_real_agent_remembers_is_where_it_was_said(stage: MakeStage, repo: Path) -> None:
    play = stage("- run: {command: touch by-hand, escalate: I need it}\n- say: Done.")

    async def story() -> None:
        hub = Hub(repo.parent / "data", connection=play.connection(), roots=[repo])
        async with asyncio.timeout(SECONDS), hub:
            session = await hub.start(cwd=repo, prompt="go", sandbox="read-only")
            await eventually(hub.approvals)
            [waiting] = hub.approvals()
            always = waiting.request.always
            assert always is not None
            assert hub.remembered() == []
            assert hub.decide(waiting.id, "allow_always", session_id=session.id)
            await read_until(hub.subscribe(session.id), is_end)
            [rule] = hub.remembered()
            assert (rule.prefix, rule.stored_in) == (always.prefix, always.stored_in)
            assert hub.forget(rule.id)
            assert hub.remembered() == []

    asyncio.run(story())
