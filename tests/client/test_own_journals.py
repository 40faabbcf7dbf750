"""What is exchanged with a program that keeps no sessions is kept, and is a session like any other."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import dragoman
from dragoman.cli.main import dragoman as program
from dragoman.client.own_journals import OwnJournals
from dragoman.errors import AgentNotFound, UsageError
from dragoman.model.messages import Prompt, Text, TurnEnded

_DATA = Path(__file__).parents[1] / "data" / "acp" / "acp"
_PLAYER = (str(Path(sys.executable).with_name("dragoman")), "replay", "--as", "acp")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data" / "dragoman" / "acp" / "sessions"


def test_any_program_that_speaks_acp_is_driven_and_found_again(home: Path, tmp_path: Path) -> None:
    agent = shlex.join([*_PLAYER, "--max-pause", "0", str(_DATA / "copilot-mcp" / "wire.jsonl")])

    async def work() -> tuple[str, str | None, list[str]]:
        async with dragoman.connect(agent=agent) as connected:
            session = await connected.start(cwd=tmp_path)
            turn = session.run("Say it.")
            texts = [each.text async for each in turn if isinstance(each, Text)]
            return session.id, turn.id, texts

    session_id, turn_id, texts = asyncio.run(work())

    (journal,) = home.iterdir()
    assert journal.stat().st_mode & 0o077 == 0
    kept = list(dragoman.read(journal))
    assert [each.text for each in kept if isinstance(each, Prompt)] == ["Say it."]
    assert [each.text for each in kept if isinstance(each, Text)] == texts == ["ok"]
    assert [each.turn_id for each in kept if isinstance(each, TurnEnded)] == [turn_id]
    listed = CliRunner().invoke(program, ["sessions", "--json"])
    (row,) = [json.loads(line) for line in listed.stdout.splitlines()]
    assert (row["session_id"], row["harness"]) == (session_id, "acp")
    assert row["title"] == "dragoman-replay: Say it."


def test_an_agent_is_named_by_its_command_alone(home: Path) -> None:
    with pytest.raises(UsageError):
        dragoman.connect("claude", agent="my-agent --acp")
    refused = CliRunner().invoke(program, ["run", "--agent", "no-such-agent --acp", "hi"])

    assert refused.exit_code != 0
    assert "no-such-agent is not on the PATH" in str(refused.exception)
    assert not home.exists()


def test_without_a_command_there_is_no_program(home: Path) -> None:
    async def work() -> None:
        async with dragoman.connect("acp"):
            pass

    with pytest.raises(AgentNotFound, match="--agent COMMAND"):
        asyncio.run(work())


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    notices: list[str] = []
    journals = OwnJournals(tmp_path / "file" / "below", "/bin/agent", notify=notices.append)

    assert journals.begin() is None
    journals.received([b"{}\n"])
    journals.sent([b"{}\n"])
    journals.close()
    assert [each.partition(":")[0] for each in notices] == ["the session is not kept"]


def test_each_process_has_a_journal_named_after_its_program(tmp_path: Path) -> None:
    journals = OwnJournals(tmp_path, "/opt/my agent", notify=pytest.fail)
    for _ in range(2):
        assert journals.begin() is not None
    journals.close()

    names = [path.name for path in tmp_path.iterdir()]
    assert len(names) == 2
    assert all("-my-agent-" in name for name in names)
