"""Rules that name only a program that runs others."""

from __future__ import annotations

from dragoman.drive.approvals.judging.remarks import remarks
from dragoman.drive.approvals.judging.rule import rule


def test_a_rule_for_an_interpreter_alone_is_reported() -> None:
    found = list(remarks([rule("deny", command="rm"), rule("allow", command=["python3", "ls"])]))

    assert found == [
        "rule 2: python3 can run any file, so this rule allows next to nothing: name the file, or add a path"
    ]


def test_launchers_and_project_runners_are_reported_by_the_name_of_the_rule() -> None:
    found = list(remarks([rule("allow", name="tools", command=["env", "sudo", "make"])]))

    assert [text.partition(",")[0] for text in found] == [
        "rule 'tools': env and sudo can run any command",
        "rule 'tools': make runs what the project's files say",
    ]


def test_a_rule_that_names_what_runs_is_not_reported() -> None:
    rules = [
        rule("allow", command=["python manage.py", "npm test", "env ls", "git"]),
        rule("allow", command="python", path="scripts/**"),
        rule("deny", command=["python", "sudo"]),
    ]

    assert list(remarks(rules)) == []


def test_a_long_list_is_cut() -> None:
    (found,) = remarks([rule("allow", command=["ruby", "perl", "php", "lua", "julia", "node"])])

    assert "ruby, perl, php, lua and others can run any file" in found
