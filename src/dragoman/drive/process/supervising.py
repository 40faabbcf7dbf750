"""The small program that every agent runs under on Linux, so that nothing the agent starts can escape.

``python -I -S supervising.py PARENT COMMAND…`` declares itself a *child subreaper*
(``PR_SET_CHILD_SUBREAPER``), starts the command with its own standard streams, and waits. A process whose
parent is gone is then re-parented to this program, whatever it has done to its session, its group or
its environment (``env -i setsid CMD &``): everything that the agent ever started is below it.

It ends everything below it (SIGTERM, a second, SIGKILL) when the agent has ended, or when the process
that started it is gone, be it by ``kill -9``. Then it exits the way the agent did: with its status, or by
its signal. The kernel kills the agent when this program is killed (``PR_SET_PDEATHSIG``).

| signal | meaning |
|---|---|
| SIGTERM, SIGINT, SIGHUP | passed on to the agent, whose end is what counts |
| SIGUSR1 | end everything now, with SIGKILL |
| SIGUSR2 | from the kernel: the process that started this is gone |

It costs one interpreter without ``site``: about 30 ms and 10 MB (4 MB of its own). It imports none of our modules.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

assert sys.platform != "win32"

TERM_SECONDS = 1.0
KILL_SECONDS = 5.0
_POLL_SECONDS = 0.02
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_CHANGED_BY_PYTHON = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)
_NOT_FOUND, _NOT_RUN = 127, 126


def main(argv: list[str]) -> None:
    parent, command = int(argv[0]), argv[1:]
    waited = {signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2, *_PASSED_ON}
    # Without those that glibc reserves (32, 33): Python warns on stderr when it sets them.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited) & signal.valid_signals()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGUSR2)
    if os.getppid() != parent:  # the parent ended before PR_SET_PDEATHSIG took effect
        return
    agent = os.fork()
    if not agent:
        _become(command, before)
    _let_go_of_streams()
    status, number = None, 0
    while status is None and number not in (signal.SIGUSR1, signal.SIGUSR2):
        number = signal.sigwait(waited)
        if number in _PASSED_ON:
            os.kill(agent, number)  # not collected yet, so the number is still its own
        status, _ = reap(agent)
    later = end_all_below(agent, hurry=number == signal.SIGUSR1)
    _exit_like(later if status is None else status)


def reap(agent: int) -> tuple[int | None, bool]:
    """Collect what has ended; the agent's status if it was among them, and whether anyone is left."""
    status = None
    while True:
        try:
            pid, ended = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status, False
        if pid == 0:
            return status, True
        if pid == agent:
            status = ended


def end_all_below(agent: int, *, hurry: bool) -> int | None:
    """End everything that this process or its descendants have started; the agent's status."""
    assert sys.platform == "linux"
    status = None
    for number, seconds in ((signal.SIGTERM, TERM_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
        until = time.monotonic() + (0 if hurry and number == signal.SIGTERM else seconds)
        signalled: set[tuple[int, int]] = set()
        while time.monotonic() < until:
            ended, anyone = reap(agent)
            status = ended if ended is not None else status
            if not anyone:  # all orphans are children of ours, so no child means nothing at all
                return status
            for each in below(os.getpid()):
                if each not in signalled:
                    signalled.add(each)
                    with contextlib.suppress(OSError):
                        os.kill(each[0], number)
            heard = signal.sigtimedwait({signal.SIGCHLD, signal.SIGUSR1}, _POLL_SECONDS)
            if heard is not None and heard.si_signo == signal.SIGUSR1:
                break
    return status


def below(root: int) -> list[tuple[int, int]]:
    """The living descendants of a process, each with its start time."""
    parents: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                data = file.read()
        except OSError:  # gone meanwhile
            continue
        # The program's name is in parentheses, and may hold parentheses.
        fields = data[data.rfind(b")") + 2 :].split()
        if fields[0] not in (b"Z", b"X"):
            parents[int(name)] = int(fields[1]), int(fields[19])
    found: list[tuple[int, int]] = []
    for pid, (parent, start) in parents.items():
        seen = {pid}
        while parent != root and parent in parents and parent not in seen:
            seen.add(parent)
            parent = parents[parent][0]
        if parent == root:
            found.append((pid, start))
    return found


def _become(command: list[str], mask: set[int]) -> None:
    """In the child: restore what a new process expects, and run the command."""
    for number in _CHANGED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]} cannot be run: {error.strerror}\n".encode())
        os._exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_RUN)


def _let_go_of_streams() -> None:
    """The agent alone holds its streams: their ends must be its ends. Nor is its folder held."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.closerange(3, 4096)
    os.chdir("/")


def _exit_like(status: int | None) -> None:
    if status is not None and os.WIFSIGNALED(status):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(status)
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if status is not None else 0)


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
