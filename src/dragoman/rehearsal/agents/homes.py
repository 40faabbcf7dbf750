"""What the homes of all agents share: merged settings, and no proxy for loopback."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from dragoman.errors import UsageError

_LOOPBACK = "127.0.0.1,localhost"


class NotOurs(UsageError):
    """A home directory that belongs to a user."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path} was not written by a rehearsal; name another directory"


def past_proxies() -> dict[str, str]:
    """The environment variables that keep proxies away from loopback."""
    env: dict[str, str] = {}
    for name in ("NO_PROXY", "no_proxy"):
        set_already = os.environ.get(name)
        env[name] = f"{set_already},{_LOOPBACK}" if set_already else _LOOPBACK
    return env


def merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Both, table by table; where they differ, ``more`` wins."""
    both = dict(base)
    for name, value in more.items():
        below = both.get(name)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            value = merged(cast("Mapping[str, Any]", below), cast("Mapping[str, Any]", value))
        both[name] = value
    return both
