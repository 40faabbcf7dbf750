"""The commands that a session has running: which processes they are, and how they are ended.

An agent that is asked to stop a turn may leave the turn's commands running (Codex since about 0.120), and one
process serves many sessions. So the processes are found from the outside, below the agent's own, and only
those that are provably this session's are touched:

* a process with the session's name in the variable that the harness gives to its commands, and all below it;
* an orphan without that variable (``env -i setsid CMD &``) that shares a pipe or a terminal with such a process and
  with none of another session; or shares none, and started while this session, and no other, had a turn or a
  tool under way; or, if others had, is in this session's folder and in none of theirs. Orphans are children of
  the supervisor (:mod:`dragoman.drive.process.supervising`);
* a child of the agent without that variable, as older releases start them, whose command line is one that
  this session, and no other, had running when it started. MCP servers are never touched.

Where there is no ``/proc``, or the agent is elsewhere, the harness is asked to end them
(:class:`~dragoman.model.intents.StopCommands`).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from dragoman.drive.process.reaping import Stat, read_all, read_stat, read_variable, send_signal
from dragoman.model.messages import (
    Message,
    Notice,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
)
from dragoman.model.tools import BASH

TERM_SECONDS = 1.0
KILL_SECONDS = 2.0
_POLL_SECONDS = 0.02
_EARLY_SECONDS = 2.0
"""A command may be running before we have read that it was started."""
_HEARD_SECONDS = 0.5
"""After this we have read that a command was started."""
_CALLS_KEPT = 1000
_LONGEST = 200
_DEAD = "ZXx"


class RunningCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command that a session has, or had, running."""

    command: str
    pid: int | None = None
    """Its process, where it can be seen."""


def boot_ticks(seconds_ago: float = 0.0) -> int:
    """The time now, as ``/proc`` gives the start of a process; 0 where there is no such clock."""
    if sys.platform != "linux":
        return 0
    return int((time.clock_gettime(time.CLOCK_BOOTTIME) - seconds_ago) * os.sysconf("SC_CLK_TCK"))


@dataclass(slots=True)
class _Command:
    command: str
    began: int
    ended: int | None = None

    def covers(self, start: int) -> bool:
        return self.began <= start and (self.ended is None or start <= self.ended)


_Key = TypeVar("_Key", bound=str | None)


class CommandLog:
    """When a session was at work, and which commands it ran."""

    def __init__(self, cwd: str | None = None) -> None:
        """``cwd`` is where the session works."""
        self.cwd = os.path.realpath(cwd) if cwd else None
        self._calls: dict[str, _Command] = {}
        self._turns: dict[str | None, _Command] = {}

    def see(self, message: Message) -> None:
        """A call, or a turn, has started or ended."""
        match message:
            case ToolCall():
                command = message.input.get("command") if message.tool == BASH else None
                said = command if isinstance(command, str) else ""
                _begin(self._calls, message.call_id, said)
            case ToolResult() if message.status != "abandoned":
                _end(self._calls, message.call_id)
            case TurnStarted():
                _begin(self._turns, message.turn_id, "")
            case TurnEnded():
                _end(self._turns, message.turn_id)
            case _:
                pass

    def was_at_work(self, start: int) -> bool:
        """Whether a turn or a tool was under way when a process with this start time began."""
        return any(turn.covers(start) for turn in self._turns.values()) or self.ran_a_tool(start)

    def ran_a_tool(self, start: int) -> bool:
        return any(call.covers(start) for call in self._calls.values())

    def command_of(self, line: str, start: int) -> str | None:
        """The command that a process with this command line and start time runs, if it is one of ours."""
        for call in reversed(self._calls.values()):
            if call.command and call.covers(start) and is_of(line, call.command):
                return call.command
        return None

    def running(self) -> list[str]:
        """The commands of which no end is known."""
        return [call.command for call in self._calls.values() if call.command and not call.ended]


def _begin(spans: dict[_Key, _Command], key: _Key, command: str) -> None:
    spans[key] = _Command(command, boot_ticks(_EARLY_SECONDS))
    if len(spans) > _CALLS_KEPT:
        del spans[next(iter(spans))]


def _end(spans: dict[_Key, _Command], key: _Key) -> None:
    span = spans.get(key)
    if span is not None and span.ended is None:
        span.ended = boot_ticks()


def is_of(line: str, command: str) -> bool:
    """Whether a process with this command line runs this command.

    A shell has the command in its arguments, or has replaced itself by the last part of the command.
    """
    return command in line or (bool(line) and line in command)


@dataclass(slots=True)
class _Links:
    ours: set[str] = field(default_factory=set[str])
    theirs: set[str] = field(default_factory=set[str])


class Finder:
    """Finds the processes of one session's commands below those of its agent."""

    def __init__(
        self,
        root: int,
        variable: str,
        names: Collection[str],
        log: CommandLog,
        others: Iterable[CommandLog],
        *,
        has_supervisor: bool,
    ) -> None:
        """``root`` is the agent's process, or its supervisor; ``names`` are those of the session."""
        self._root = root
        self._variable = variable
        self._names = frozenset(names)
        self._log = log
        self._others = list(others)
        self._has_supervisor = has_supervisor

    def find(self, since: int = 0) -> list[Stat]:
        """Those alive that started since then, and all that they have started; parents first."""
        everyone = {pid: stat for pid, stat in read_all().items() if stat.state not in _DEAD}
        children: dict[int, list[Stat]] = {}
        for stat in everyone.values():
            children.setdefault(stat.parent, []).append(stat)
        found: dict[int, Stat] = {}
        orphans, of_agent = self._unnamed(children)
        below = _below(self._root, children)
        names = {stat.pid: read_variable(stat.pid, self._variable) for stat in below}
        links = self._links(names) if any(not names[pid] for pid in orphans) else _Links()
        for stat in below:
            if stat.start < since or stat.pid in found:
                continue
            named = names[stat.pid]
            if named in self._names or (
                not named
                and (
                    (stat.pid in orphans and self._is_our_orphan(stat, links))
                    or (stat.pid in of_agent and self._is_ours_by_words(stat))
                )
            ):
                found[stat.pid] = stat
                found.update({each.pid: each for each in _below(stat.pid, children)})
        return list(found.values())

    def _links(self, names: dict[int, str | None]) -> _Links:
        """The pipes and terminals that processes with a session's name have open."""
        found = _Links()
        for pid, name in names.items():
            if name:
                (found.ours if name in self._names else found.theirs).update(streams(pid))
        return found

    def _is_our_orphan(self, stat: Stat, links: _Links) -> bool:
        shared = streams(stat.pid) if links.ours or links.theirs else set[str]()
        is_ours, is_theirs = bool(shared & links.ours), bool(shared & links.theirs)
        return is_ours if is_ours != is_theirs else self._is_ours_by_time(stat)

    def _unnamed(self, children: dict[int, list[Stat]]) -> tuple[set[int], set[int]]:
        """The orphans, and the children of the agent itself."""
        below = children.get(self._root, [])
        if not self._has_supervisor or not below:
            return set(), {stat.pid for stat in below}
        agent = min(below, key=lambda stat: (stat.start, stat.pid))  # it was there first
        orphans = {stat.pid for stat in below if stat is not agent}
        return orphans, {stat.pid for stat in children.get(agent.pid, [])}

    def _is_ours_by_time(self, stat: Stat) -> bool:
        if not self._log.was_at_work(stat.start):
            return False
        others = [other for other in self._others if other.was_at_work(stat.start)]
        is_heard = stat.start < boot_ticks(_HEARD_SECONDS)  # of a tool of theirs, too
        if others and is_heard and self._log.ran_a_tool(stat.start):
            others = [other for other in others if other.ran_a_tool(stat.start)]
        if not others:
            return True
        try:  # who clears its environment usually stays in the folder it was started in
            folder = os.readlink(f"/proc/{stat.pid}/cwd")
        except OSError:
            return False
        return _is_in(folder, self._log.cwd) and not any(_is_in(folder, o.cwd) for o in others)

    def _is_ours_by_words(self, stat: Stat) -> bool:
        line = command_line(stat.pid)
        return self._log.command_of(line, stat.start) is not None and not any(
            other.command_of(line, stat.start) for other in self._others
        )

    def describe(self, found: Iterable[Stat]) -> list[RunningCommand]:
        """What people call them: one for each that no other of them has started."""
        found = list(found)
        pids = {stat.pid for stat in found}
        named: list[RunningCommand] = []
        for stat in found:
            if stat.parent in pids:
                continue
            line = command_line(stat.pid)
            asked = self._log.command_of(line, stat.start) or ""
            command = asked if asked and asked in line else line  # without the shell around it
            if len(command) > _LONGEST:
                command = command[: _LONGEST - 1] + "…"
            named.append(RunningCommand(command=command, pid=stat.pid))
        return named


def stopped_notice(stopped: Iterable[RunningCommand], left: Collection[int]) -> Notice:
    """The notice about stopped commands; ``left`` are processes that survived even SIGKILL."""
    named = [
        f"{each.command} (pid {each.pid})" if each.pid is not None else each.command
        for each in stopped
    ]
    many = "1 command" if len(named) == 1 else f"{len(named)} commands"
    text = f"stopped {many}: {'; '.join(named)}"
    if left:
        text += f"; still there: pid {', '.join(map(str, left))}"
    return Notice(level="warning" if left else "info", text=text)


async def end(find: Callable[[], list[Stat]], known: Iterable[Stat] = ()) -> list[Stat]:
    """SIGTERM, a second, SIGKILL to what is found, and to what it starts meanwhile; who is still there.

    Once found, a process is ours, also when the one that identified it is gone: ``known`` are those
    that were found before.
    """
    ours = {(stat.pid, stat.start): stat for stat in known}
    clock = asyncio.get_running_loop().time
    for number, seconds in ((signal.SIGTERM, TERM_SECONDS), (_KILL, KILL_SECONDS)):
        until = clock() + seconds
        signalled: set[tuple[int, int]] = set()
        while True:
            ours.update({(stat.pid, stat.start): stat for stat in find()})
            left = {key: stat for key, stat in ours.items() if _is_alive(stat)}
            for key, stat in left.items():
                if key not in signalled:
                    signalled.add(key)
                    send_signal(stat, number)
            if not left:
                return []
            if clock() >= until:
                break
            await asyncio.sleep(_POLL_SECONDS)
    return [stat for stat in ours.values() if _is_alive(stat)]


_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def command_line(pid: int) -> str:
    """The words that a process was started with; empty if they cannot be seen."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().rstrip(b"\0").split(b"\0")
    except OSError:  # gone meanwhile, or not ours to see
        return ""
    return b" ".join(words).decode("utf-8", "replace")


def streams(pid: int) -> set[str]:
    """The pipes, sockets and terminals that a process has open; empty if they cannot be seen."""
    found: set[str] = set()
    folder = f"/proc/{pid}/fd"
    try:
        for name in os.listdir(folder):
            place = os.readlink(f"{folder}/{name}")
            if place.startswith(("pipe:", "socket:", "/dev/pts/")):
                found.add(place)
    except OSError:  # gone meanwhile, or not ours to see
        return found
    return found


def _is_in(folder: str, place: str | None) -> bool:
    return place is not None and (folder == place or folder.startswith(place.rstrip("/") + "/"))


def _is_alive(stat: Stat) -> bool:
    now = read_stat(stat.pid)
    return now is not None and now.start == stat.start and now.state not in _DEAD


def _below(root: int, children: dict[int, list[Stat]]) -> list[Stat]:
    found: list[Stat] = []
    new, seen = [root], {root}
    while new:
        level = [stat for pid in new for stat in children.get(pid, ()) if stat.pid not in seen]
        found += level
        new = [stat.pid for stat in level]
        seen.update(new)
    return found
