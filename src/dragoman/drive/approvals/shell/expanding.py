"""Resolve other spellings of text: ``$'\\x72m'``, ``{rm,-rf,/}``, ``echo -e``, encoded scripts."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from dragoman.drive.approvals.path_globs import ANY

Marked: TypeAlias = list[tuple[str, bool]]
"""The characters of a word, and whether each is quoted."""

_MOST_BRACES: Final = 64
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|0?([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_SIGNS: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b"}
_RANGE: Final = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.-?\d+)?")


def unescaped(text: str) -> str:
    """Resolve the escapes of ``$'…'``, ``echo -e`` and ``printf``."""
    return _ESCAPE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    hexadecimal = found[1] or found[2] or found[3]
    if hexadecimal:
        number = int(hexadecimal, 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else ANY
    if found[4]:
        return chr(int(found[4], 8) % 256)
    if found[5]:
        return chr(ord(found[5]) % 32)
    return _SIGNS.get(found[6], found[6])


def brace_expanded(word: Marked) -> list[Marked]:
    """Expand ``{a,b}c`` to ``ac`` and ``bc``; a range, or too many results, becomes unknown text."""
    found = list(_braces(word, _MOST_BRACES))
    return [[(ANY, False)]] if [(ANY, False)] in found else found


def _braces(word: Marked, most: int) -> Iterator[Marked]:
    opened = [at for at, mark in enumerate(word) if mark == ("{", False)]
    if most == 0 and opened:
        yield [(ANY, False)]
        return
    for start in opened[:most]:
        depth, commas = 0, [start]
        for at in range(start, len(word)):
            char, quoted = word[at]
            if quoted:
                continue
            depth += (char == "{") - (char == "}")
            if char == "," and depth == 1:
                commas.append(at)
            if depth == 0:
                pieces = [word[a + 1 : b] for a, b in zip(commas, [*commas[1:], at], strict=True)]
                if len(pieces) == 1:
                    if not _RANGE.fullmatch("".join(char for char, _ in pieces[0])):
                        break
                    pieces = [[(ANY, False)]]
                for piece in pieces[:most]:
                    yield from _braces(word[:start] + piece + word[at + 1 :], most // len(pieces))
                if len(pieces) > most:
                    yield [(ANY, False)]
                return
    yield word


def printed(words: tuple[str, ...]) -> list[str]:
    """The possible output of ``echo`` or ``printf``, with unknown text for filled-in formats."""
    name, rest = words[0].rpartition("/")[2], list(words[1:])
    if name == "printf":
        if rest[:1] == ["--"]:
            rest.pop(0)
        if not rest:
            return []
        text = unescaped(rest[0])
        values = rest[1:]
        filled = re.sub(r"%[-+ #0-9.]*[a-zA-Z]", lambda _: values.pop(0) if values else "", text)
        return [text, unescaped(filled), *([ANY] if "%" in text else [])]
    while rest and re.fullmatch(r"-[neE]+", rest[0]):
        rest.pop(0)
    text = " ".join(rest)
    return [text, unescaped(text)] if "\\" in text else [text]


def decoded(word: str) -> str | None:
    """Decode the script of PowerShell's ``-EncodedCommand``."""
    try:
        return base64.b64decode(word, validate=True).decode("utf-16-le")
    except (binascii.Error, ValueError):
        return None
