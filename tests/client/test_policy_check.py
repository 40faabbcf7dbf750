from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.client.policy_check import Checked, PolicyCheck

_RULES = """
default = "allow"
[[rule]]
name = "no tracker"
tool = "mcp__tracker__*"
decision = "deny"
[[rule]]
path = "**/.env"
decision = "cancel"
[[rule]]
name = "status"
command = "git status"
decision = "allow_for_session"
"""


@pytest.fixture
def checks(tmp_path: Path) -> PolicyCheck:
    path = tmp_path / "policy.toml"
    path.write_text(_RULES, encoding="utf-8")
    return PolicyCheck(path, tmp_path)


@pytest.mark.parametrize(
    ("line", "decision", "rule"),
    [
        ('{"command": "git status"}', "allow_for_session", "status"),
        ('{"command": ["bash", "-lc", "git status"], "cwd": null}', "allow_for_session", "status"),
        ('{"command": "git status", "cwd": "sub"}', "allow", None),
        ('{"paths": ["a", "../.env"]}', "cancel", "rule 2"),
        ('{"paths": ["a"], "cwd": "sub"}', "allow", None),
        ('{"tool": "mcp__tracker__delete"}', "deny", "no tracker"),
        ('{"tool": "mcp__other__get", "server": "other"}', "allow", None),
    ],
)
def test_a_request_is_judged(
    checks: PolicyCheck, line: str, decision: str, rule: str | None
) -> None:
    found = checks.line(line)

    assert (found.decision, found.rule) == (decision, rule)
    assert found.why


@pytest.mark.parametrize(
    "line",
    [
        *(
            "",
            "\n",
            "garbage",
            "null",
            "[]",
            "3",
            '"ls"',
            "{}",
            '{"cwd": "/"}',
            '{"command": null}',
        ),
        *(
            '{"command": ""}',
            '{"command": " "}',
            '{"command": []}',
            '{"command": [""]}',
            '{"command": 5}',
        ),
        *('{"command": ["ls", 5]}', '{"command": {"a": 1}}', '{"command": "ls", "cwd": 5}'),
        *('{"command": "ls", "cwd": ""}', '{"command": "ls", "tool": "x"}', '{"paths": []}'),
        *('{"paths": "a"}', '{"paths": [null]}', '{"paths": [""]}', '{"tool": ""}', '{"tool": 5}'),
        *(
            '{"tool": "x", "server": 5}',
            '{"command": "\\ud800"}',
            '{"command": "ls\\u0000"}',
            "[" * 5_000,
        ),
    ],
)
def test_what_cannot_be_read_is_denied_even_if_all_else_is_allowed(
    checks: PolicyCheck, line: str
) -> None:
    found = checks.line(line)

    assert found.decision == "deny"
    assert found.rule is None
    assert found.why.startswith("the request cannot be read: ")
    assert checks.line(b"\xff\xfe").decision == "deny"


def test_a_failure_of_ours_is_a_denial(
    checks: PolicyCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Checked:
        raise RuntimeError("oh")

    monkeypatch.setattr(checks, "command", fails)

    assert checks.line('{"command": "ls"}').decision == "deny"


@pytest.mark.parametrize(
    "line",
    [
        '{"command": "git status", "command": "git status"}',
        '{"command": "git status", "workdir": "/tmp/x"}',
        '{"command": "git status", "env": {"GIT_DIR": "/tmp/x"}}',
        '{"command": "git status", "shell": "/tmp/x"}',
    ],
)
def test_what_would_be_read_over_is_denied(checks: PolicyCheck, line: str) -> None:
    found = checks.line(line)

    assert found.decision == "deny"
    assert "cannot be read" in found.why


def test_words_with_hidden_characters_are_not_certain(checks: PolicyCheck) -> None:
    assert checks.command(["git", "status", "a\nb"]).rule == "status"
    assert checks.command(["git", "status", "-\u200bs"]).rule is None


def test_a_forbidden_path_is_asked_about_where_the_directory_is_not_known(
    checks: PolicyCheck,
) -> None:
    assert checks.line('{"command": "cat .env", "cwd": "~/x"}').decision == "cancel"
    assert checks.line('{"command": "cat a", "cwd": "~/x"}').decision == "allow"
