"""Command lines as lists of simple commands.

There are two readings, because a mistake must never widen what is allowed: :func:`plain_commands` understands
the whole line or nothing (:mod:`dragoman.drive.approvals.shell.plain`), and :func:`possible_commands` overestimates
what might run (:mod:`dragoman.drive.approvals.shell.possible`).
"""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.drive.approvals.shell.lexing import Words
from dragoman.drive.approvals.shell.matching import Match, command_match
from dragoman.drive.approvals.shell.plain import read_plain
from dragoman.drive.approvals.shell.possible import possible_in


def plain_commands(line: str) -> tuple[Words, ...] | None:
    """The simple commands of a line as words; None unless they are certainly all of it."""
    commands = read_plain(line)
    return None if commands is None else tuple(command.words for command in commands)


def possible_commands(line: str) -> list[Words]:
    """Every command that a line might run, and some that it does not."""
    return list(dict.fromkeys(each.words for each in possible_in(line)))


def begins_with(words: Words, prefix: Sequence[str]) -> bool:
    """Whether a command begins with exactly these words."""
    return words[: len(prefix)] == tuple(prefix)


def might_begin_with(words: Words, prefix: Sequence[str]) -> bool:
    """Like :func:`begins_with`, for any path of the program and options in any position.

    ``git -C elsewhere push`` might begin with ``git push``.
    """
    return command_match(words, prefix) is not Match.NO
