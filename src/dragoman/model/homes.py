"""Where a program keeps its home: the one rule for every harness, as a plain value.

It is here, below the harnesses, because listing sessions applies it from a cache, without importing
any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class HomeFolder(NamedTuple):
    """How a program finds its home."""

    variable: str
    """The environment variable that moves it."""
    default: str
    """The home below the user's own, if the variable is unset or empty."""
    below: str = ""
    """The folder below the variable's value, for programs whose variable names the folder above."""

    def path(self, env: Mapping[str, str]) -> str:
        """Return the home's path in this environment.

        A ``~`` that the shell left in the variable is expanded to the user's home. The path still starts with
        ``~`` only if the environment does not contain where that is.
        """
        named = env.get(self.variable)
        path = self.beneath(named) if named else f"~/{self.default}"
        user = env.get("HOME") or env.get("USERPROFILE")
        if user and (path == "~" or path.startswith("~/")):
            path = user.rstrip("/") + path[1:]
        return path

    def beneath(self, value: str) -> str:
        """Return the home of a program whose variable has this value."""
        return f"{value.rstrip('/')}/{self.below}" if self.below else value
