from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from dragoman.drive.approvals.policy import Decision
from dragoman.drive.approvals.policy_file import BadPolicy, parse_policy, read_policy
from dragoman.model.messages import ApprovalRequested

_ROOT = Path(__file__).parents[3]
_GOOD = """\
default = "deny"

[[rule]]
name = "reading is fine"
kind = "command"
command = ["git status", "ls"]
decision = "allow"

[[rule]]
path = "src/**"
decision = "allow_for_session"

[[rule]]
command = "rm"
decision = "deny"
message = "Ask me in chat before you do that."
"""


def _command(line: str) -> ApprovalRequested:
    detail = {"command": line, "workspace": "/w"}
    return ApprovalRequested(approval_id="a", kind="command", detail=detail)


def test_a_file_becomes_rules(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(_GOOD, encoding="utf-8")

    rules = read_policy(path)

    assert rules.default == "deny"
    assert [rule.decision for rule in rules.rules] == ["allow", "allow_for_session", "deny"]
    assert rules(_command("ls")) == Decision(word="allow", by="rule 'reading is fine'")
    assert rules(_command("rm x")) == Decision(
        word="deny", message="Ask me in chat before you do that.", by="rule 3"
    )


def test_an_empty_file_asks_about_everything() -> None:
    rules = parse_policy("")

    assert rules.default == "ask"
    assert rules(_command("ls")) is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("default =", "p.toml: it is not TOML: Invalid value (at end of document)"),
        ("default = 'aks'", "p.toml, line 1: unknown decision 'aks'; did you mean \"ask\"?"),
        (
            "default = 3",
            "p.toml, line 1: unknown decision 3; known: allow, allow_for_session, ",
        ),
        (
            "\ndefautl = 'ask'",
            "p.toml, line 2: unknown key 'defautl'; did you mean \"default\"?",
        ),
        ("[[rules]]", "p.toml, line 1: unknown key 'rules'; did you mean \"rule\"?"),
        ("[rule]\ntool='x'", "p.toml, line 1: rules are written [[rule]], with two brackets"),
        (
            f"{_GOOD}\n[[rule]]\nname = 'net'\ncomand = 'curl'\ndecision = 'ask'",
            'p.toml, line 20, rule 4 ("net"): unknown key \'comand\'; did you mean "command"?',
        ),
        (
            "[[rule]]\nkind = 'comand'\ndecision = 'ask'",
            "p.toml, line 2, rule 1: unknown kind 'comand'; did you mean \"command\"?",
        ),
        (
            "[[rule]]\ncommand = 'ls'\ndecision = 'Allow'",
            "p.toml, line 3, rule 1: unknown decision 'Allow'; did you mean \"allow\"?",
        ),
        (
            "[[rule]]\ncommand = 'ls'",
            "p.toml, line 1, rule 1: it has no decision; one of allow, ",
        ),
        (
            "\n[[rule]]\ndecision = 'allow'",
            'p.toml, line 2, rule 1: it matches everything; write default = "allow" instead',
        ),
        (
            "[[rule]]\ndecision = 'allow'\ncommand = 'ls; rm'",
            "p.toml, line 3, rule 1: 'ls; rm' is more than one command; give each its own place",
        ),
        (
            "[[rule]]\ndecision = 'allow'\ncommand = []",
            "p.toml, line 3, rule 1: command is a text or a list of texts, none of them empty",
        ),
        (
            "[[rule]]\ndecision = 'allow'\ncommand = ['ls', '']",
            "p.toml, line 3, rule 1: command is a text or a list of texts, none of them empty",
        ),
        (
            "[[rule]]\ndecision = true\ncommand = 'ls'",
            "p.toml, line 2, rule 1: decision is a text, not true or false",
        ),
        (
            "[[rule]]\ndecision = 'ask'\ncommand_regex = '('",
            "p.toml, line 3, rule 1: '(' is not a regular expression: ",
        ),
        (
            "[[rule]]\ndecision = 'ask'\nkind = 'edit'\ncommand = 'ls'",
            'p.toml, line 4, rule 1: command is for kind = "command"',
        ),
        (
            "[[rule]]\ndecision = 'ask'\npath = 'a'\nkind = 'tool'",
            'p.toml, line 3, rule 1: path is for kind = "edit" or "command"',
        ),
        (
            "[[rule]]\ndecision = 'deny'\ncommand = 'ls'\noptions = ['-l']",
            "p.toml, line 4, rule 1: options list what an allowed command may use; put forbidden ones",
        ),
        (
            "[[rule]]\ndecision = 'allow'\ncommand = 'ls'\noptions = ['l']",
            "p.toml, line 4, rule 1: 'l' is not an option, such as '-n' or '--stat'",
        ),
        (
            "[[rule]]\ndecision = 'allow'\ncwd = 'sub'",
            'p.toml, line 1, rule 1: it matches everything; write default = "allow" instead',
        ),
        (
            "[[rule]]\ndecision = 'allow'\npath = 'a'\ncwd = 'sub'",
            "p.toml, line 4, rule 1: cwd says where a command may run; the rule names no command",
        ),
        (
            "[[rule]]\ndecision = 'allow'\nkind = 'edit'\ncwd = 'sub'",
            'p.toml, line 4, rule 1: cwd is for kind = "command"',
        ),
        (
            "rule = [{decision = 'ask', comand = 'x'}]",
            "p.toml, rule 1: unknown key 'comand'; did you mean \"command\"?",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place_and_a_way_out(text: str, sentence: str) -> None:
    with pytest.raises(BadPolicy) as caught:
        parse_policy(text, "p.toml")
    assert str(caught.value).startswith(sentence)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_file_that_is_not_there_or_not_text_is_told(tmp_path: Path) -> None:
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"default = 'ask'\n# caf\xe9\n")

    with pytest.raises(BadPolicy, match=r"(?i)no such file"):
        read_policy(tmp_path / "nothing.toml")
    with pytest.raises(BadPolicy, match="line 2: it is not UTF-8"):
        read_policy(latin)


def test_the_home_directory_may_be_written_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("USERPROFILE", "/home/me")

    [rule] = parse_policy("[[rule]]\npath = '~/.ssh/**'\ndecision = 'deny'").rules

    assert rule.path == ("/home/me/.ssh/**",)


def test_an_edit_through_a_link_goes_where_the_link_leads(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "src" / "link").symlink_to(tmp_path / "secret")
    policy = tmp_path / "policy.toml"
    policy.write_text("[[rule]]\npath = 'src/**'\ndecision = 'allow'", encoding="utf-8")
    rules = read_policy(policy)

    def edit(path: str) -> Decision | None:
        detail = {"changes": [{"path": path, "kind": "add"}], "cwd": str(tmp_path)}
        return rules(ApprovalRequested(approval_id="a", kind="edit", detail=detail))

    assert edit("src/new.py") == Decision(word="allow", by="rule 1")
    assert edit("src/link/new.py") is None


def test_the_example_says_what_the_guide_says() -> None:
    rules = read_policy(_ROOT / "examples" / "policy.toml")
    words = {
        line: decision.word if (decision := rules(_command(line))) else "ask"
        for line in ("git diff && ls", "pytest -q", "git push", "cat .env", "ls > x")
    }

    assert words == {
        "git diff && ls": "allow",
        "pytest -q": "ask",
        "git push": "deny",
        "cat .env": "cancel",
        "ls > x": "ask",
    }
