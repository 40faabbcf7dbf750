"""Find the paths in the words of a command: ``.env``, ``--file=.env``, ``@.env``, ``HEAD:.env``."""

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
    """Yield everything among these words that may be a path."""
    yield from targets
    if not words or tuple(words[:2]) == UNKNOWN:
        return
    runs_others = program(words[0]) not in PLAIN or inner_operands(words) is not None
    reads_code = program(words[0]) not in PLAIN or runs_code(words)
    for given in words:
        if given != MANY:
            # The program itself may expand a quoted pattern, as in find -name '.e*' -exec cat.
            word = unknown_names(given) if runs_others else given
            yield from parts(word)
            if reads_code and re.search(r"[\s\"'()]", word):
                yield from _TOKENS.findall(word)


def parts(word: str) -> Iterator[str]:
    """Yield the word and those parts of it that a program may use as a path."""
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
    """Expand ``~``; the home of another user becomes unknown text."""
    if not path.startswith("~"):
        return path
    user, slash, rest = path.partition("/")
    return f"{(home if user == '~' else None) or ANY}{slash}{rest}"
