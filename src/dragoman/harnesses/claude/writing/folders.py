"""The folder in which Claude Code keeps the sessions of a directory: the path with dashes, or its beginning and a hash."""

from __future__ import annotations

import re
from typing import Final

_NOT_PLAIN: Final = re.compile(r"[^a-zA-Z0-9]")
_ASTRAL: Final = re.compile(r"[\U00010000-\U0010ffff]")
_LONGEST: Final = 200
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def project_folder(cwd: str) -> str:
    """The name of the folder, as the program makes it from the path of the directory."""
    # JavaScript counts such a character as two.
    plain = _NOT_PLAIN.sub("-", _ASTRAL.sub("--", cwd))
    if len(plain) <= _LONGEST:
        return plain
    return f"{plain[:_LONGEST]}-{_hash(cwd)}"


def _hash(text: str) -> str:
    units = text.encode("utf-16-le", "surrogatepass")
    value = 0
    for place in range(0, len(units), 2):
        unit = units[place] | units[place + 1] << 8
        value = (31 * value + unit) & 0xFFFFFFFF
    if value >= 1 << 31:
        value = (1 << 32) - value
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"
