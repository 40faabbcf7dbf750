"""What holds for every line, and what real shells do with those that are allowed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dragoman.drive.approvals.rules import Rules, rule
from dragoman.model.messages import ApprovalRequested

_DATA = Path(__file__).parents[3] / "data" / "policy"
_LAUNCHERS = [
    line
    for line in (_DATA / "launchers.txt").read_text(encoding="utf-8").split("\n")
    if line and not line.startswith("# ") and line != "{}"
]
_RULES = Rules(
    [
        rule("allow", name="git", command=["git status", "git diff"], options=["-s", "--stat"]),
        rule("allow", name="ls", command="ls", options=["-l", "-a"], path="**"),
        rule("allow", name="echo", command=["echo", "cd sub"]),
    ]
)
_ALLOWED = ["git status", "git status -s", "git diff --stat", "ls", "ls -la src", "echo hi"]


def _decision(rules: Rules, line: str) -> str:
    request = ApprovalRequested(
        approval_id="a", kind="command", command=line, detail={"workspace": "/ws"}
    )
    return rules.explain(request).decision


_WORDS = st.text("abcXYZ/.-_=~*?[]{}$`'\"\\;&|<>()#! \n\t", min_size=1, max_size=12)
_ALLOWED_LINES = st.lists(st.sampled_from(_ALLOWED), min_size=1, max_size=3).map("; ".join)


@given(
    st.sampled_from(_LAUNCHERS), st.sampled_from(["evil", "git push", "./ls", "sh x", "rm -r y"])
)
def test_no_launcher_makes_a_command_allowed(launcher: str, command: str) -> None:
    line = launcher.replace("{{", "\1").replace("}}", "\2")
    line = line.replace("{bang}", shlex.quote(command)).replace("{qq}", f'"{command}"')
    line = line.replace("{q}", shlex.quote(command)).replace("{}", command)

    assert _decision(_RULES, line.replace("\1", "{").replace("\2", "}")) == "ask"


@given(
    _ALLOWED_LINES,
    st.sampled_from(
        [";", "&&", "||", "|", "\n", "&", "|&", " >", " >>", " <", " 2>", " $(", " `", "\\\n"]
    ),
    st.sampled_from(["evil", "e\\vil", "'evil'", "$X", "./git status", "git statusx", "x"]),
)
def test_no_suffix_widens(allowed: str, operator: str, evil: str) -> None:
    assert _decision(_RULES, f"{allowed}{operator}{evil}") == "ask"


@given(
    _ALLOWED_LINES, st.sampled_from(["PATH=.", "LD_PRELOAD=x", "GIT_DIR=x", "A=b", "A=", "IFS=/"])
)
def test_no_variable_may_be_set_before(allowed: str, setting: str) -> None:
    assert _decision(_RULES, f"{setting} {allowed}") == "ask"
    assert _decision(_RULES, f"{setting}; {allowed}") == "ask"
    assert _decision(_RULES, f"export {setting}; {allowed}") == "ask"


@given(st.text(max_size=60) | st.lists(_WORDS, max_size=6).map(" ".join))
def test_no_line_makes_judging_fail(line: str) -> None:
    broad = Rules(
        [rule("deny", command="rm -rf", path="**/.env"), rule("deny", command_regex="x")],
        default="allow",
    )
    assert _decision(broad, line) in ("allow", "ask", "deny")
    assert _decision(_RULES, line) in ("allow", "ask", "deny")


@given(st.lists(_WORDS, min_size=1, max_size=6))
def test_what_is_forbidden_stays_so_whatever_is_added(words: list[str]) -> None:
    rules = Rules([rule("deny", command="rm -rf")], default="allow")

    more = " ".join(map(shlex.quote, words))
    assert _decision(rules, f"rm -rf {more}") == "deny"
    assert _decision(rules, f"rm {more} -f -r") == "deny"
    assert _decision(rules, f"echo {more}; rm -fr x") == "deny"


def test_judging_stays_quick_on_what_is_made_to_take_long() -> None:
    """Each of these would take for ever if anything backtracked; the test would not end."""
    rules = Rules(
        [rule("deny", command="rm -rf"), rule("deny", path="**/*a*a*a*a*a*a*a*a*b")],
        default="allow",
    )
    for line in (
        "sudo " * 5_000 + "x",
        "{a,b}" * 500,
        "$(" * 5_000,
        "`" * 5_000,
        "${" * 5_000,
        "x" + "/a" * 20_000,
        "a" * 90_000,
        "'" * 5_001,
        '"' * 5_001,
        "<<E\n" * 2_000,
        "{" * 5_000,
        "; ".join(["find . -exec sudo env nice timeout 5 xargs x"] * 200),
    ):
        assert _decision(rules, line) in ("allow", "ask", "deny")


_PIECES = st.sampled_from(
    [
        *(
            "git",
            "status",
            "diff",
            "-s",
            "--stat",
            "ls",
            "-la",
            "src",
            "echo",
            "evil",
            "cd",
            "sub",
            "..",
            "/",
        ),
        *(
            " ",
            " ",
            " ",
            " ",
            ";",
            "&&",
            "||",
            "|",
            "&",
            "\n",
            "\t",
            "$(",
            "$",
            "`",
            "(",
            ")",
            "{",
            "}",
        ),
        *(
            "'",
            '"',
            "\\",
            "#",
            ">",
            "<",
            "=",
            "*",
            "[",
            "]",
            ",",
            "''",
            '""',
            "<<",
            "2>/dev/null",
            "2>&1",
        ),
        *("bash -c ", "sh -c ", "'git status'", "A=b ", "!", "exec ", "if ", "then "),
    ]
)
_SHELLS = [path for name in ("bash", "sh", "zsh", "ksh") if (path := shutil.which(name))]


@pytest.mark.skipif(os.name == "nt", reason="asks POSIX shells")
@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.filter_too_much,
        HealthCheck.too_slow,
    ],
)
@given(
    line=(_ALLOWED_LINES | st.lists(_PIECES, min_size=1, max_size=12).map("".join)).filter(
        lambda line: _decision(_RULES, line) == "allow"
    )
)
@example(line="git status -s && bash -c 'ls -la src; echo \"a b\"' | git diff --stat 2>/dev/null")
@example(line="echo '*' \"x;y\" '$(evil)' '`evil`' > /dev/null")
@example(line="sh -c 'bash -lc \"git status\"'")
def test_real_shells_run_what_was_allowed_and_nothing_else(tmp_path: Path, line: str) -> None:
    """Every program is a stand-in that writes down its words; the rules must allow each of them."""
    bin_, here, log = tmp_path / "bin", tmp_path / "here", tmp_path / "log"
    if not bin_.exists():
        bin_.mkdir()
        (here / "src").mkdir(parents=True)
        for name in ("git", "ls", "evil", "status", "diff", "src", "sub"):
            # One write for each row: the programs of a pipe run at the same time.
            stub = f'#!/bin/sh\nprintf "%s\\0" "{name}" "$@" "\x1e" >> {log}\n'
            (bin_ / name).write_text(stub, encoding="utf-8")
            (bin_ / name).chmod(0o755)
        for shell in _SHELLS:
            (bin_ / Path(shell).name).symlink_to(shell)
    for shell in _SHELLS:
        log.write_text("", encoding="utf-8")
        subprocess.run(
            [shell, "-c", line],
            cwd=here,
            env={"PATH": str(bin_), "HOME": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        for row in log.read_text(encoding="utf-8").split("\0\x1e\0"):
            words = row.split("\0")
            if row:
                request = ApprovalRequested(
                    approval_id="a", kind="command", argv=words, detail={"workspace": "/ws"}
                )
                assert _RULES.explain(request).decision == "allow", (shell, line, words)
        assert sorted(os.listdir(here)) == ["src"], (shell, line)
