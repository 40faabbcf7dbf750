"""How an agent is reached and treated: every option of ``connect``, in one value."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from dragoman.drive.approvals.policy import DEADLINE_SECONDS, ask_always
from dragoman.drive.links.exchange import Keeper
from dragoman.drive.restarting import Restarts
from dragoman.drive.timeouts import Timeouts

if TYPE_CHECKING:
    from dragoman.drive.approvals.policy import Policy
    from dragoman.drive.approvals.queue import Ask
    from dragoman.drive.links.ssh import Remote

Mode: TypeAlias = Literal["app-server", "exec"]


class LineKeeper(Keeper, Protocol):
    """A journal of the caller's own."""

    def begin(self) -> Keeper | None:
        """Called for every new process, before its first line.

        Returns what keeps the lines of that process; None: this object does.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Every option of ``connect``."""

    transport: str | None = None
    """How to drive the harness, by the name of one of its transports: ``app-server`` or ``exec`` for
    Codex. None: its usual one."""
    mode: str | None = None
    """The older name of ``transport``."""
    command: str | None = None
    """Where its program is, if not on the PATH; arguments may follow."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Added to our own environment, for the agent."""
    api_key: str | None = field(default=None, repr=False)
    """To sign in with when no one is signed in; otherwise the harness's own variable is used (CODEX_API_KEY)."""
    policy: Policy | str | Path = ask_always
    """Who decides what the agent may do: a callable, or the path of a file with rules."""
    ask: Ask | None = None
    """Asks a person. Without it, what the policy leaves open is denied."""
    ask_seconds: float | None = DEADLINE_SECONDS
    timeouts: Timeouts = field(default_factory=Timeouts)
    restarts: Restarts = field(default_factory=Restarts)
    journal: str | Path | LineKeeper | None = None
    """A file for every line sent and received; or an object that keeps them."""
    ssh: Remote | str | None = None
    """The machine that the agent runs on."""
    address: str | None = None
    """``unix://PATH`` or ``ws://HOST:PORT``: a server that is already running."""
    token: str | None = field(default=None, repr=False)
    """For the server at ``address``."""
    client: str = "dragoman"

    @property
    def wanted_transport(self) -> str | None:
        """The transport by whichever name it was given."""
        return self.transport if self.transport is not None else self.mode

    def keys(self, names: Iterable[str]) -> dict[str, str]:
        """The keys in the agent's environment, by the names of their variables; the first signs in."""
        here = {**os.environ, **self.env}
        names = list(names)
        keys = {name: here[name] for name in names if here.get(name)}
        if self.api_key is not None and names:
            keys = {names[0]: self.api_key, **{n: k for n, k in keys.items() if n != names[0]}}
        return keys
