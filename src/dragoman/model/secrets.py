"""What secrets look like: the shapes that keys and tokens have, and the names they are given.

A shape matches what is surely a secret, so that ordinary code stays as it is. ``secret`` in a pattern
is the part to hide; without it all of the match is. Knows text, nothing of messages or of files.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

# The beginning of a word, also after a newline that JSON has spelled as two characters.
_EDGE: Final = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"


@dataclass(frozen=True, slots=True)
class Shape:
    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    """A text that has none of these need not be searched."""


def _shape(kind: str, pattern: str, *hints: str) -> Shape:
    return Shape(kind, re.compile(pattern), hints)


SHAPES: Final = (
    # A block, or what is left of one that was cut; in a diff, in JSON or as it is.
    _shape(
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]{0,20000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:[A-Za-z0-9+/=:,. \t\\-]|\r?\n)*)",
        "PRIVATE KEY",
    ),
    _shape(
        "private key",
        r"(?:[+ -]?[A-Za-z0-9+/=]{20,}(?:\r?\n|\\n))+[+ -]?-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----",
        "PRIVATE KEY",
    ),
    _shape("private key", rf"{_EDGE}AGE-SECRET-KEY-1[0-9A-Z]{{40,}}", "AGE-SECRET"),
    _shape("JSON web token", rf"{_EDGE}eyJ[\w-]{{10,}}\.eyJ[\w-]{{10,}}\.[\w-]+", "eyJ"),
    _shape(
        "API key",
        rf"{_EDGE}(?:sk|pk|rk)[-_](?=[A-Za-z_-]*[0-9])(?:proj-|ant-|or-|live_|test_|svcacct-)?"
        r"[A-Za-z0-9_-]{16,}",
        "sk-",
        "sk_",
        "pk_",
        "pk-",
        "rk_",
        "rk-",
    ),
    _shape(
        "GitHub token",
        rf"{_EDGE}(?:gh[pousr]_[A-Za-z0-9]{{20,}}|github_pat_[A-Za-z0-9_]{{20,}})",
        "gh",
    ),
    _shape(
        "access token",
        rf"{_EDGE}(?:glpat-[\w-]{{16,}}|npm_[A-Za-z0-9]{{30,}}|hf_[A-Za-z0-9]{{30,}}"
        r"|pypi-AgE[\w-]{30,}|dop_v1_[0-9a-f]{40,}|shp(?:at|ss|ca)_[0-9a-f]{30,}"
        r"|glsa_[\w]{30,}|SG\.[\w-]{16,}\.[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}"
        r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,})",
        *("glpat-", "npm_", "hf_", "pypi-", "dop_", "shp", "glsa_", "SG.", "ya29", "GOCSPX"),
        *("xox", "xapp-"),
    ),
    _shape("AWS key", rf"{_EDGE}A(?:KIA|SIA|ROA|IDA)[0-9A-Z]{{16}}(?![0-9A-Za-z])", "AKIA", "ASIA"),
    _shape("Google key", rf"{_EDGE}AIza[\w-]{{35}}(?![\w-])", "AIza"),
    _shape("webhook", r"hooks\.slack\.com/services/(?P<secret>[\w/]{20,})", "hooks.slack"),
    _shape(
        "bearer token",
        r"(?i:\b(?:bearer|basic|token))[ \t]+(?=[\w.~+/=-]*[0-9])(?P<secret>[\w.~+/-]{20,}=*)",
        *("earer", "EARER", "asic", "oken"),
    ),
    _shape("password", r"[a-z][a-z0-9+.-]*://[^\s:/@\"'<>]*:(?P<secret>[^\s@/\"'<>]{3,})@", "://"),
)

_NAMES: Final = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|client[_-]?secret|token"
    r"|api[_-]?key|access[_-]?key|account[_-]?key|auth[_-]?key|private[_-]?key|credentials?)"
)
ASSIGNED: Final = re.compile(
    rf"(?i)(?P<name>[\w.-]*{_NAMES})(?P<mark>\\?[\"']?\]?\s{{0,4}}(?::=|=>|[:=])\s{{0,4}}"
    r"|\\?[\"']\s{0,4},\s{0,4})"
    r"(?P<quote>\\?[\"'])?(?P<secret>(?(quote)[^\"'\\\r\n]{4,400}|[^\s\"'\\,;&|)}\]>]{4,400}))"
)
ASSIGNED_HINTS: Final = ("pass", "pwd", "secret", "token", "key", "credential")

_PLACEHOLDER: Final = re.compile(
    r"(?i)^(?:\[.*|<.*|\$.*|\{.*|%.*|x{3,}|\*+|\.+|your[-_ ].*|my[-_].*|.*example.*|.*placeholder.*"
    r"|change[-_ ]?me|none|null|true|false|undefined|redacted|dummy|required|optional|string)$"
)
_CODE: Final = re.compile(r"[()\[\]{}<>$`*]|::|->|\.\.|^[./~]|^https?:|\\")
_WORDS: Final = re.compile(r"^[A-Za-z_][A-Za-z]*(?:[_.\-/ :][A-Za-z]+)*\.?$")


def is_secret(name: str, value: str, *, is_quoted: bool) -> bool:
    """Whether what a name that sounds secret is given is one, rather than code that gets it."""
    if _PLACEHOLDER.match(value):
        return False
    is_password = "pass" in name.lower() or "pwd" in name.lower()
    if is_password and is_quoted:
        # Chosen by a person: nearly any word may be one.
        return len(value) >= 6 and not _CODE.search(value) and " " not in value
    if _CODE.search(value) or _WORDS.match(value) or " " in value:
        return False
    has_both = re.search(r"[0-9]", value) and re.search(r"[A-Za-z]", value)
    if not has_both or len(value) < (8 if is_password else 12):
        return False
    return entropy(value) >= (2.5 if is_password else 3.0)


def entropy(text: str) -> float:
    """How many bits each character of it tells."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)
