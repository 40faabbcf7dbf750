"""Explain in a sentence why an allow rule does not cover the words of a command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dragoman.drive.approvals.shell.escapes.finding import escape
from dragoman.drive.approvals.shell.interpreters import unnamed_script
from dragoman.drive.approvals.shell.programs import (
    has_code_operand,
    inner_operands,
    program,
    reads_script,
    runs_code,
)

_NUMBER: Final = "-<n>"
"""The entry in ``options`` that permits ``-5``."""


def uncovered(
    words: Sequence[str],
    named: int,
    options: Sequence[str] | None = None,
    has_path: bool = False,
) -> str | None:
    """The problem with the words after the first ``named``, which the rule's ``command`` names.

    With ``options``, a rule covers no other options; without, all but those by which the program runs or
    writes something else. In both cases it does not cover subcommands and code that run something else.
    With ``has_path``, the rule limits which files it covers, so an interpreter may run those.
    """
    named = max(named, 1)
    name = program(words[0])
    script = unnamed_script(words, named, options or (), has_path)
    if script is not None:
        return f"{name} runs any code, and the rule does not name {script}"
    if len(words) == named:
        return None
    needed = inner_operands(words)
    if needed is not None and _operands(words[1:named]) <= needed:
        return f"{name} runs other commands: name the command in the rule, too"
    if options is not None:
        for word in words[named:]:
            if _is_option(word) and not _is_permitted(word, options):
                return f"the rule does not permit the option {word!r}"
    has_code = runs_code(words) if options is None else has_code_operand(words)
    if has_code and not runs_code(words[:named]):
        return f"{name} is given code to run"
    found = escape(words, named, options_matter=options is None)
    return (
        f"{found!r} is not covered by the name of the program: name it in the rule"
        if found
        else None
    )


def uncovered_input(words: Sequence[str]) -> str | None:
    """The problem with a command that reads from a pipe."""
    return f"{program(words[0])} runs its input from the pipe" if reads_script(words) else None


def _operands(words: Sequence[str]) -> int:
    """How many words are certainly neither options nor values of options."""
    found = 0
    after_option = False
    for word in words:
        is_option = word.startswith("-")
        found += not is_option and not after_option and "=" not in word
        after_option = is_option
    return found


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith(("-", "+")) and word != "--"


def _is_permitted(word: str, options: Sequence[str]) -> bool:
    if word in options or word.partition("=")[0] in options:
        return True
    if re.fullmatch(r"-\d+", word):
        return _NUMBER in options
    if not re.fullmatch(r"-[A-Za-z0-9]+", word):
        return False
    if word[:2] in options and word[2:].isdigit():
        return True
    return all(f"-{letter}" in options for letter in word[1:])
