from __future__ import annotations

import re

from dragoman.drive.approvals.shell.escapes.code_words import CODE_WORDS
from dragoman.drive.approvals.shell.escapes.options import (
    EXACT,
    HARMLESS_PROPERTY,
    OPTIONS,
)


def test_every_entry_is_an_option() -> None:
    odd = {
        f"{name}: {option}"
        for name, table in OPTIONS.items()
        for option in table.split()
        if not re.fullmatch(r"-|--?[A-Za-z_:][\w.+-]*/?|-:", option)
    }

    assert odd == set()


def test_programs_are_named_as_they_are_looked_up() -> None:
    assert all(name == name.casefold() for name in (*OPTIONS, *EXACT, *CODE_WORDS))


def test_settings_that_choose_tests_are_harmless() -> None:
    assert HARMLESS_PROPERTY.fullmatch("skipTests")
    assert HARMLESS_PROPERTY.fullmatch("test=FooTest")
    assert not HARMLESS_PROPERTY.fullmatch("exec.executable=sh")
