from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from dragoman.rehearsal.agents.codex import settings, variables, write_home
from dragoman.rehearsal.agents.homes import NotOurs


def test_the_configuration_is_toml_that_says_what_was_meant(tmp_path: Path) -> None:
    config = settings(
        "http://127.0.0.1:1/v1",
        model="m",
        retries=2,
        more={"mcp_servers": {"a b": {"args": ["x", "\x7f"]}}, "features": {"apps": False}},
    )

    write_home(tmp_path / "home", config)

    assert tomllib.loads((tmp_path / "home" / "config.toml").read_text()) == config
    assert config["features"] == {"plugins": False, "apps": False}
    assert config["model_providers"]["rehearsal"]["request_max_retries"] == 2


def test_the_home_of_a_real_agent_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('model = "mine"\n', encoding="utf-8")

    with pytest.raises(NotOurs, match="was not written by a rehearsal"):
        write_home(tmp_path, {})

    assert path.read_text(encoding="utf-8") == 'model = "mine"\n'


def test_a_home_of_ours_is_written_again(tmp_path: Path) -> None:
    write_home(tmp_path, {"a": 1})
    write_home(tmp_path, {"a": 2})

    assert tomllib.loads((tmp_path / "config.toml").read_text(encoding="utf-8")) == {"a": 2}


def test_no_proxy_stands_between_the_agent_and_loopback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "example.com")
    monkeypatch.delenv("no_proxy", raising=False)

    assert variables(tmp_path) == {
        "CODEX_HOME": str(tmp_path),
        "NO_PROXY": "example.com,127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
