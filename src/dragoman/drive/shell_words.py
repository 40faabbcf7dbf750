"""Command lines as lists of simple commands, for rules that say what may run.

Two readings, since a mistake must never widen what is allowed:

* :func:`plain_commands` understands everything or nothing. It gives up (None) at whatever could make the
  shell run something else than the words that stand there: ``$``, backticks, redirections, subshells,
  braces, backslashes, comments, background jobs, characters that shells disagree about.
* :func:`possible_commands` gives every command that might run, rather one too many: through ``sudo`` and
  ``xargs``, in the script of ``sh -c``, inside ``$(…)``. Rules that forbid are held against these.

Shells of the Bourne family, and PowerShell as far as it agrees with them; not ``cmd.exe``, to which single
quotes mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

Words: TypeAlias = tuple[str, ...]

_OPAQUE: Final = frozenset("\\$`<>(){}")
_QUOTES: Final = frozenset("‘’‚‛“”„‟")  # noqa: RUF001  (PowerShell takes these for quotes)
_DEPTH: Final = 4
_REACH: Final = 32
"""How many words of a command that another one runs are looked at."""
_ASSIGNMENT: Final = re.compile(r"\w+\+?=")
_REDIRECTION: Final = re.compile(r"\d*[<>]+[&|]?[ \t]*[^\s();|&]*")
_BREAK: Final = re.compile(r"[;&|\n(){}`]|\$(?=\()")
_SPACING: Final = re.compile(r"\$\{?IFS\b\}?")
_ORNAMENT: Final = re.compile(r"\$(?=['\"])|['\"]|\\\n?")
_RUNNER_NAMES: Final = (
    "! if then elif else while until do time exec eval command builtin env sudo doas su nohup nice"
    " ionice setsid stdbuf timeout watch xargs parallel find fd entr busybox toybox script flock"
    " chroot unshare sh bash zsh dash ksh fish ash pwsh powershell cmd ssh coproc trap source ."
    " strace ltrace"
)
_RUNNERS: Final = frozenset(_RUNNER_NAMES.split())
"""Words after which another command may stand."""


def plain_commands(line: str) -> tuple[Words, ...] | None:
    """The simple commands of a line, each as its words; None unless that is certain to be all of it."""
    commands: list[Words] = []
    words: list[str] = []
    word: list[str] | None = None
    at, end = 0, len(line)
    if any(not (char.isprintable() or char in "\t\n") or char in _QUOTES for char in line):
        return None
    while at < end:
        char = line[at]
        pair = line[at : at + 2]
        if char in _OPAQUE or (char == "#" and word is None) or (char == "&" and pair != "&&"):
            return None
        if char in " \t\n;|&":
            if word is not None:
                words.append("".join(word))
                word = None
            if char not in " \t":
                commands.append(tuple(words))
                words = []
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
            word.append(char)
        at += 1
    if word is not None:
        words.append("".join(word))
    commands.append(tuple(words))
    found = tuple(command for command in commands if command)
    return found or None


def _is_alive(inside: str, quote: str) -> bool:
    """Whether quoted text may mean something else than itself, or may not end where we think it does."""
    if inside.endswith("\\"):
        return True
    return quote == '"' and any(sign in inside for sign in ("$", "`", "\\\\", "\\\n"))


def possible_commands(line: str) -> list[Words]:
    """Every command that a line might run; some that it does not."""
    return list(dict.fromkeys(_possible(line, _DEPTH)))


def commands_run_by(words: Words) -> list[Words]:
    """A simple command, and those that it might run in turn."""
    return list(dict.fromkeys(_starts(words, _DEPTH)))


def _possible(line: str, depth: int) -> Iterator[Words]:
    for words in plain_commands(line) or _crude_commands(line):
        yield from _starts(words, depth)


def _crude_commands(line: str) -> Iterator[Words]:
    """Broken at every operator, whether it is quoted or not, and with the quotes taken away."""
    line = _SPACING.sub(" ", line.replace("\\\n", ""))
    for piece in _BREAK.split(_REDIRECTION.sub(" ", line)):
        words = tuple(_ORNAMENT.sub("", piece).split())
        if words:
            yield words


def _starts(words: Words, depth: int) -> Iterator[Words]:
    """The command itself, and those it may run in turn."""
    first = 0
    while first < len(words) and _ASSIGNMENT.match(words[first]):
        first += 1
    words = words[first:]
    if not words:
        return
    yield words
    if program(words[0]) not in _RUNNERS or depth == 0:
        return
    for at in range(1, len(words)):
        if len(words[at].split()) > 1 or _BREAK.search(words[at]):
            yield from _possible(words[at], depth - 1)
        else:
            yield words[at : at + _REACH]


def program(word: str) -> str:
    """The name of a program without its directory, as case-blind file systems see it.

    zsh finds a program by ``=name``, too.
    """
    return re.split(r"[/\\]", word.removeprefix("="))[-1].casefold().removesuffix(".exe")


def begins_with(words: Words, prefix: Sequence[str]) -> bool:
    """Whether a command begins with these very words."""
    return words[: len(prefix)] == tuple(prefix)


def might_begin_with(words: Words, prefix: Sequence[str]) -> bool:
    """The same, wherever the program lies, and with options between the words of the prefix.

    ``git -C elsewhere push`` might begin with ``git push``.
    """
    if not words or not prefix:
        return False
    if words[0] != prefix[0] and program(words[0]) != program(prefix[0]):
        return False
    wanted = list(prefix[1:])
    after_option = False
    for word in words[1:]:
        if not wanted:
            break
        if word.casefold() == wanted[0].casefold():
            wanted.pop(0)
            after_option = False
        elif word.startswith("-"):
            after_option = True
        elif after_option:
            after_option = False
        else:
            return False
    return not wanted
