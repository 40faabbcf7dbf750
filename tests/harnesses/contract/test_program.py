from __future__ import annotations

import pytest

from dragoman.harnesses import HARNESSES
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.program import Program, Remembered

_PROGRAMS = [each.program for each in HARNESSES if each.program is not None]


def _no_release(text: str) -> Release | None:
    return None


def test_the_least_program_is_a_command_and_claims_nothing_else() -> None:
    program = Program(command="agent", parse_release=_no_release)

    assert program.speaks(None) == program.speaks((1, 2, 3)) == []
    assert (program.bundled, program.sign_in, program.schema) == (None, None, None)
    assert (program.key_names, program.sandbox_trials) == ((), ())


def test_a_remembered_rule_may_be_about_commands_or_a_host() -> None:
    about_commands = Remembered(decision="allow", prefix=("git", "status"))
    about_a_host = Remembered(decision="deny", host="example.invalid")

    assert (about_commands.host, about_a_host.prefix) == (None, ())


@pytest.mark.parametrize("program", _PROGRAMS, ids=lambda program: program.command)
def test_a_program_says_how_to_install_it_and_what_its_releases_speak(program: Program) -> None:
    assert program.install
    assert program.parse_release(f"{program.command} no number") is None
    release = program.parse_release("9.8.7")
    assert release in ((9, 8, 7), None)
    assert all(program.speaks(release))
