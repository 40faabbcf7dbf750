"""Connecting to an agent from Python: :func:`connect` and its options.

``async with connect("codex") as codex`` gives an agent with one process for many sessions,
``connect("claude")`` one with a process for each session, and with ``transport="exec"`` each prompt gets
a process of its own. The process may be on another machine (``ssh``), or be a server that is already
running (``address``).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import (
    AbstractAsyncContextManager,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from dragoman.client.connection import Connection, LineKeeper, Mode
from dragoman.client.opening import (
    Driver,
    DriverSession,
    open_connection,
    program_of,
    sign_in_state,
    transport_of,
)
from dragoman.client.reaching import named_agent
from dragoman.drive.approvals.policy import DEADLINE_SECONDS, ask_always
from dragoman.drive.restarting import Restarts
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.workspaces import (
    check_images,
    take_images,
)

if TYPE_CHECKING:
    from dragoman.drive.agent import Agent
    from dragoman.drive.approvals.policy import Policy
    from dragoman.drive.approvals.queue import Ask
    from dragoman.drive.links.ssh import Remote
    from dragoman.drive.turns.one_shots import OneShotAgent

__all__ = [
    "Connection",
    "Driver",
    "DriverSession",
    "Timeouts",
    "check_images",
    "connect",
    "open_connection",
    "program_of",
    "sign_in_state",
    "take_images",
    "transport_of",
]


@overload
def connect(
    harness: str | None = ...,
    *,
    transport: None = ...,
    mode: Literal["exec"],
    command: str | None = ...,
    env: Mapping[str, str] | None = ...,
    api_key: str | None = ...,
    policy: Policy | str | Path = ...,
    ask: Ask | None = ...,
    ask_seconds: float | None = ...,
    timeouts: Timeouts | None = ...,
    restarts: Restarts | None = ...,
    journal: str | Path | LineKeeper | None = ...,
    ssh: Remote | str | None = ...,
    address: str | None = ...,
    token: str | None = ...,
    client: str = ...,
    agent: str | None = ...,
) -> AbstractAsyncContextManager[OneShotAgent]: ...
@overload
def connect(
    harness: str | None = ...,
    *,
    transport: Literal["exec"],
    mode: None = ...,
    command: str | None = ...,
    env: Mapping[str, str] | None = ...,
    api_key: str | None = ...,
    policy: Policy | str | Path = ...,
    ask: Ask | None = ...,
    ask_seconds: float | None = ...,
    timeouts: Timeouts | None = ...,
    restarts: Restarts | None = ...,
    journal: str | Path | LineKeeper | None = ...,
    ssh: Remote | str | None = ...,
    address: str | None = ...,
    token: str | None = ...,
    client: str = ...,
    agent: str | None = ...,
) -> AbstractAsyncContextManager[OneShotAgent]: ...
@overload
def connect(
    harness: str | None = ...,
    *,
    transport: None = ...,
    mode: Literal["app-server"] | None = ...,
    command: str | None = ...,
    env: Mapping[str, str] | None = ...,
    api_key: str | None = ...,
    policy: Policy | str | Path = ...,
    ask: Ask | None = ...,
    ask_seconds: float | None = ...,
    timeouts: Timeouts | None = ...,
    restarts: Restarts | None = ...,
    journal: str | Path | LineKeeper | None = ...,
    ssh: Remote | str | None = ...,
    address: str | None = ...,
    token: str | None = ...,
    client: str = ...,
    agent: str | None = ...,
) -> AbstractAsyncContextManager[Agent]: ...
@overload
def connect(
    harness: str | None = ...,
    *,
    transport: str,
    mode: None = ...,
    command: str | None = ...,
    env: Mapping[str, str] | None = ...,
    api_key: str | None = ...,
    policy: Policy | str | Path = ...,
    ask: Ask | None = ...,
    ask_seconds: float | None = ...,
    timeouts: Timeouts | None = ...,
    restarts: Restarts | None = ...,
    journal: str | Path | LineKeeper | None = ...,
    ssh: Remote | str | None = ...,
    address: str | None = ...,
    token: str | None = ...,
    client: str = ...,
    agent: str | None = ...,
) -> AbstractAsyncContextManager[Any]: ...
def connect(
    harness: str | None = None,
    *,
    transport: str | None = None,
    mode: Mode | None = None,
    command: str | None = None,
    env: Mapping[str, str] | None = None,
    api_key: str | None = None,
    policy: Policy | str | Path = ask_always,
    ask: Ask | None = None,
    ask_seconds: float | None = DEADLINE_SECONDS,
    timeouts: Timeouts | None = None,
    restarts: Restarts | None = None,
    journal: str | Path | LineKeeper | None = None,
    ssh: Remote | str | None = None,
    address: str | None = None,
    token: str | None = None,
    client: str = "dragoman",
    agent: str | None = None,
) -> AbstractAsyncContextManager[Any]:
    """An agent that works until the block is left; then all its processes are gone.

    Without the name of a harness it is the first that can be driven, without a ``transport`` its usual one;
    ``mode`` is the older name of that. ``agent`` is the command of any program that speaks ACP, instead of a
    harness. :class:`Connection` has each option. Raises :class:`dragoman.errors.AgentError`.
    """
    harness, command = named_agent(agent, harness, command)
    how = Connection(
        transport=transport,
        mode=mode,
        command=command,
        env=env or {},
        api_key=api_key,
        policy=policy,
        ask=ask,
        ask_seconds=ask_seconds,
        timeouts=timeouts or Timeouts(),
        restarts=restarts or Restarts(),
        journal=journal,
        ssh=ssh,
        address=address,
        token=token,
        client=client,
    )
    return open_connection(harness, how)
