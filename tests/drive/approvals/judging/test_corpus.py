"""Hundreds of command lines against whole policies: what must not be allowed, and what must be."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
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


@pytest.mark.parametrize("line", list(_with_newlines("example-bypasses.txt")))
def test_the_example_does_not_allow(line: str) -> None:
    assert _decision(_policy(_EXAMPLE), line) in ("ask", "deny", "cancel")


@pytest.mark.parametrize("line", _lines("example-benign.txt"))
def test_the_example_allows(line: str) -> None:
    assert _decision(_policy(_EXAMPLE), line) == "allow"


@pytest.mark.parametrize("line", list(_with_newlines("broad-bypasses.txt")))
def test_broad_rules_do_not_allow(line: str) -> None:
    assert _decision(_policy(_BROAD), line) in ("ask", "deny", "cancel")


@pytest.mark.parametrize("line", _lines("broad-benign.txt"))
def test_broad_rules_allow(line: str) -> None:
    assert _decision(_policy(_BROAD), line) == "allow"


@pytest.mark.parametrize("line", [*_lines("example-benign.txt"), *_lines("broad-benign.txt")])
@pytest.mark.parametrize("cwd", ["/tmp/evil", "sub", "..", "~", "/ws/../etc"])
def test_nothing_is_allowed_in_another_directory(line: str, cwd: str) -> None:
    assert _decision(_policy(_EXAMPLE), line, cwd) in ("ask", "deny", "cancel")
    assert _decision(_policy(_BROAD), line, cwd) in ("ask", "deny", "cancel")


@pytest.mark.parametrize("line", list(_with_newlines("disguises.txt")))
def test_what_is_forbidden_is_not_allowed_in_disguise(line: str) -> None:
    """Not even where everything else is."""
    rules = Rules([rule("deny", command="rm -rf")], default="allow")
    by_kind = Rules([rule("deny", command="rm -rf"), rule("allow", kind="command")])

    assert _decision(rules, line) in ("ask", "deny")
    assert _decision(by_kind, line) in ("ask", "deny")


@pytest.mark.parametrize("line", _lines("fence-bypasses.txt"))
def test_a_fence_around_everything_has_no_holes_that_words_show(line: str) -> None:
    rules = Rules(
        [
            rule("deny", command=["rm -rf", "git push --force"]),
            rule("deny", path=["**/.env", "**/*.pem"]),
        ],
        default="allow",
    )
    if "<<" in line and "curl" not in line:
        line = line.replace("@", "\n")

    assert _decision(rules, line) in ("ask", "deny")


@pytest.mark.parametrize("launcher", _lines("launchers.txt"))
def test_what_is_forbidden_is_seen_through_a_launcher(launcher: str) -> None:
    for forbidden, command in _COMMANDS.items():
        line = _launched(launcher, command)
        for rules in (
            Rules([rule("deny", command=forbidden)], default="allow"),
            Rules([rule("deny", command=forbidden), rule("allow", command_regex=".*")]),
        ):
            assert _decision(rules, line) in ("ask", "deny"), line


@pytest.mark.parametrize("launcher", [one for one in _lines("launchers.txt") if one != "{}"])
def test_a_launcher_does_not_widen_what_is_allowed(launcher: str) -> None:
    rules = Rules([rule("allow", command=["git status", "ls", "true", "echo", "cat"])])

    assert _decision(rules, _launched(launcher, "evil -x")) == "ask"


@pytest.mark.parametrize(
    "launcher", [one for one in _lines("launchers.txt") if one.split()[0].isidentifier()]
)
def test_a_rule_that_names_only_the_launcher_allows_no_other_command(launcher: str) -> None:
    line = _launched(launcher, "evil -x")
    rules = Rules([rule("allow", command=[launcher.split()[0], "true", "echo", "cat", "ls"])])

    assert _decision(rules, line) == "ask", line


def _launched(launcher: str, command: str) -> str:
    line = launcher.replace("{{", "\1").replace("}}", "\2")
    line = line.replace("{bang}", shlex.quote(f"!{command}")).replace("{qq}", f'"{command}"')
    line = line.replace("{q}", shlex.quote(command)).replace("{}", command)
    return line.replace("\1", "{").replace("\2", "}")


@pytest.mark.parametrize("line", _lines("forbidden.txt"))
def test_options_are_found_in_any_place_and_spelling(line: str) -> None:
    forbidden, command = line.split(": ", 1)

    assert _decision(Rules([rule("deny", command=forbidden)], default="allow"), command) == "deny"
    assert (
        _decision(Rules([rule("cancel", command=forbidden)], default="allow"), command) == "cancel"
    )


@pytest.mark.parametrize("line", [*_lines("broad-benign.txt"), "rg -l x | xargs wc -l"])
def test_what_is_not_forbidden_is_not_taken_for_it(line: str) -> None:
    forbidden = ["git push --force", "git reset --hard", "rm -rf", "find -delete", "git branch -D"]
    rules = Rules([rule("deny", command=forbidden)], default="allow")

    assert _decision(rules, line) == "allow"
