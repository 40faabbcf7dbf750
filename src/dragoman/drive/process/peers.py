"""Which process is at the other end of a local TCP connection, and whether one of our agents started it.

An agent must not approve its own requests, even if it has found the token. So a server asks, for each connection,
whose it is. The kernel knows the inode of the client's socket (:mod:`dragoman.drive.process.sock_diag`), and ``/proc/PID/fd``
shows which process holds it. That process belongs to an agent if it, or one of its ancestors,

* is the process that we started, or is in the session or group that this process leads; or
* has our tag in its environment (see :mod:`dragoman.drive.process.reaping`).

What the kernel does not show is decided like this:

* The socket is closed already, so that no process holds it: ``gone``. No process would read the answer; but the request
  might still act on its content, and must be refused.
* No process that we can look into holds it, and others hide what they hold (``sshd``, programs of other users): it is
  one of those. Is one of our agent's among them, it may be that one, and counts as it.

Linux only. Elsewhere, and for connections from other machines, the answer is ``unknown``. An agent with full access
can have a program do this for it that is not below it (a proxy, ``systemd-run``, a container): that is not seen.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address
from typing import Final, Literal, NamedTuple, TypeAlias

from dragoman.drive.process.reaping import Known, Stat, read_stat, read_tags
from dragoman.drive.process.sock_diag import TABLES, Address, Found, find_socket

__all__ = ["Address", "Peer", "Peers", "is_below"]

Peer: TypeAlias = Literal["agent", "other", "gone", "unknown"]

_ATTEMPTS: Final = 3
_RECENT: Final = 16
_HARNESS_TICKS: Final = 3 * 100
"""A process of an agent's that is this much younger than the agent is still part of its program: some are started by a
launcher, and hide what they hold. No command runs so early."""


class _Owners(NamedTuple):
    """Who holds a socket, as far as it can be seen."""

    holder: int | None
    hidden: list[int]


class Peers:
    """``Peers().find(client, server, agents)``. Caches recent clients, so that looking again is cheap.

    It reads files of ``/proc`` and may take some milliseconds: call it in a thread.
    """

    def __init__(self) -> None:
        self._recent: OrderedDict[int, frozenset[int]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, client: Address, server: Address, agents: Iterable[Known]) -> Peer:
        """Who connected from ``client`` to us, at ``server``."""
        with self._lock:
            return self._find(client, server, agents)

    def _find(self, client: Address, server: Address, agents: Iterable[Known]) -> Peer:
        known = [each for each in agents if each.pid or each.tag]
        if sys.platform != "linux" or not os.path.exists(TABLES[0]):
            return "unknown"
        for _ in range(_ATTEMPTS):
            found = find_socket(client, server)
            if found is None:
                return "gone" if _is_near(client, server) else "unknown"
            if not found.inode:
                return "gone"
            owners = self._owners(found)
            if owners.holder is not None:
                return "agent" if is_below(owners.holder, known) else "other"
            if owners.hidden:
                hides = any(_may_be(pid, known) for pid in owners.hidden)
                return "agent" if hides else "other"
            # It was passed on while we looked, or closed: look again.
        return "gone"

    def _owners(self, wanted: Found) -> _Owners:
        """A socket keeps its inode and no other ever has it, so what a process was seen to hold need not be looked up."""
        for pid, held in reversed(self._recent.items()):
            if wanted.inode in held:
                return _Owners(pid, [])
        for pid in [*reversed(self._recent)]:
            if wanted.inode in self._look(pid):
                return _Owners(pid, [])
        hidden: list[int] = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or (pid := int(entry)) in self._recent:
                continue
            held = sockets_of(pid)
            if held is None:
                if _uid(pid) in (wanted.uid, 0):
                    hidden.append(pid)
            elif wanted.inode in held:
                self._recent[pid] = held
                if len(self._recent) > _RECENT:
                    self._recent.popitem(last=False)
                return _Owners(pid, [])
        return _Owners(None, hidden)

    def _look(self, pid: int) -> frozenset[int]:
        """What a recent client holds now."""
        held = sockets_of(pid)
        if not held:
            del self._recent[pid]
            return frozenset()
        self._recent[pid] = held
        return held


def _is_near(client: Address, server: Address) -> bool:
    """Whether the client must be on this machine, by its address."""
    ip = ip_address(client[0].partition("%")[0])
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    return (mapped or ip).is_loopback or client[0] == server[0]


def sockets_of(pid: int) -> frozenset[int] | None:
    """The inodes of the sockets that a process has open; None if it does not show them."""
    folder = f"/proc/{pid}/fd"
    try:
        numbers = os.listdir(folder)
    except PermissionError:
        return None
    except OSError:  # gone meanwhile
        return frozenset()
    found: set[int] = set()
    for number in numbers:
        try:
            name = os.readlink(f"{folder}/{number}")
        except OSError:  # closed meanwhile
            continue
        if name.startswith("socket:["):
            found.add(int(name[8:-1]))
    return frozenset(found)


def _uid(pid: int) -> int | None:
    """Whose a process is, even if it hides the rest: a hidden one's folder belongs to root, but not its status."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            line = next((each for each in file if each.startswith(b"Uid:")), b"")
        return int(line.split()[2])  # the effective one: that is what a socket is given
    except (OSError, IndexError, ValueError):
        return None


def is_below(pid: int, agents: Iterable[Known]) -> bool:
    """Whether a process is one of these agents, or was started by one, over however many others."""
    known = list(agents)
    led = {each.pid: each for each in known if each.pid}
    tags = {each.tag for each in known}
    seen: set[int] = set()
    while pid > 1 and pid not in seen and pid != os.getpid():
        seen.add(pid)
        stat = read_stat(pid)
        if stat is None:
            return False
        if _is_led(stat, led) or not tags.isdisjoint(read_tags(pid) or ()):
            return True
        pid = stat.parent
    return False


def _is_led(stat: Stat, led: dict[int, Known]) -> bool:
    """By its own number, its session or its group; numbers are used again, but no child is older than its parent."""
    numbers = (stat.pid, stat.session, stat.group)
    return any((one := led.get(number)) and stat.start >= one.start for number in numbers)


def _may_be(pid: int, known: list[Known]) -> bool:
    """Whether a process that hides what it holds is a command of an agent's, rather than the agent's own program."""
    if not is_below(pid, known):
        return False
    stat = read_stat(pid)
    began = [each.start for each in known if each.pid]
    return stat is None or all(not 0 <= stat.start - each <= _HARNESS_TICKS for each in began)
