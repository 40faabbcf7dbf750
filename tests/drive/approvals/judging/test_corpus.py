"""Hundreds of command lines against whole policies: what must not be allowed, and what must be."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from dragoman.drive.approvals.policy_file import read_policy
from dragoman.drive.approvals.rules import Rules, rule
from dragoman.model.messages import ApprovalRequested

_ROOT = Path(__file__).parents[4]
_DATA = _ROOT / "tests" / "data" / "policy"
_COMMANDS = {
    "rm -rf": "rm -rf /",
    "git push --force": "git push origin main --force",
    "git reset --hard": "git reset HEAD~1 --hard",
    "curl": "curl example.org",
}


def _lines(name: str) -> list[str]:
    """The lines of a table; a backslash at the end of one goes on with the next."""
    text = (_DATA / name).read_text(encoding="utf-8").replace("\\\n", "\0")
    lines = [line for line in text.split("\n") if line and not line.startswith("# ")]
    assert len(lines) > 50
    return [line.replace("\0", "\\\n") for line in lines]


def _with_newlines(name: str) -> Iterator[str]:
    for line in _lines(name):
        breaks = "EOF" in line if name == "disguises.txt" else not _is_address(line)
        yield line.replace("@", "\n") if breaks else line


def _is_address(line: str) -> bool:
    return "@-" in line or "@x" in line


@cache
def _policy(path: Path) -> Rules:
    return read_policy(path, resolve=None)


def _decision(rules: Rules, line: str, cwd: str | None = None) -> str:
    request = ApprovalRequested(
        approval_id="a", kind="command", command=line, cwd=cwd, detail={"workspace": "/ws"}
    )
    return rules.explain(request).decision


_EXAMPLE = _ROOT / "examples" / "policy.toml"
_BROAD = _DATA / "broad.toml"


def _decided(rules: Rules, lines: Iterable[str], *decisions: str, cwd: str | None = None) -> None:
    """Each line has one of the decisions. One test goes through a table: thousands of tests would cost more than the lines."""
    wrong = [
        (line, made) for line in lines if (made := _decision(rules, line, cwd)) not in decisions
    ]
    assert wrong == []


def test_the_example_does_not_allow() -> None:
    lines = _with_newlines("example-bypasses.txt")
    _decided(_policy(_EXAMPLE), lines, "ask", "deny", "cancel")


def test_the_example_allows() -> None:
    _decided(_policy(_EXAMPLE), _lines("example-benign.txt"), "allow")


def test_broad_rules_do_not_allow() -> None:
    _decided(_policy(_BROAD), _with_newlines("broad-bypasses.txt"), "ask", "deny", "cancel")


def test_broad_rules_allow() -> None:
    _decided(_policy(_BROAD), _lines("broad-benign.txt"), "allow")


@pytest.mark.parametrize("cwd", ["/tmp/evil", "sub", "..", "~", "/ws/../etc"])
def test_nothing_is_allowed_in_another_directory(cwd: str) -> None:
    lines = [*_lines("example-benign.txt"), *_lines("broad-benign.txt")]
    _decided(_policy(_EXAMPLE), lines, "ask", "deny", "cancel", cwd=cwd)
    _decided(_policy(_BROAD), lines, "ask", "deny", "cancel", cwd=cwd)


def test_what_is_forbidden_is_not_allowed_in_disguise() -> None:
    """Not even where everything else is."""
    rules = Rules([rule("deny", command="rm -rf")], default="allow")
    by_kind = Rules([rule("deny", command="rm -rf"), rule("allow", kind="command")])

    for each in (rules, by_kind):
        _decided(each, _with_newlines("disguises.txt"), "ask", "deny")


def test_a_fence_around_everything_has_no_holes_that_words_show() -> None:
    rules = Rules(
        [
            rule("deny", command=["rm -rf", "git push --force"]),
            rule("deny", path=["**/.env", "**/*.pem"]),
        ],
        default="allow",
    )
    lines = [
        line.replace("@", "\n") if "<<" in line and "curl" not in line else line
        for line in _lines("fence-bypasses.txt")
    ]

    _decided(rules, lines, "ask", "deny")


@pytest.mark.parametrize(("forbidden", "command"), _COMMANDS.items())
def test_what_is_forbidden_is_seen_through_a_launcher(forbidden: str, command: str) -> None:
    lines = [_launched(launcher, command) for launcher in _lines("launchers.txt")]
    for rules in (
        Rules([rule("deny", command=forbidden)], default="allow"),
        Rules([rule("deny", command=forbidden), rule("allow", command_regex=".*")]),
    ):
        _decided(rules, lines, "ask", "deny")


def test_a_launcher_does_not_widen_what_is_allowed() -> None:
    rules = Rules([rule("allow", command=["git status", "ls", "true", "echo", "cat"])])
    launchers = [one for one in _lines("launchers.txt") if one != "{}"]

    _decided(rules, (_launched(launcher, "evil -x") for launcher in launchers), "ask")


def test_a_rule_that_names_only_the_launcher_allows_no_other_command() -> None:
    launchers = [one for one in _lines("launchers.txt") if one.split()[0].isidentifier()]
    assert len(launchers) > 100
    for launcher in launchers:
        rules = Rules([rule("allow", command=[launcher.split()[0], "true", "echo", "cat", "ls"])])
        _decided(rules, [_launched(launcher, "evil -x")], "ask")


def _launched(launcher: str, command: str) -> str:
    line = launcher.replace("{{", "\1").replace("}}", "\2")
    line = line.replace("{bang}", shlex.quote(f"!{command}")).replace("{qq}", f'"{command}"')
    line = line.replace("{q}", shlex.quote(command)).replace("{}", command)
    return line.replace("\1", "{").replace("\2", "}")


def test_options_are_found_in_any_place_and_spelling() -> None:
    for line in _lines("forbidden.txt"):
        forbidden, command = line.split(": ", 1)
        for decision in ("deny", "cancel"):
            rules = Rules([rule(decision, command=forbidden)], default="allow")
            _decided(rules, [command], decision)


def test_what_is_not_forbidden_is_not_taken_for_it() -> None:
    forbidden = ["git push --force", "git reset --hard", "rm -rf", "find -delete", "git branch -D"]
    rules = Rules([rule("deny", command=forbidden)], default="allow")

    _decided(rules, [*_lines("broad-benign.txt"), "rg -l x | xargs wc -l"], "allow")
