from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.following import FollowedMessage
from dragoman.model.messages import Prompt, ToolResult
from support.archive.home import command, make_home
from support.archive.saved_sessions import session_id


def _heard(
    self: SessionArchive, session: str | None = None, *, harness: str | None = None
) -> Iterator[list[FollowedMessage]]:
    yield []
    yield [
        FollowedMessage("a", Prompt(text="hello")),
        FollowedMessage("a", ToolResult(call_id="c", output="quiet")),
    ]
    raise KeyboardInterrupt


@pytest.mark.parametrize("arguments", [[], [session_id(1)]])
def test_what_is_written_is_shown_until_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setattr(SessionArchive, "tail", _heard)
    run = command("tail", make_home(tmp_path / "home"), tmp_path / "cache", monkeypatch)

    code, out, err = run(*arguments)

    assert code == 130
    assert out == "\u203a hello\n"
    assert "following" in err
    assert "quiet" in run(*arguments, "--tools")[1]
    told = [json.loads(line)["type"] for line in run("--json")[1].split("\n") if line]
    assert told == ["prompt", "tool_result"]


def test_secrets_are_masked_on_demand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SessionArchive, "tail", _heard)
    run = command("tail", make_home(tmp_path / "home"), tmp_path / "cache", monkeypatch)

    assert "hello" in run("--redact")[1]
    monkeypatch.setattr(SessionArchive, "tail", _heard_secret)
    assert run("--redact", "--json")[1].count("[secret-1]") == 1


def _heard_secret(
    self: SessionArchive, session: str | None = None, *, harness: str | None = None
) -> Iterator[list[FollowedMessage]]:
    yield [FollowedMessage("a", Prompt(text="PGPASSWORD=coppertulip psql"))]
    raise KeyboardInterrupt
