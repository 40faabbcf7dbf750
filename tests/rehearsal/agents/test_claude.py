from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.rehearsal.agents.claude import own_places, settings, variables, write_home
from dragoman.rehearsal.agents.homes import NotOurs


def test_the_settings_ask_nothing_unless_the_script_says_so(tmp_path: Path) -> None:
    write_home(tmp_path, settings({"permissions": {"allow": ["Bash"]}, "model": "m"}))

    written = json.loads((tmp_path / ".claude" / "settings.json").read_text(encoding="utf-8"))
    assert written["permissions"] == {"defaultMode": "bypassPermissions", "allow": ["Bash"]}
    assert written["model"] == "m"
    assert settings({"permissions": {"defaultMode": "default"}})["permissions"] == {
        "defaultMode": "default"
    }
    assert (tmp_path / "tmp").is_dir()


def test_the_home_of_a_real_agent_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{}", encoding="utf-8")

    with pytest.raises(NotOurs, match="was not written by a rehearsal"):
        write_home(tmp_path, {"a": 1})

    assert path.read_text(encoding="utf-8") == "{}"


def test_a_home_of_ours_is_written_again_and_keeps_what_the_agent_remembers(tmp_path: Path) -> None:
    write_home(tmp_path, {"a": 1})
    state = tmp_path / ".claude" / ".claude.json"
    state.write_text('{"mine": 1}', encoding="utf-8")
    write_home(tmp_path, {"a": 2})

    settings_file = tmp_path / ".claude" / "settings.json"
    assert json.loads(settings_file.read_text(encoding="utf-8")) == {"a": 2}
    assert state.read_text(encoding="utf-8") == '{"mine": 1}'


def test_nothing_leads_the_agent_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)

    env = variables(tmp_path, "http://127.0.0.1:1/v1", retries=2)

    assert env["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert env["CLAUDE_CODE_MAX_RETRIES"] == "2"
    assert env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == "1"
    assert env["CLAUDE_CONFIG_DIR"] == str(tmp_path / ".claude")
    assert "127.0.0.1" in env["NO_PROXY"]
    assert env["CLAUDE_CODE_USE_BEDROCK"] == ""
    assert "ANTHROPIC_AUTH_TOKEN" not in env
    assert own_places(tmp_path)["HOME"] == str(tmp_path)


def test_temporary_files_of_the_agent_stay_in_the_rehearsal(tmp_path: Path) -> None:
    env = variables(tmp_path, "http://127.0.0.1:1/v1")

    assert env["CLAUDE_CODE_TMPDIR"] == str(tmp_path / "tmp")
