from __future__ import annotations

import shlex

import pytest

from dragoman.drive.approvals.shell.escapes.builtins import added_subcommand


@pytest.mark.parametrize(
    ("line", "named", "found"),
    [
        ("kubectl tree", 1, "tree"),
        ("kubectl tree", 2, None),
        ("kubectl get pods", 1, None),
        ("kubectl -n x get", 1, None),
        ("cargo +nightly pwn", 1, "pwn"),
        ("cargo +nightly build", 1, None),
        ("go tool vet", 2, None),
        ("go tool pwn", 2, "pwn"),
        ("go tool pwn", 3, None),
        ("ls tree", 1, None),
        ("kubectl", 1, None),
    ],
)
def test_a_subcommand_that_is_not_the_programs_own(line: str, named: int, found: str) -> None:
    words = shlex.split(line)
    assert added_subcommand(words[0], words, named) == found
