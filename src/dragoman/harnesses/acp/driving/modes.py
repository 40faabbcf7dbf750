"""The modes of an agent, and what Dragoman's levels of access mean in them.

An agent lists its modes when a session is opened, under names of its own. What a mode amounts to is known for the
known agents, and otherwise by names that mean the same everywhere. A mode of which nothing is known is never chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from dragoman.harnesses.acp.quirks import AcpQuirks
from dragoman.harnesses.contract.capabilities import AccessLevel
from dragoman.wire.loose import as_dict, as_list, as_str

NEVER: Final = "never"
_LEVELS: Final[dict[str, AccessLevel]] = {
    "plan": "read",
    "read": "read",
    "read-only": "read",
    "readonly": "read",
    "architect": "read",
    "default": "write",
    "ask": "write",
    "agent": "write",
    "build": "write",
    "code": "write",
    "write": "write",
    "workspace-write": "write",
    "acceptedits": "write",
    "autoedit": "write",
    "auto-edit": "write",
    "yolo": "full",
    "full": "full",
    "full-access": "full",
    "agent-full-access": "full",
    "autopilot": "full",
    "bypasspermissions": "full",
}
"""What a mode amounts to by its name, where no row of the table says otherwise."""
_WORDS: Final[dict[str, AccessLevel]] = {
    "read": "read",
    "read-only": "read",
    "default": "write",
    "write": "write",
    "workspace-write": "write",
    "full": "full",
    "danger-full-access": "full",
}
"""What people and other harnesses call a level."""


@dataclass(slots=True)
class SessionModes:
    """The modes that an open session offers, and the one it is in."""

    quirks: AcpQuirks
    offered: list[str] = field(default_factory=list[str])
    current: str | None = None
    option: str | None = None
    """The config option that sets the mode, for agents that list modes nowhere else."""

    def read(self, result: dict[str, Any]) -> None:
        """Take what an agent says when a session is opened."""
        modes = as_dict(result.get("modes"))
        self.offered = [
            name
            for each in as_list(modes.get("availableModes"))
            if (name := as_str(as_dict(each).get("id"))) is not None
        ]
        self.current = as_str(modes.get("currentModeId"))
        if self.offered:
            return
        for option in map(as_dict, as_list(result.get("configOptions"))):
            if option.get("category") == "mode" or option.get("id") == "mode":
                self.option = as_str(option.get("id"))
                self.current = as_str(option.get("currentValue"))
                self.offered = [
                    name
                    for each in as_list(option.get("options"))
                    if (name := as_str(as_dict(each).get("value"))) is not None
                ]

    def level_of(self, mode: str | None) -> AccessLevel | None:
        """What a mode amounts to; None if nothing is known of it."""
        known = dict(self.quirks.modes).get(mode or "")
        if known is not None:
            return _level(known)
        return _LEVELS.get((mode or "").rpartition("#")[2].lower())

    def find(self, access: str) -> str | None:
        """The mode for a level, or a mode by its own name; None if the agent has none that fits."""
        if access in self.offered:
            return access
        level = _WORDS.get(access)
        if level is None:
            return None
        if self.current is not None and self.level_of(self.current) == level:
            return self.current
        ranked = [name for name, _ in self.quirks.modes if name in self.offered] + self.offered
        return next((name for name in ranked if self.level_of(name) == level), None)

    def is_wider(self, mode: str, granted: str | None) -> bool:
        """Whether a mode holds nothing back although that was not granted."""
        return self.level_of(mode) == "full" and self.level_of(granted) != "full"


def _level(word: str) -> AccessLevel:
    return "read" if word == "read" else "full" if word == "full" else "write"


def level_word(access: str) -> AccessLevel | None:
    """The level that a word stands for."""
    return _WORDS.get(access)
