from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.drive.approvals.policy import Decision
from dragoman.drive.approvals.rules import BadRule, Rules, rule
from dragoman.model.messages import ApprovalKind, ApprovalRequested

_READING = rule("allow", name="reading", command=["git status", "git diff", "ls", "rg"])
_DANGER = rule("deny", name="danger", command=["rm", "git push"], message="ask me")


def _request(
    kind: ApprovalKind, *, tool: str | None = None, summary: str = "", **detail: Any
) -> ApprovalRequested:
    detail = {"workspace": "/w", **detail}
    return ApprovalRequested(approval_id="a", kind=kind, tool=tool, summary=summary, detail=detail)


def _word(rules: Rules, request: ApprovalRequested) -> str:
    decision = rules(request)
    return decision.word if decision is not None else "ask"


def _on_command(rules: Rules, line: str) -> str:
    return _word(rules, _request("command", tool="Bash", command=line))


def _on_edit(rules: Rules, *paths: str, cwd: str = "/w") -> str:
    changes = [{"path": path, "kind": "update"} for path in paths]
    return _word(rules, _request("edit", changes=changes, cwd=cwd, workspace=cwd))


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("git status", "allow"),
        ("git status -s", "allow"),
        ("git statusx", "ask"),
        ("git", "ask"),
        ("lsof", "ask"),
        ("git status && git diff | rg 'a|b'", "allow"),
        ("git status && make", "ask"),
        ("git status; rm -rf x", "deny"),
        ("git status $(rm -rf x)", "deny"),
        ("git status $(make)", "ask"),
        ("git status > x", "ask"),
        ("git status &", "ask"),
        ("A=1 git status", "ask"),
        ("/usr/bin/git status", "ask"),
        ("/bin/rm x", "deny"),
        ("git -C elsewhere push", "deny"),
        ("sudo rm x", "deny"),
        ("echo 'rm x'", "ask"),
        ("ls\nrm x", "deny"),
        ("", "deny"),
    ],
)
def test_commands_are_judged_one_by_one(line: str, word: str) -> None:
    assert _on_command(Rules([_READING, _DANGER]), line) == word


def test_the_rule_that_decided_is_named_and_speaks() -> None:
    rules = Rules([_READING, _DANGER, rule("deny", command="dd")], default="deny")

    said = [rules(_request("command", command=line)) for line in ("ls", "ls; rm x", "dd", "make")]

    assert said == [
        Decision(word="allow", by="rule 'reading'"),
        Decision(word="deny", message="ask me", by="rule 'danger'"),
        Decision(word="deny", by="rule 3"),
        Decision(word="deny", by="default"),
    ]


def test_the_first_rule_that_matches_decides() -> None:
    push, git = rule("ask", command="git push"), rule("allow", command="git")

    assert _on_command(Rules([push, git], default="deny"), "git push") == "ask"
    assert _on_command(Rules([git, push], default="deny"), "git push") == "allow"


def test_two_rules_may_share_a_compound_command_and_the_lesser_permission_holds() -> None:
    rules = Rules([rule("allow_for_session", command="ls"), rule("allow", command="pwd")])

    assert _on_command(rules, "ls; ls") == "allow_for_session"
    assert _on_command(rules, "ls; pwd") == "allow"


def test_stopping_the_turn_is_stricter_than_a_no() -> None:
    rules = Rules([rule("deny", command="rm"), rule("cancel", command="dd")])

    assert _on_command(rules, "rm x; dd y") == "cancel"


def test_a_rule_without_a_command_is_about_all_commands_even_opaque_ones() -> None:
    rules = Rules([_DANGER, rule("allow", kind="command")])

    assert _on_command(rules, "make > $LOG") == "allow"
    assert _on_command(rules, "make > $LOG; rm x") == "deny"
    assert _on_command(rules, "make >$LOG;rm x") == "deny"


def test_a_regex_that_allows_must_fit_the_whole_command_and_one_that_denies_any_part() -> None:
    rules = Rules(
        [rule("deny", command_regex="secret"), rule("allow", command_regex=r"make( \w+)?")]
    )

    assert _on_command(rules, "make test") == "allow"
    assert _on_command(rules, "make test; make") == "allow"
    assert _on_command(rules, "make a b") == "ask"
    assert _on_command(rules, "make test; ls") == "ask"
    assert _on_command(rules, "make test > secret") == "deny"


@given(
    st.lists(st.sampled_from(["ls", "rg x", "git status -s", "'a b'"]), max_size=3).map(" ".join),
    st.sampled_from(
        [";", "&&", "||", "|", "\n", "&", "|&", " $(", " `", " >", " <(", "\n\n", "\\\n"]
    ),
    st.sampled_from(["evil", " evil x", "'evil'", "e\\vil", "$X", "e$()vil", "git statusx"]),
    st.sampled_from(["", ")", "`", ";", "\n", " 2>&1", " # ls", " && ls"]),
)
def test_no_compound_command_slips_through_a_rule_that_allows(
    before: str, operator: str, evil: str, after: str
) -> None:
    assert _on_command(Rules([_READING]), f"ls {before}{operator}{evil}{after}") == "ask"


@pytest.mark.parametrize(
    ("paths", "word"),
    [
        (["src/a.py"], "allow"),
        (["/w/src/a.py", "tests/b.py"], "allow"),
        (["src/a.py", "setup.py"], "ask"),
        (["src/../setup.py"], "ask"),
        (["/etc/src/a.py"], "ask"),
        (["src/a.py", "src/.env"], "deny"),
        (["src/.ENV"], "deny"),
        ([""], "deny"),
        ([], "deny"),
    ],
)
def test_every_path_of_an_edit_must_be_allowed(paths: list[str], word: str) -> None:
    rules = Rules([rule("deny", path="**/.env"), rule("allow", path=["src/**", "tests/**"])])

    assert _on_edit(rules, *paths) == word


def test_where_a_file_is_moved_to_counts_too() -> None:
    rules = Rules([rule("allow", path="src/**")])
    change = {"path": "src/a", "kind": "update", "move_path": "/etc/a"}

    assert _word(rules, _request("edit", changes=[change], cwd="/w")) == "ask"


def test_a_link_that_leads_outside_is_followed() -> None:
    links = {"/w/src/link/a": "/etc/a"}
    rules = Rules(
        [rule("deny", path="/etc/**"), rule("allow", path="src/**")],
        resolve=lambda path: links.get(path, path),
    )

    assert _on_edit(rules, "src/a") == "allow"
    assert _on_edit(rules, "src/link/a") == "deny"


def test_a_workspace_behind_a_link_is_still_the_workspace() -> None:
    rules = Rules(
        [rule("allow", path="src/**")], resolve=lambda path: path.replace("/tmp/", "/private/tmp/")
    )

    assert _on_edit(rules, "/tmp/w/src/a", cwd="/tmp/w") == "allow"


@pytest.mark.parametrize("changes", [None, "src/a", [1], [{}], [{"path": 3}]])
def test_an_edit_that_does_not_say_what_it_changes_is_denied_whatever_the_rules_say(
    changes: object,
) -> None:
    request = _request("edit", changes=changes, cwd="/w")

    assert _word(Rules([rule("allow", path="**")]), request) == "deny"
    assert _word(Rules([rule("allow", kind="edit")], default="allow"), request) == "deny"


def test_tools_and_servers_are_matched_by_name() -> None:
    rules = Rules(
        [
            rule("deny", tool="mcp__git__push*"),
            rule("allow", server="git"),
            rule("cancel", server="*"),
        ]
    )

    assert _word(rules, _request("tool", tool="mcp__git__push_all", server="git")) == "deny"
    assert _word(rules, _request("tool", tool="mcp__git__log", server="git")) == "allow"
    assert _word(rules, _request("tool", tool="mcp__git__log")) == "allow"
    assert _word(rules, _request("tool", tool="mcp__web__get")) == "cancel"
    assert _word(rules, _request("permissions", permissions={"network": True})) == "ask"


def test_questions_are_matched_by_their_words_and_never_answered_with_a_yes() -> None:
    rules = Rules([rule("deny", text="DEPLOY"), rule("allow", kind="question")])

    assert _word(rules, _request("question", summary="Shall I deploy now?")) == "deny"
    assert _word(rules, _request("question", summary="Which name?")) == "ask"


def test_conditions_of_one_kind_do_not_reach_another() -> None:
    rules = Rules([rule("allow", command="ls"), rule("allow", path="**")], default="deny")

    assert _word(rules, _request("permissions", permissions={"network": True})) == "deny"
    assert _on_edit(Rules([rule("allow", command="ls")], default="deny"), "a") == "deny"
    assert _on_command(Rules([rule("allow", path="**")], default="deny"), "ls") == "deny"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"decision": "alow"}, "decision: unknown decision 'alow'; known: allow, "),
        ({"decision": "answered"}, "decision: unknown decision 'answered'; known: "),
        (
            {"decision": "deny", "kind": "comand"},
            "kind: unknown kind 'comand'; known: command, ",
        ),
        ({"decision": "deny", "command": "a; b"}, "command: 'a; b' is more than one command"),
        ({"decision": "deny", "command": "a $b"}, "command: 'a $b' is not the plain beginning of"),
        (
            {"decision": "deny", "command_regex": "("},
            "command_regex: '(' is not a regular expression",
        ),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(arguments: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadRule) as caught:
        rule(**arguments)
    assert str(caught.value).startswith(sentence)


def test_a_default_that_is_no_decision_is_refused() -> None:
    with pytest.raises(BadRule, match="unknown decision 'maybe'"):
        Rules([], default="maybe")
