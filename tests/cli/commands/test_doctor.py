from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.commands.doctor import Diagnosis, doctor, judged, page, stored
from dragoman.client import examining
from dragoman.client.examining import Examination
from dragoman.harnesses.contract.capabilities import Capabilities
from dragoman.model.answers import AgentAccount
from dragoman.model.intents import ServerFacts
from dragoman.store.live.store import LiveStore


def found(home: Path, **facts: Any) -> Examination:
    facts = {
        "harness": "agent",
        "home": home,
        "program": "/bin/agent",
        "found": "on the PATH",
        "release": "1.2.3",
        "facts": ServerFacts(signed_in=True, account=AgentAccount(kind="chatgpt", name="a@b.c")),
        "key_names": ("AGENT_KEY",),
        "has_one_shots": True,
        "capabilities": Capabilities(sign_in_command="agent login"),
        **facts,
    }
    return Examination(**facts)


def levels(examination: Examination) -> dict[str, str]:
    return {check.name: check.level for check in judged(examination)}


def check(examination: Examination, name: str) -> Diagnosis:
    return next(each for each in judged(examination) if each.name == name)


def test_all_is_well(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("model = 'm'\n", encoding="utf-8")

    assert set(levels(found(tmp_path)).values()) == {"ok"}
    assert check(found(tmp_path), "program").text == "/bin/agent (on the PATH)"
    assert check(found(tmp_path), "account").text == "signed in: chatgpt, a@b.c"


def test_without_a_program_nothing_else_can_be_said(tmp_path: Path) -> None:
    nothing = found(tmp_path, program=None, problems={"program": "agent is not on this machine"})

    assert levels(nothing) == {"program": "fail"}
    assert "--command" in (check(nothing, "program").fix or "")


def test_who_is_not_signed_in_is_told_how(tmp_path: Path) -> None:
    stranger = found(tmp_path, facts=ServerFacts(signed_in=False, needs_sign_in=True))

    assert check(stranger, "account").level == "fail"
    assert check(stranger, "account").fix == (
        "run `agent login`, or set AGENT_KEY; `dragoman demo` works without"
    )


def test_a_model_that_needs_no_sign_in_is_fine(tmp_path: Path) -> None:
    local = found(tmp_path, facts=ServerFacts(signed_in=False, needs_sign_in=False))

    assert check(local, "account").level == "ok"


def test_an_old_release_still_runs_single_prompts(tmp_path: Path) -> None:
    old = found(tmp_path, facts=None, problems={"server": "needs a newer one"})

    assert levels(old)["sessions"] == "warn"
    assert "run --exec" in (check(old, "sessions").fix or "")


def test_a_release_too_old_for_both_is_broken(tmp_path: Path) -> None:
    ancient = found(tmp_path, facts=None, problems={"server": "no", "one_shot": "no"})

    assert levels(ancient)["sessions"] == "fail"


def test_an_agent_that_does_not_start_is_broken(tmp_path: Path) -> None:
    mute = found(tmp_path, facts=None, problems={"greeting": "it did not answer"})

    assert check(mute, "start").level == "fail"


def test_settings_that_are_not_toml_are_broken(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("model = \n", encoding="utf-8")

    assert check(found(tmp_path), "settings").level == "fail"
    assert "line 1" in check(found(tmp_path), "settings").text


def test_the_page_names_the_way_out() -> None:
    checks = [
        Diagnosis(name="program", level="ok", text="here"),
        Diagnosis(name="git", level="fail", text="gone\x1b", fix="install it"),
    ]

    assert page(checks, colour=False) == [
        "✓ program  here",
        "✗ git      gone␛",
        "           → install it",
        "",
        "1 broken",
    ]


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    async def examine(command: str | None, *, harness: str | None = None) -> Examination:
        return found(tmp_path, program=None, problems={"program": f"{command} is not there"})

    monkeypatch.setattr(examining, "examine", examine)
    return tmp_path


def test_something_broken_is_exit_code_one(
    examined: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor.main(["--command", "nope"], standalone_mode=False) == 1

    assert capsys.readouterr().out.startswith("✗ program   nope is not there\n")


def test_checks_are_json_lines_for_programs(
    examined: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doctor.main(["--json"], standalone_mode=False)

    checks = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert checks[0]["name"] == "program"
    assert {each["level"] for each in checks} <= {"ok", "warn", "fail"}


def test_the_sandbox_is_tried_in_a_home_that_the_shell_did_not_expand(
    tmp_path: Path,
    codex_program: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever it says of the sandbox here, it says the same of the same home."""
    (tmp_path / "alt").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    said: list[str] = []
    for home in (str(tmp_path / "alt"), "~/alt"):
        monkeypatch.setenv("CODEX_HOME", home)
        doctor.main(["--json", "--command", codex_program], standalone_mode=False)
        checks = map(json.loads, capsys.readouterr().out.splitlines())
        said += [each["text"] for each in checks if each.get("name") == "sandbox"]

    assert len(said) == 2
    assert said[0] == said[1]


def test_a_damaged_live_store_is_reported(tmp_path: Path) -> None:
    assert list(stored(tmp_path)) == []
    store = LiveStore(tmp_path)
    store.close()
    assert [each.level for each in stored(tmp_path)] == ["ok"]

    with sqlite3.connect(store.path) as connection:
        connection.execute("INSERT INTO journal VALUES (7, 0, 0.0, NULL, 'x')")
    connection.close()
    [found] = stored(tmp_path)
    assert (found.level, found.name) == ("fail", "live")
    assert "live.db" in found.text
