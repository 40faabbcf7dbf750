"""Every module can be imported where the system is Windows, as far as that can be seen from here.

The platform is pretended: its name is changed, and what only POSIX has is taken away. That shows what
an import needs, and nothing of how processes, consoles and files behave there.
"""

from __future__ import annotations

import subprocess
import sys

_SECONDS = 120
_SCRIPT = """
import importlib, os, pkgutil, signal, socket, sys, time
import asyncio, ctypes, http.server, logging, multiprocessing, pathlib, resource, select, shutil, sqlite3
import subprocess, tempfile, threading, tomllib, unittest, webbrowser
import click, litestar, litestar.openapi, litestar.plugins.problem_details, markdown_it, msgspec, pytest, uvicorn
import uvicorn.protocols.http.h11_impl, websockets.asyncio.client, wcwidth, yaml

POSIX_MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
POSIX_NAMES = {
    os: ("fork", "getpgrp", "geteuid", "getuid", "killpg", "mkfifo", "nice", "pidfd_open", "register_at_fork",
         "set_blocking", "setsid", "tcgetpgrp", "tcsetpgrp", "ttyname", "uname", "WNOHANG", "O_NONBLOCK",
         "O_NOCTTY", "makedev", "memfd_create", "O_CLOEXEC", "openpty"),
    signal: ("SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGTSTP",
             "SIGTTOU", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGXFSZ", "setitimer", "pthread_sigmask", "sigwait",
             "sigtimedwait", "pidfd_send_signal", "ITIMER_REAL"),
    socket: ("AF_UNIX", "AF_NETLINK", "TCP_USER_TIMEOUT"),
    time: ("clock_gettime", "CLOCK_REALTIME", "tzset"),
    select: ("poll", "POLLIN", "POLLHUP"),
}
for module, names in POSIX_NAMES.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
for name in POSIX_MODULES:
    sys.modules[name] = None
sys.platform = "win32"

import dragoman

NOT_THERE = set(sys.argv[1:])
for found in pkgutil.walk_packages(dragoman.__path__, "dragoman."):
    if found.name in NOT_THERE:
        continue
    try:
        importlib.import_module(found.name)
    except BaseException as problem:
        print(found.name, type(problem).__name__, problem)
"""
POSIX_ONLY = (
    "dragoman.drive.process.posix",
    "dragoman.drive.process.supervising",
    "dragoman.drive.relay.agent_process",
    "dragoman.drive.relay.client",
    "dragoman.drive.relay.journal",
    "dragoman.drive.relay.listing",
    "dragoman.drive.relay.piping",
    "dragoman.drive.relay.places",
    "dragoman.drive.relay.program",
    "dragoman.drive.relay.starting",
    "dragoman.rehearsal.process_groups",
)
"""What is imported nowhere else than on POSIX."""


def test_every_module_can_be_imported_on_windows() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *POSIX_ONLY],
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )

    assert (done.stdout.decode(), done.stderr.decode()) == ("", "")
    assert done.returncode == 0
