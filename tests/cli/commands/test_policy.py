from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.main import main

_EXAMPLE = str(Path(__file__).parents[3] / "examples" / "policy.toml")


def test_a_command_is_judged_and_the_reason_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "check", _EXAMPLE, "--", "git", "push", "-f"]) == 0
    denied = capsys.readouterr().out
    assert main(["policy", "check", _EXAMPLE, "--", "git log --oneline | head -3"]) == 0
    allowed = capsys.readouterr().out

    assert denied == (
        "deny\n  rule: not without me\n  why:  git push -f: rule 'not without me' matches\n"
    )
    assert allowed.startswith("allow\n  rule: looking at the repository\n")


def test_the_session_s_directory_can_be_given(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert (
        main(["policy", "check", _EXAMPLE, "--cwd", str(tmp_path), "--", "cat", f"{tmp_path}/a"])
        == 0
    )
    assert capsys.readouterr().out.startswith("allow")
    assert (
        main(["policy", "check", _EXAMPLE, "--cwd", "/elsewhere", "--", "cat", f"{tmp_path}/a"])
        == 0
    )
    assert capsys.readouterr().out.startswith("ask")


def test_the_reason_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "check", _EXAMPLE, "--", "ls", "\x1b[2J\n"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_every_line_gets_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ['{"command": "git status"}', "garbage", "", '{"paths": ["~/.ssh/x"]}', '{"tool": "x"}']

    class _Stdin:
        buffer = io.BytesIO("\n".join(lines).encode())

    monkeypatch.setattr(sys, "stdin", _Stdin())
    assert main(["policy", "check", _EXAMPLE, "--stdin"]) == 0

    answers: list[dict[str, Any]] = [
        json.loads(line) for line in capsys.readouterr().out.splitlines()
    ]
    assert [each["decision"] for each in answers] == ["allow", "deny", "deny", "cancel", "ask"]
    assert all(list(each) == ["decision", "rule", "why"] for each in answers)


def test_an_answer_comes_before_the_next_question() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "dragoman.cli.main", "policy", "check", _EXAMPLE, "--stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for command, decision in (("pwd", "allow"), ("rm x", "deny")):
            process.stdin.write(json.dumps({"command": command}) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["decision"] == decision
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([_EXAMPLE], "give either a command after --, or --stdin"),
        ([_EXAMPLE, "--stdin", "--", "ls"], "give either a command after --, or --stdin"),
        (["nothing.toml", "--", "ls"], "nothing.toml: no such file or directory"),
        ([], "Missing argument 'FILE'"),
    ],
)
def test_a_wrong_request_is_told_in_a_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert main(["policy", "check", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_a_rule_that_names_only_an_interpreter_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('[[rule]]\ncommand = "python"\ndecision = "allow"\n', encoding="utf-8")

    assert main(["policy", "check", str(file), "--", "python x.py"]) == 0

    shown = capsys.readouterr()
    assert shown.out.startswith("ask\n")
    assert shown.err.startswith("note: rule 1: python can run any file")
