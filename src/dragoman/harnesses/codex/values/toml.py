"""Values as TOML, the way ``codex -c key=value`` reads them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from dragoman.errors import UsageError

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any, key: str = "") -> str:
    """A JSON-like value as TOML on one line. ``key`` is named when TOML has no such value."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _string(value)
        case int():
            return str(value)
        case float():
            return _float(value)
        case Mapping():
            pairs = cast("Mapping[object, Any]", value)
            fields = (
                f"{_key(str(name))} = {toml_value(each, key)}" for name, each in pairs.items()
            )
            return "{" + ", ".join(fields) + "}"
        case Sequence():
            return (
                "["
                + ", ".join(toml_value(each, key) for each in cast("Sequence[Any]", value))
                + "]"
            )
        case _:
            raise UsageError(f"the setting {key!r} has a value that TOML cannot hold: {value!r}")


def _string(text: str) -> str:
    # JSON's escapes are TOML's, but TOML also wants DEL escaped and knows no surrogates.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _float(number: float) -> str:
    if math.isfinite(number):
        return repr(number)
    return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)
