"""The agents that are set up by data alone: what leads each to the stand-in model, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.rehearsal.agents.described import COPILOT, GEMINI, OPENCODE, QWEN
from dragoman.rehearsal.agents.homes import NotOurs
from dragoman.rehearsal.agents.known import AGENTS, SETUPS
from dragoman.rehearsal.agents.setup import AgentWishes, DescribedAgent

_ALL = (GEMINI, COPILOT, QWEN, OPENCODE)
_WISHES = AgentWishes("http://127.0.0.1:1/v1", retries=2, config={"mine": {"a": 1}})


@pytest.mark.parametrize("agent", _ALL, ids=lambda agent: agent.name)
def test_every_place_in_the_settings_is_filled_in(agent: DescribedAgent, tmp_path: Path) -> None:
    agent.write_home(tmp_path, _WISHES)
    text = (tmp_path / agent.file).read_text(encoding="utf-8")
    env = agent.variables(tmp_path, _WISHES) | agent.own_places(tmp_path)

    assert json.loads(text)["mine"] == {"a": 1}
    for name in ("home", "url", "root", "model", "retries", "attempts"):
        assert "{" + name + "}" not in f"{text} {env}"
    assert any("http://127.0.0.1:1" in value for value in (text, *env.values()))
    assert env["HOME"] == str(tmp_path)
    assert "127.0.0.1" in env["NO_PROXY"]
    assert (tmp_path / "tmp").is_dir()


def test_numbers_stay_numbers_and_keys_are_filled_in(tmp_path: Path) -> None:
    GEMINI.write_home(tmp_path, _WISHES)
    OPENCODE.write_home(tmp_path, AgentWishes("http://127.0.0.1:1/v1", model="other"))

    gemini = json.loads((tmp_path / GEMINI.file).read_text(encoding="utf-8"))
    opencode = json.loads((tmp_path / OPENCODE.file).read_text(encoding="utf-8"))
    assert gemini["general"]["maxAttempts"] == 3
    assert [*opencode["provider"]["rehearsal"]["models"]] == ["other"]
    assert opencode["model"] == "rehearsal/other"


def test_a_home_of_a_user_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / QWEN.file
    path.parent.mkdir()
    path.write_text("{}", encoding="utf-8")

    with pytest.raises(NotOurs, match="was not written by a rehearsal"):
        QWEN.write_home(tmp_path, _WISHES)
    assert path.read_text(encoding="utf-8") == "{}"


def test_what_leads_elsewhere_is_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)

    env = GEMINI.variables(tmp_path, _WISHES)

    assert env["GOOGLE_GENAI_USE_VERTEXAI"] == ""
    assert "GOOGLE_API_KEY" not in env


def test_each_model_belongs_to_one_kind_of_agent() -> None:
    def owners(model: str) -> list[str]:
        return [name for name in AGENTS if SETUPS[name].takes(model)]

    assert owners("claude-sonnet-4-5") == ["claude"]
    assert owners("gemini-3-pro") == ["gemini"]
    assert owners("qwen3-coder-plus") == ["qwen"]
    assert owners("gpt-5.5") == ["codex"]
