"""What secrets look like: the shapes that keys and tokens have, and the names they are given.

A shape matches what is surely a secret, so that ordinary code stays as it is. Each pattern begins with
letters that are rare, and none looks twice at the same part of a long line: texts of many megabytes
go through here. Knows text, nothing of messages or of files.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Shape:
    """Something that a secret can be known by. ``secret`` in its pattern is the part to hide."""

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    """A text that has none of these need not be searched."""
    has_digit: bool = False
    """Whether a match without a digit is only a word."""

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Where in the text there is one."""
        if not any(hint in text for hint in self.hints):
            return
        part = "secret" if "secret" in self.pattern.groupindex else 0
        for match in self.pattern.finditer(text):
            is_word = self.has_digit and not _DIGIT.search(match[part])
            is_empty = self.kind == "private key" and not _BODY.search(match[part])
            is_none = self.kind == "password" and _PLACEHOLDER.match(match[part])
            if not (is_word or is_empty or is_none) and (part or is_edge(text, match.start())):
                yield match.span(part)


_DIGIT: Final = re.compile("[0-9]")
_BODY: Final = re.compile("[A-Za-z0-9+/=]{16}")
_WORD: Final = re.compile(r"[\w-]")


def is_edge(text: str, at: int) -> bool:
    """Whether a word can begin here: also after an escaped newline, or the sign of a diff's line."""
    if at == 0 or not _WORD.match(text[at - 1]):
        return True
    if text[at - 1] == "-":
        return at == 1 or text[at - 2] == "\n"
    return at > 1 and text[at - 2] == "\\" and text[at - 1] in "nrt"


def _shape(kind: str, pattern: str, *hints: str, has_digit: bool = False) -> Shape:
    return Shape(kind, re.compile(pattern, re.MULTILINE), hints, has_digit)


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
        r"(?:^|(?<=\\n))(?:[+ -]?[A-Za-z0-9+/=]{20,100}(?:\r?\n|\\n)){1,120}+"
        r"[+ -]?-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----",
        "PRIVATE KEY-----",
    ),
    _shape("private key", r"AGE-SECRET-KEY-1[0-9A-Z]{40,}", "AGE-SECRET"),
    _shape(
        "JSON web token",
        r"eyJ(?:(?<![\w-]eyJ)|(?<=\\[nrt]eyJ)|(?<=^-eyJ))[\w-]{10,}+\.eyJ[\w-]{10,}+\.[\w-]+",
        "eyJ",
    ),
    _shape(
        "API key",
        r"(?:sk|pk|rk)[-_](?!ecdsa-|ssh-)[A-Za-z0-9_-]{16,}",
        *("sk-", "sk_", "pk_", "pk-", "rk_", "rk-"),
        has_digit=True,
    ),
    _shape("GitHub token", r"gh[pousr]_[A-Za-z0-9]{20,}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _shape("GitHub token", r"github_pat_[A-Za-z0-9_]{20,}", "github_pat_"),
    _shape("GitLab token", r"glpat-[\w-]{16,}", "glpat-"),
    _shape("npm token", r"npm_[A-Za-z0-9]{30,}", "npm_", has_digit=True),
    _shape("PyPI token", r"pypi-AgE[\w-]{30,}", "pypi-AgE"),
    _shape("Hugging Face token", r"hf_[A-Za-z0-9]{30,}", "hf_"),
    _shape("Slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}", "xox", has_digit=True),
    _shape("Slack token", r"xapp-[A-Za-z0-9-]{20,}", "xapp-", has_digit=True),
    _shape("webhook", r"hooks\.slack\.com/services/(?P<secret>[\w/]{20,})", "hooks.slack"),
    _shape("SendGrid key", r"SG\.[\w-]{16,}\.[\w-]{30,}", "SG."),
    _shape("DigitalOcean token", r"dop_v1_[0-9a-f]{40,}", "dop_v1_"),
    _shape("Shopify token", r"shp(?:at|ss|ca)_[0-9a-f]{30,}", "shpat_", "shpss_", "shpca_"),
    _shape("Grafana token", r"glsa_\w{30,}", "glsa_"),
    _shape("AWS key", r"A(?:KIA|SIA)[0-9A-Z]{16}(?![0-9A-Za-z])", "AKIA", "ASIA"),
    _shape("Google key", r"AIza[\w-]{35}(?![\w-])", "AIza"),
    _shape("Google token", r"(?:ya29\.|GOCSPX-)[\w-]{20,}", "ya29.", "GOCSPX-"),
    _shape(
        "bearer token",
        r"[Bb](?:earer|EARER|asic|ASIC)[ \t]+(?P<secret>[\w.~+/-]{16,}=*)",
        *("earer ", "EARER ", "asic ", "ASIC "),
        has_digit=True,
    ),
    _shape("password", r"://[^\s:/@\"'<>]{0,100}:(?P<secret>[^\s@/\"'<>]{3,400})@", "://"),
    _shape(
        "password",
        r"(?:-u|--user)[ =][\"']?[\w.@-]{1,64}:(?P<secret>[^\s\"':/]{4,100})(?=[\s\"'])",
        *("-u ", "--user "),
    ),
)

_NAMED: Final = re.compile(
    r"(?:p(?:ass(?:word|wd|phrase)|wd|rivate[_-]?key)|secret(?:[_-]?(?:access[_-]?)?key)?|token"
    r"|a(?:pi|ccess|ccount|uth)[_-]?key|credentials?)"
    r"(?P<mark>\\?[\"']?\]?\s{0,4}(?::=|=>|[:=])\s{0,4}| )"
)
_VALUE: Final = re.compile(
    r"(?P<quote>\\?[\"'])?(?P<secret>(?(quote)[^\"'\\\r\n]{4,400}|[^\s\"'\\,;&|)}\]>]{4,400}))"
)
_PLACEHOLDER: Final = re.compile(
    r"(?i)^(?:\[.*|<.*|\$.*|\{.*|%.*|x{3,}|\*+|\.+|your[-_ ].*|my[-_].*|.*example.*|.*placeholder.*"
    r"|change[-_ ]?me|none|null|true|false|undefined|redacted|dummy|required|optional|string"
    r"|(?:\w*[_.-])?pass(?:word|wd|phrase)?|secret|token)$"
)
_CODE: Final = re.compile(r"[()\[\]{}<>$`*]|::|->|\.\.|^[./~]|^https?:|\\")
_WORDS: Final = re.compile(r"^[A-Za-z_][A-Za-z]*(?:[_.\-/ :][A-Za-z]+)*\.?$")
_ATTRIBUTE: Final = re.compile(r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")


def assigned(text: str) -> Iterator[tuple[int, int]]:
    """Where in the text a name that sounds secret is given a value that looks like one."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(each.lower() if each.isascii() else each for each in text)
    for named in _NAMED.finditer(lower):
        if named["mark"] == " " and not _is_option(lower, named.start()):
            continue
        value = _VALUE.match(text, named.end())
        if value and is_secret(named[0], value["secret"], is_quoted=value["quote"] is not None):
            yield value.span("secret")


def _is_option(text: str, at: int) -> bool:
    """Whether the word that goes on here began as an option: ``--api-token``."""
    return re.search(r"(?:^|\s)--[\w-]*$", text[max(0, at - 40) : at]) is not None


def is_named_secret(name: str, value: str) -> bool:
    """Whether a field of this name with this value holds a secret."""
    is_named = _NAMED.search(f"{name[-60:]}=".lower()) is not None
    return is_named and 4 <= len(value) <= 4000 and is_secret(name, value, is_quoted=True)


def is_secret(name: str, value: str, *, is_quoted: bool) -> bool:
    """Whether what a name that sounds secret is given is one, rather than code that gets it."""
    if _PLACEHOLDER.match(value) or _CODE.search(value) or " " in value:
        return False
    is_password = "pass" in name.lower() or "pwd" in name.lower()
    if is_password and is_quoted:
        # Chosen by a person: nearly any word may be one.
        return len(value) >= 6 and not _ATTRIBUTE.match(value)
    if _WORDS.match(value) or _ATTRIBUTE.match(value):
        return False
    has_both = _DIGIT.search(value) and re.search("[A-Za-z]", value)
    if not has_both or len(value) < (8 if is_password else 12):
        return False
    return entropy(value) >= (2.5 if is_password else 3.0)


def entropy(text: str) -> float:
    """How many bits each character of it tells."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)


_SECRET_NAME: Final = re.compile(
    r"(?i)(?:^|_)(?:key|apikey|token|secret|password|passwd|credentials?)(?:_|$)"
)


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of an environment whose names say that they are secret."""
    return tuple(value for name, value in environment.items() if _SECRET_NAME.search(name))
