"""What a rehearsal asks of each agent that it sets up, and how one is described by data alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

import msgspec

from dragoman.rehearsal.agents.homes import NotOurs, merged, past_proxies

_SIGN = "rehearsal.json"


@dataclass(frozen=True, slots=True)
class AgentWishes:
    """What the script and its player want of an agent."""

    url: str
    """Where the stand-in model answers, ending with ``/v1``."""
    model: str | None = None
    retries: int = 0
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def root(self) -> str:
        """The address without the version of the API."""
        return self.url.removesuffix("/v1")


class AgentSetup(Protocol):
    """Makes a home directory and environment variables for one agent."""

    @property
    def name(self) -> str:
        """What the agent is called, and its program."""
        ...

    def takes(self, model: str) -> bool:
        """Whether a model's name is that of one of its models."""
        ...

    def write_home(self, home: Path, wishes: AgentWishes) -> None:
        """Make the home directory, but never overwrite a real one."""
        ...

    def variables(self, home: Path, wishes: AgentWishes) -> dict[str, str]:
        """The variables that lead the agent to the stand-in model, and nowhere else."""
        ...

    def own_places(self, home: Path) -> dict[str, str]:
        """More variables, for a command that is the agent itself: it uses no file of the user's home."""
        ...


@dataclass(frozen=True)
class DescribedAgent:
    """An agent that is set up with one settings file and variables.

    Texts in ``settings``, ``environment`` and ``places`` may contain ``{home}``, ``{cache}`` (the user's own), ``{url}``,
    ``{root}``, ``{model}``, ``{retries}`` and ``{attempts}``; a text that is only one of the last two becomes a number.
    """

    name: str
    model: str
    models: tuple[str, ...]
    """How the names of its models begin."""
    file: str
    """The settings file, within the home directory."""
    settings: Mapping[str, Any]
    environment: Mapping[str, str]
    places: Mapping[str, str]
    """Variables for a command that is the agent itself."""
    elsewhere: tuple[str, ...] = ()
    """Variables that lead the agent to another model or service. They are emptied."""

    def takes(self, model: str) -> bool:
        """Whether a model's name is that of one of its models."""
        return model.startswith(self.models)

    def write_home(self, home: Path, wishes: AgentWishes) -> None:
        """Make the home directory, but never overwrite a real one."""
        path = home / self.file
        sign = path.parent / _SIGN
        if path.exists() and not sign.exists():
            raise NotOurs(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        (home / "tmp").mkdir(exist_ok=True)
        sign.write_text('{"about": "Written by a rehearsal, and overwritten by the next one."}\n')
        values = self._values(home, wishes)
        settings = merged(_filled(self.settings, values), wishes.config)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(settings)) + b"\n")

    def variables(self, home: Path, wishes: AgentWishes) -> dict[str, str]:
        """The variables that lead the agent to the stand-in model, and nowhere else."""
        values = self._values(home, wishes)
        return {
            **{name: "" for name in self.elsewhere if name in os.environ},
            **{name: str(_filled(text, values)) for name, text in self.environment.items()},
            **past_proxies(),
        }

    def own_places(self, home: Path) -> dict[str, str]:
        """More variables, for a command that is the agent itself."""
        values = {"home": str(home)}
        return {name: str(_filled(text, values)) for name, text in self.places.items()}

    def _values(self, home: Path, wishes: AgentWishes) -> dict[str, Any]:
        return {
            "home": str(home),
            "cache": _user_cache(),
            "url": wishes.url,
            "root": wishes.root,
            "model": wishes.model or self.model,
            "retries": wishes.retries,
            "attempts": wishes.retries + 1,
        }


def _user_cache() -> str:
    """Where programs keep what they can make again."""
    return os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")


def _filled(value: Any, values: Mapping[str, Any]) -> Any:
    """A value with the places in its texts filled in, keys included."""
    match value:
        case str():
            if value[:1] == "{" and value[1:-1] in values:
                return values[value[1:-1]]
            for name, given in values.items():
                value = value.replace("{" + name + "}", str(given))
            return value
        case Mapping():
            fields = cast("Mapping[str, Any]", value).items()
            return {_filled(key, values): _filled(each, values) for key, each in fields}
        case _:
            return value
