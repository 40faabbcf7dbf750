"""Parse command lines that certainly run exactly their words, for allow rules.

:func:`read_plain` understands the whole line or nothing. It returns None at anything that could make the shell
run something other than the words in the line: ``$``, backticks, redirections, subshells, braces, backslashes,
comments, background jobs, and characters that shells disagree about. Only discarded or merged output
(``2>/dev/null``, ``2>&1``) is ignored. :func:`certain_commands` also unwraps scripts from shells that are known to
run only them, and follows ``cd``.

This covers shells of the Bourne family, and PowerShell where it agrees with them; not ``cmd.exe``, where single
quotes have no meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from dragoman.drive.approvals.shell.programs import names
from dragoman.model.shells import shell_call

Words: TypeAlias = tuple[str, ...]

_OPAQUE: Final = frozenset("\\$`<>(){}")
_QUOTES: Final = frozenset("‘’‚‛“”„‟")  # noqa: RUF001  (PowerShell takes these for quotes)
_DEPTH: Final = 3
_LONGEST: Final = 100_000
_MOST_COMMANDS: Final = 50
"""A person would not read a line with more commands."""
_HARMLESS: Final = re.compile(
    r"(?:[012]?>>?[ ]?/dev/null|<[ ]?/dev/null|[12]?>&[12])(?=$|[ \t\n;|]|&&)"
)
_POWERSHELL_SCRIPT: Final = re.compile(r"(?:[\w./:=+\- \t;|&\n]|'[^']*')*")
_MOVING: Final = frozenset(("cd", "pushd", "popd", "chdir"))
_MOST_MOVES: Final = 3
_CHANGING: Final = names(
    """
    export declare typeset local readonly unset alias unalias hash enable trap source . eval exec set shopt
    setopt unsetopt bind complete read mapfile readarray getopts let function zmodload autoload disable
    emulate rehash set-alias sal new-alias nal import-module ipmo set-item si set-variable sv
    invoke-expression iex
    """
)
"""Commands that may change the meaning of the words after them."""
_SAFE_SETS: Final = names("-e -u -x -eu -ex -ux -eux -o pipefail -euo -euxo -eo +x +e +u")


class Plain(NamedTuple):
    """A simple command."""

    words: Words
    loose: frozenset[int] = frozenset()
    """The words that a shell may replace with file names."""
    piped: bool = False
    """Whether it reads the output of the command before it."""


class Certain(NamedTuple):
    """A simple command that certainly runs if its line does."""

    words: Words
    loose: frozenset[int] = frozenset()
    piped: bool = False
    moves: tuple[str, ...] | None = ()
    """The directories that the line changes to first, in order; null: unknown."""
    changed: str | None = None
    """An earlier command that may have changed the meaning of its words."""


def is_odd(char: str) -> bool:
    """Whether shells disagree about a character, or it is invisible."""
    return _is_hidden(char) or char in _QUOTES


def _is_hidden(char: str) -> bool:
    return not (char.isprintable() or char in "\t\n")


def read_plain(line: str) -> tuple[Plain, ...] | None:
    """The simple commands of a line; None unless they are certainly all of it."""
    if len(line) > _LONGEST or any(is_odd(char) for char in line):
        return None
    commands: list[Plain] = []
    words: list[str] = []
    loose: set[int] = set()
    word: list[str] | None = None
    piped = False
    at, end = 0, len(line)
    while at < end:
        char = line[at]
        pair = line[at : at + 2]
        if word is None and char in "012<>" and (found := _HARMLESS.match(line, at)):
            at = found.end()
            continue
        if char in _OPAQUE or (char == "#" and word is None) or (char == "&" and pair != "&&"):
            return None
        if char in " \t\n;|&":
            if word is not None:
                words.append("".join(word))
                word = None
            if char not in " \t":
                commands.append(Plain(tuple(words), frozenset(loose), piped))
                piped = pair != "||" if char == "|" else piped and char == "\n" and not words
                words, loose = [], set()
            at += 2 if pair in ("&&", "||") else 1
            continue
        word = [] if word is None else word
        if char in "'\"":
            close = line.find(char, at + 1)
            inside = line[at + 1 : close]
            if close < 0 or _is_alive(inside, char):
                return None
            word.append(inside)
            at = close
        else:
            if char in "*?[":
                loose.add(len(words))
            word.append(char)
        at += 1
    if word is not None:
        words.append("".join(word))
    commands.append(Plain(tuple(words), frozenset(loose), piped))
    found_commands = tuple(command for command in commands if command.words)
    return found_commands if 0 < len(found_commands) <= _MOST_COMMANDS else None


def _is_alive(inside: str, quote: str) -> bool:
    """Whether quoted text may expand, or may end somewhere else."""
    if inside.endswith("\\"):
        return True
    return quote == '"' and any(sign in inside for sign in ("$", "`", "\\\\", "\\\n"))


def certain_commands(line: str) -> list[Certain] | None:
    """The simple commands of a line, including those inside known shells; None unless they are all."""
    plain = read_plain(line)
    if plain is None:
        return None
    found = _unwrapped(plain, _DEPTH)
    return None if found is None else list(_followed(found))


def certain_words(words: Sequence[str]) -> list[Certain] | None:
    """Like :func:`certain_commands`, for a command given as words."""
    if not words or not words[0] or any(_is_hidden(char) for word in words for char in word):
        return None
    found = _unwrapped([Plain(tuple(words))], _DEPTH)
    return None if found is None else list(_followed(found))


def _unwrapped(commands: Sequence[Plain], depth: int) -> list[Plain] | None:
    found: list[Plain] = []
    for command in commands:
        call = None if command.loose else shell_call(command.words)
        if call is None:
            found.append(command)
            continue
        if call.family == "cmd" or depth == 0:
            return None
        if call.family == "powershell" and not _POWERSHELL_SCRIPT.fullmatch(call.script):
            return None
        script = read_plain(call.script)
        inside = None if script is None else _unwrapped(script, depth - 1)
        if inside is None:
            return None
        if command.piped:
            inside = [each._replace(piped=True) for each in inside]
        found += inside
    return found


def _followed(commands: Sequence[Plain]) -> Iterator[Certain]:
    """Add the directory and other effects of the commands before."""
    moves: tuple[str, ...] | None = ()
    changed: str | None = None
    for words, loose, piped in commands:
        yield Certain(words, loose, piped, moves, changed)
        if not _MOVING.isdisjoint(words[:3]):
            moves = _moved(moves, words, loose)
        if _changes_shell(words):
            changed = changed or words[0]


def _moved(
    moves: tuple[str, ...] | None, words: Words, loose: frozenset[int]
) -> tuple[str, ...] | None:
    is_plain = words[0] == "cd" and len(words) == 2 and not loose
    if moves is None or not is_plain or words[1].startswith(("-", "~")) or not words[1]:
        return None
    return (*moves, words[1]) if len(moves) < _MOST_MOVES else None


def _changes_shell(words: Words) -> bool:
    if words[0] == "set":
        return not _SAFE_SETS.issuperset(words[1:])
    if words[0] == "printf":
        return any(word.startswith("-v") for word in words)
    first = words[1:2] if words[0] in ("builtin", "command") else words[:1]
    return any(word.casefold() in _CHANGING or "=" in word for word in first)
