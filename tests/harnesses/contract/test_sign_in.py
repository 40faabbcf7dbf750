from __future__ import annotations

import pytest

from dragoman.harnesses import HARNESSES
from dragoman.harnesses.contract.sign_in import SignIn, SignInCheck

_CHECKS = [
    pytest.param(program.sign_in, program.key_names, id=program.command)
    for each in HARNESSES
    if (program := each.program) is not None and program.sign_in is not None
]


def test_by_default_nothing_is_known_and_nothing_is_needed() -> None:
    assert SignIn() == (None, False)


@pytest.mark.parametrize(("check", "keys"), _CHECKS)
def test_files_that_are_missing_or_damaged_are_no_error(
    check: SignInCheck, keys: tuple[str, ...]
) -> None:
    home = {"HOME": "/home/user"}
    files = check.files(home)

    assert all(file.startswith("/home/user/") for file in files)
    for content in (b"", b"{", b"[]", b'"words"', b"\xff\x00"):
        assert check.read(home, [content] * len(files)).signed_in is not True
