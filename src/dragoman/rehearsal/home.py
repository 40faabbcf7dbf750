"""A home directory for the agent, in which it knows no model but the stand-in one.

One configuration for all releases: a release passes over what it does not know. The provider needs
no login; the features that would look for updates, plugins or a place to send statistics are off.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from dragoman.errors import UsageError

MODEL = "gpt-5.5"
_SIGN = "# Written by a rehearsal; it will be written again.\n"
_LOOPBACK = "127.0.0.1,localhost"


def settings(
    url: str, *, model: str | None = None, retries: int = 0, more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Everything that ``config.toml`` says; ``more`` goes over what the rehearsal would choose."""
    provider = {
        "name": "rehearsal",
        "base_url": url,
        "wire_api": "responses",
        "request_max_retries": retries,
        "stream_max_retries": retries,
    }
    return merged(
        {
            "model": model or MODEL,
            "model_provider": "rehearsal",
            "approval_policy": "never",
            "sandbox_mode": "danger-full-access",
            "check_for_update_on_startup": False,
            "model_providers": {"rehearsal": provider},
            "analytics": {"enabled": False},
            "features": {"plugins": False},
            "tools": {"update_plan": {"enabled": True}},
        },
        more or {},
    )


class NotOurs(UsageError):
    """A home directory that somebody lives in."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path} was not written by a rehearsal; name another directory"


def write_home(folder: Path, config: Mapping[str, Any]) -> None:
    """Make the home directory, but never in place of a real one."""
    path = folder / "config.toml"
    if path.exists() and not path.read_text(encoding="utf-8", errors="replace").startswith(_SIGN):
        raise NotOurs(path)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(_SIGN + to_toml(config), encoding="utf-8")


def variables(folder: Path) -> dict[str, str]:
    """The environment variables that lead the agent there, and past any proxy."""
    env = {"CODEX_HOME": str(folder)}
    for name in ("NO_PROXY", "no_proxy"):
        set_already = os.environ.get(name)
        env[name] = f"{set_already},{_LOOPBACK}" if set_already else _LOOPBACK
    return env


def to_toml(table: Mapping[str, Any]) -> str:
    """A TOML document: plain keys of a table first, then its tables."""
    return "".join(_lines(table, ()))


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    plain = {name: value for name, value in table.items() if not isinstance(value, Mapping)}
    tables = [name for name in table if name not in plain]
    lines: list[str] = []
    if path and (plain or not tables):
        lines.append(f"\n[{'.'.join(map(_key, path))}]\n")
    lines += [f"{_key(name)} = {_value(value)}\n" for name, value in plain.items()]
    for name in tables:
        lines += _lines(table[name], (*path, name))
    return lines


def _key(name: str) -> str:
    return (
        name
        if name.replace("_", "").replace("-", "").isalnum() and name.isascii()
        else _value(name)
    )


def _value(value: Any) -> str:
    """JSON's strings, numbers, booleans and lists are TOML's, too; a mapping in a list is not."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return "{" + ", ".join(f"{_key(name)} = {_value(each)}" for name, each in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, cast("list[Any]", value))) + "]"
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")


def merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Both, table by table; where they differ, ``more`` is right."""
    both = dict(base)
    for name, value in more.items():
        below = both.get(name)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            value = merged(cast("Mapping[str, Any]", below), cast("Mapping[str, Any]", value))
        both[name] = value
    return both
