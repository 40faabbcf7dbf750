"""Takes secrets out of what we keep and show: the values we know, and what looks like one.

Used for everything that leaves the engine room as text: standard error, errors, logs. Journals keep
the agent's lines as they are but for the values we were given (:meth:`Secrets.mask_line`), since what
merely looks like a key may be what the session is about.

Hiding too much is a nuisance, hiding too little a leak: in doubt it is hidden.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

MASK: Final = "[secret]"

_SHORTEST: Final = 6
"""Shorter values are words, not keys; to hide each of their occurrences would hide the text."""

_LOOSE_SHAPES: Final = (
    # A block, or what is left of one that was cut.
    (re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [^-]*-----|\Z)"), MASK),
    (re.compile(r"\A[\s\S]*-----END [A-Z0-9 ]*PRIVATE KEY-----"), MASK),
    (re.compile(r"(?i)\b(bearer|basic)(\s+)[\w.~+/=-]{8,}"), rf"\1\2{MASK}"),
    (re.compile(r"(?<![A-Za-z0-9])(sk|pk|rk)([-_])[A-Za-z0-9_-]{12,}"), rf"\1\2{MASK}"),
    (re.compile(r"\b(gh[a-z]_|github_pat_|glpat-|npm_|hf_|xox[a-z]-)[\w-]{10,}"), rf"\1{MASK}"),
    (re.compile(r"\b(A[KS]IA)[0-9A-Z]{12,}"), rf"\1{MASK}"),
    (re.compile(r"\b(AIza)[\w-]{30,}"), rf"\1{MASK}"),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"), MASK),
    (re.compile(r"(://[^\s:/@]+:)[^\s@/]+(?=@)"), rf"\1{MASK}"),
    (
        re.compile(
            r"(?i)((?:api[_-]?key|access[_-]?key|secret|token|password|passwd|authorization)"
            r"\\?[\"']?\s*[:=]\s*\\?[\"']?)(?!\[secret|(?:bearer|basic)\s)[^\s\"'\\,;&}]{8,}"
        ),
        rf"\1{MASK}",
    ),
)


class Secrets:
    """Values that must not be shown."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        spelled: set[str] = set()
        for value in values:
            if len(value.strip()) >= _SHORTEST:
                spelled |= {value, value.strip(), json.dumps(value)[1:-1], quote(value, safe="")}
                spelled.add(json.dumps(value, ensure_ascii=False)[1:-1])
        # The longest first: a value may be the beginning of another one.
        self._spelled = sorted(spelled, key=len, reverse=True)
        pattern = "|".join(map(re.escape, self._spelled))
        self._text = re.compile(pattern) if pattern else None
        self._line = re.compile(pattern.encode("utf-8", "surrogatepass")) if pattern else None

    @property
    def longest(self) -> int:
        """The length of the longest of them, in characters."""
        return len(self._spelled[0]) if self._spelled else 0

    def mask(self, text: str) -> str:
        """The text without the values, and without whatever looks like a secret."""
        text = self._text.sub(MASK, text) if self._text else text
        for shape, mask in _LOOSE_SHAPES:
            text = shape.sub(mask, text)
        # Imported when it is needed: its tables would slow down the start of every command.
        from dragoman.model.secrets.finding import find_secrets

        for found in reversed(find_secrets(text)):
            if MASK not in text[found.begin : found.end]:
                text = text[: found.begin] + MASK + text[found.end :]
        return text

    def mask_line(self, line: bytes) -> bytes:
        """A line of the wire without the values; all else stays."""
        return self._line.sub(MASK.encode("ascii"), line) if self._line else line


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these values, and without whatever looks like a secret."""
    return _compiled(tuple(secrets)).mask(text)


@functools.lru_cache(maxsize=32)
def _compiled(values: tuple[str, ...]) -> Secrets:
    return Secrets(values)
