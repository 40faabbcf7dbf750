"""The paths that the words of a command show: ``.env``, ``--file=.env``, ``@.env``, ``HEAD:.env``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dragoman.drive.approvals.path_globs import ANY, unknown_names
from dragoman.drive.approvals.shell.lexing import MANY, UNKNOWN
from dragoman.drive.approvals.shell.programs import PLAIN, inner_operands, program, runs_code

_SEPARATORS: Final = re.compile(r"[=:@,]")
_MOST_PARTS: Final = 16
_TOKENS: Final = re.compile(r"[^\s\"'`()\[\]{};,|&<>=:@]+")


def shown_paths(words: Sequence[str], targets: Sequence[str] = ()) -> Iterator[str]:
    """Whatever may be a path among these words, rather one too many."""
    yield from targets
    if not words or tuple(words[:2]) == UNKNOWN:
        return
    runs_others = program(words[0]) not in PLAIN or inner_operands(words) is not None
    reads_code = program(words[0]) not in PLAIN or runs_code(words)
    for given in words:
        if given != MANY:
            # A pattern in quotes is a matter of the program, such as find -name '.e*' -exec cat.
            word = unknown_names(given) if runs_others else given
            yield from parts(word)
            if reads_code and re.search(r"[\s\"'()]", word):
                yield from _TOKENS.findall(word)


def parts(word: str) -> Iterator[str]:
    """The word, and the pieces of it that a program may take for a path."""
    yield word
    if re.match(r"-[^-].", word):
        yield word[2:]
    for number, found in enumerate(_SEPARATORS.finditer(word)):
        if number == _MOST_PARTS:
            yield ANY
            break
        rest = word[found.end() :]
        yield rest
        piece = _SEPARATORS.split(rest, maxsplit=1)[0]
        if piece != rest:
            yield piece
    first = _SEPARATORS.split(word, maxsplit=1)[0]
    if first != word:
        yield first


def expanded(path: str, home: str | None) -> str:
    """With the home directory written out; that of another user is unknown text."""
    if not path.startswith("~"):
        return path
    user, slash, rest = path.partition("/")
    return f"{(home if user == '~' else None) or ANY}{slash}{rest}"
