"""Find the paths in the words of a command: ``.env``, ``--file=.env``, ``@.env``, ``HEAD:.env``."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Final

from dragoman.drive.approvals.path_globs import ANY, unknown_names
from dragoman.drive.approvals.shell.lexing import MANY, UNKNOWN
from dragoman.drive.approvals.shell.programs import (
    PLAIN,
    inner_operands,
    names,
    program,
    runs_code,
)

_SEPARATORS: Final = re.compile(r"[=:@,]")
_MOST_PARTS: Final = 16
_DIRECTORY_OPTIONS: Final = re.compile(
    r"(-C|--(?:directory|chdir|cwd|work-tree|prefix|root|project-directory|base-directory))(?:=(.*))?$"
)
_PATTERN_OPTIONS: Final = re.compile(
    r"(?:-g|--(?:i?glob|include|iname|name|path|wildcards|files))(?:=(.*))?$"
)
_PATHSPEC: Final = re.compile(r"(?:[^:]*:)?:(?:\([^)]*\)|[/!^]+)(.+)")
"""Git's pathspecs with magic, ``:(top).env`` and ``:/.env``."""
_TAKING_PATHS: Final = names("add rm mv checkout restore ls-files stage stash")
_NAMED: Final = re.compile(r"-i?name")
_TOKENS: Final = re.compile(r"[^\s\"'`()\[\]{};,|&<>=:@]+")


def shown_paths(words: Sequence[str], targets: Sequence[str] = ()) -> Iterator[str]:
    """Yield everything among these words that may be a path."""
    yield from targets
    if not words or tuple(words[:2]) == UNKNOWN:
        return
    yield from _below_directories(words)
    yield from _patterns(words)
    runs_others = program(words[0]) not in PLAIN or inner_operands(words) is not None
    reads_code = program(words[0]) not in PLAIN or runs_code(words)
    for given in words:
        if given != MANY:
            # The program itself may expand a quoted pattern, as in find -name '.e*' -exec cat.
            word = unknown_names(given) if runs_others else given
            yield from parts(word)
            if reads_code and re.search(r"[\s\"'()]", word):
                yield from _TOKENS.findall(word)


def _below_directories(words: Sequence[str]) -> Iterator[str]:
    """Words below the directory that an option changes to: ``tar -C ~ -cf - .ssh``."""
    places: list[str] = []
    for at, word in enumerate(words):
        found = _DIRECTORY_OPTIONS.match(word)
        if found:
            places.append(found[2] or (words[at + 1] if at + 1 < len(words) else ANY))
        elif re.match(r"-C.", word):
            places.append(word[2:])
    for place in places[:_MOST_PARTS]:
        for word in words[1:]:
            if word != MANY and not word.startswith(("-", "/", "~")):
                yield posixpath.join(place, word)


def _patterns(words: Sequence[str]) -> Iterator[str]:
    """Quoted patterns and pathspecs that a program expands itself, and the files that find passes on."""
    name = program(words[0])
    is_quoted = name == "zip" or (name == "git" and not _TAKING_PATHS.isdisjoint(words[1:3]))
    for at, word in enumerate(words):
        if (is_quoted or (name == "git" and "--" in words[:at])) and not re.search(r"\s", word):
            yield unknown_names(word)
        follows = words[at + 1] if at + 1 < len(words) else ""
        found = _PATTERN_OPTIONS.match(word)
        if found and (pattern := found[1] or follows):
            yield unknown_names(pattern.lstrip("*"))  # *.py is not .env.py: rg skips hidden files
        if name == "git" and (spec := _PATHSPEC.match(word)):
            yield unknown_names(spec[1])
        if name in ("fd", "fdfind") and "\\" in word:
            yield re.sub(r"\\(.)", r"\1", word).strip("^$")
    if name in ("find", "gfind") and inner_operands(words) is not None:
        tops = [word for word in _leading(words) if word != MANY] or ["."]
        for at, word in enumerate(words[:-1]):
            if _NAMED.fullmatch(word):
                yield from (f"{top}/{ANY}/{unknown_names(words[at + 1])}" for top in tops)


def _leading(words: Sequence[str]) -> Iterator[str]:
    for word in words[1:]:
        if word.startswith(("-", "(", "!")):
            return
        yield word


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
