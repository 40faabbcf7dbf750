"""Who of the processes on this machine is ours, and the small program that stops them when we are gone.

Run as a program (``python -I -S reaping.py PARENT``) this is the reaper: it reads on its standard
input what was started and what has ended, and waits. When its standard input ends, or its parent is
gone, however that came about, it stops what is left (SIGTERM, a second, SIGKILL), and what comes up in
the next second if something was just being started, and exits. It is a
separate program, so it imports a few modules of the standard library and none of ours.

Whom it may touch: numbers of processes are used again, so a number alone means nothing. A process is
ours if it

* has the number *and* the start time that were recorded, and our tag in its environment (a process
  that hides its environment, as some agents do, is known by number and start time); or
* belongs to the session or group that the recorded process leads: the kernel gives that number to
  no other process while the group has a member, and if another one has it now, the group is not ours; or
* has our tag in its environment: what an agent started and sent away with ``setsid``; or
* is a descendant of the recorded process. That one is a child subreaper
  (:mod:`dragoman.drive.process.supervising`), so while it lives this holds for all that the agent started.

All of this is read from ``/proc``. Without it there is nothing to go by, and the reaper is not used.

Lines of the wire: ``+TAG`` before a start, ``=TAG PID START`` after it, ``-TAG`` when all is over.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

TAG = "DRAGOMAN_TAG"
"""The environment variable that names the owners of a process: tags from the outermost to the
innermost, with colons between, for an agent may start a Dragoman that starts agents."""

TERM_SECONDS = 1.0
KILL_SECONDS = 2.0
_BEGINNING_SECONDS = 1.0
_SIGKILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL
_POLL_SECONDS = 0.02


class Known(NamedTuple):
    """A process that we started, as recorded."""

    tag: str
    pid: int = 0
    """0 while it is only about to be started."""
    start: int = 0
    """In ticks of the kernel's clock since boot."""


class Stat(NamedTuple):
    """The fields of ``/proc/PID/stat`` that are needed."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    start: int


def read_stat(pid: int) -> Stat | None:
    """The process with this number now; None if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            data = file.read()
    except OSError:  # gone meanwhile, or there is no /proc
        return None
    # The second field is the program's name in parentheses, and may hold anything, these included.
    fields = data[data.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        return None
    return Stat(
        pid, fields[0].decode(), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19])
    )


def read_all() -> dict[int, Stat]:
    """Every process of this machine, by its number."""
    everyone: dict[int, Stat] = {}
    with contextlib.suppress(OSError):  # there is no /proc
        for name in os.listdir("/proc"):
            if name.isdigit() and (stat := read_stat(int(name))):
                everyone[stat.pid] = stat
    return everyone


def read_variable(pid: int, name: str) -> str | None:
    """A variable of a process's environment, empty if it is not set; None if none can be seen."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            data = file.read()
    except OSError:
        return None
    if not data:
        return None
    head = f"{name}=".encode()
    for entry in data.split(b"\0"):
        if entry.startswith(head):
            return entry[len(head) :].decode("ascii", "replace")
    return ""


def read_tags(pid: int) -> frozenset[str] | None:
    """The tags in a process's environment; None if it cannot be seen."""
    value = read_variable(pid, TAG)
    return None if value is None else frozenset(filter(None, value.split(":")))


def find(known: Iterable[Known]) -> list[Stat]:
    """The processes that are ours and alive, by the rules above."""
    known = list(known)
    if not known:
        return []
    everyone = read_all()
    led = {one.pid: one for one in known if one.pid}
    tags = {one.tag for one in known}
    oldest = min(one.start for one in known)
    me = os.getpid()
    return [
        stat
        for stat in everyone.values()
        # A process that is older than the first of them is not one of them. The dead are left alone.
        if stat.start >= oldest
        and stat.state not in "ZXx"
        and stat.pid != me
        and _is_ours(stat, led, tags, everyone)
    ]


def _is_ours(stat: Stat, led: dict[int, Known], tags: set[str], everyone: dict[int, Stat]) -> bool:
    if (one := led.get(stat.pid)) is not None:
        if stat.start == one.start:
            found = read_tags(stat.pid)
            return found is None or one.tag in found
    elif (one := led.get(stat.session) or led.get(stat.group)) and stat.start >= one.start:
        leader = everyone.get(one.pid)
        if leader is None or leader.start == one.start:
            return True
    if any(
        above.pid in led and led[above.pid].start == above.start
        for above in ancestors(stat, everyone)
    ):
        return True
    return not tags.isdisjoint(read_tags(stat.pid) or ())


def ancestors(stat: Stat, everyone: dict[int, Stat]) -> Iterator[Stat]:
    """Its parent, the parent of that one, and so on, as far as they are listed."""
    seen = {stat.pid}
    above = everyone.get(stat.parent)
    while above is not None and above.pid not in seen:  # numbers may change hands while one looks
        seen.add(above.pid)
        yield above
        above = everyone.get(above.parent)


def _open_handle(pid: int) -> int:
    """A handle on a process, which no other process can get by its number; -1 if there is none to be had."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):  # an old kernel, or it is gone
            return os.pidfd_open(pid)
    return -1


def send_signal(stat: Stat, number: int) -> None:
    """Signal exactly this process, and no other that has its number by now."""
    with contextlib.suppress(OSError):
        handle = _open_handle(stat.pid)
        try:
            now = read_stat(stat.pid)
            if now is None or now.start != stat.start:
                return
            if sys.platform == "linux" and handle >= 0:
                signal.pidfd_send_signal(handle, number)
            else:
                os.kill(stat.pid, number)
        finally:
            if handle >= 0:
                os.close(handle)


def stop_all(known: Iterable[Known]) -> list[Stat]:
    """Stop those that are left; returns those that could not be killed."""
    known = list(known)
    led = {one.pid for one in known}
    left = find(known)
    for number, seconds in ((signal.SIGTERM, TERM_SECONDS), (_SIGKILL, KILL_SECONDS)):
        end = time.monotonic() + seconds
        told: set[tuple[int, int]] = set()
        while left:
            # The recorded one last: it ends its descendants itself, and finds those that come up.
            for stat in sorted(left, key=lambda each: each.pid in led):
                if (stat.pid, stat.start) not in told:
                    told.add((stat.pid, stat.start))
                    send_signal(stat, number)
            if time.monotonic() >= end:
                break
            time.sleep(_POLL_SECONDS)
            left = find(known)
    return left


def stop_beginning(known: Iterable[Known]) -> None:
    """Stop, for a moment, every new process: we may have been killed between the fork of a process and
    its start, and only then has it our tag."""
    beginning = [one for one in known if not one.pid]
    end = time.monotonic() + _BEGINNING_SECONDS
    while beginning and time.monotonic() < end:
        stop_all(beginning)
        time.sleep(_POLL_SECONDS)


class Register:
    """The processes that run according to the lines received."""

    def __init__(self) -> None:
        self.known: dict[str, Known] = {}
        self._rest = b""

    def receive(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            words = line[1:].decode("ascii", "replace").split()
            if line[:1] == b"+" and len(words) == 1:
                self.known[words[0]] = Known(words[0])
            elif line[:1] == b"=" and len(words) == 3:
                self.known[words[0]] = Known(words[0], int(words[1]), int(words[2]))
            elif line[:1] == b"-" and len(words) == 1:
                self.known.pop(words[0], None)


def watch(parent: int) -> Register:
    """Listen until our parent is gone.

    The end of the input means so; but a process that our parent forked may still hold the other end,
    so the parent itself is watched as well where the kernel can.
    """
    assert sys.platform != "win32"
    register = Register()
    poll = select.poll()
    poll.register(0, select.POLLIN | select.POLLHUP)
    handle = _open_handle(parent)
    if handle >= 0:
        poll.register(handle, select.POLLIN)
    is_parent_here = os.getppid() == parent
    while True:
        ready = {number for number, _ in poll.poll(None if is_parent_here else 0)}
        if 0 in ready:
            chunk = os.read(0, 1 << 16)
            if not chunk:
                return register
            register.receive(chunk)
        elif handle in ready or not is_parent_here:
            return register


def main() -> None:
    assert sys.platform != "win32"
    # A signal to our parent's whole group must not stop what cleans up after it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.closerange(3, 4096)
    known = watch(int(sys.argv[1])).known.values()
    stop_all(known)
    stop_beginning(known)


if __name__ == "__main__":
    main()
