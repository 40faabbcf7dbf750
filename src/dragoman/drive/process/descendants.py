"""Which processes are the commands that an agent runs: best effort, from ``/proc``.

An agent reports what command it runs, not which process that is. A person who reads that a turn was given
up because of a command wants to look at that process.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from dragoman.drive.process.reaping import read_stat
from dragoman.drive.process.session_commands import command_line, is_of
from dragoman.drive.timeouts import Pulse, RunningTool
from dragoman.model.tools import BASH

_DEAD = "ZXx"


def name_processes(pulse: Pulse, agent_pid: int | None) -> None:
    """Put down the processes of the commands that run, where they can be found."""
    if agent_pid is not None and any(tool.name == BASH for tool in pulse.tools):
        pulse.tools = [_with_pids(tool, agent_pid) for tool in pulse.tools]


def _with_pids(tool: RunningTool, agent_pid: int) -> RunningTool:
    if tool.name != BASH:
        return tool
    return tool._replace(pids=find_command(agent_pid, tool.what))


def find_command(agent_pid: int, command: str) -> tuple[int, ...]:
    """The processes below an agent's that run this command; empty if none can be identified."""
    children = _children()
    below = _all_below([agent_pid], children)
    running = [pid for pid in below if is_of(command_line(pid), command)]
    return tuple(sorted({*running, *_all_below(running, children)}))


def _children() -> dict[int, list[int]]:
    """The living processes of this machine, by their parents."""
    children: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc")
    except OSError:  # not on this system
        return {}
    for name in names:
        stat = read_stat(int(name)) if name.isdigit() else None
        if stat is not None and stat.state not in _DEAD:
            children.setdefault(stat.parent, []).append(stat.pid)
    return children


def _all_below(pids: Iterable[int], children: dict[int, list[int]]) -> list[int]:
    found: list[int] = []
    new = list(pids)
    while new:
        new = [child for pid in new for child in children.get(pid, ()) if child not in found]
        found += new
    return found
