"""The plan for an agent on another machine, over the system's own ``ssh``, and what its failures mean.

What runs there is a line of ``sh``: it reads what the agent's environment needs from its standard input,
enters the workspace, reports that it is ready, and becomes the agent. So keys appear in no argument list,
neither here nor there, and nothing that a login prints before that is taken for the agent's output.

No process is left behind: when the connection ends, the agent's standard input does, too; for an agent that
stays on, a small watcher beside it ends it a few seconds later. :mod:`dragoman.drive.links.ssh_link` carries
the plan out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dragoman.drive.links.link import Exit
from dragoman.errors import (
    AgentError,
    AgentNotFound,
    InvalidWorkspace,
    ProcessExited,
    UsageError,
)
from dragoman.harnesses.contract.transport import Launch

HostKeys: TypeAlias = Literal["accept-new", "yes", "no"]
READY = b"dragoman: here is the agent"
"""How the last line before the agent's own ends."""
NO_CONNECTION = 255
"""The exit code of ``ssh`` for its own failures."""
_NO_WORKSPACE, _NOT_EXECUTABLE, _NOT_FOUND = 123, 126, 127
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BAD_IN_HOST = re.compile(r"[\s\x00-\x1f\x7f'\"`$\\;&|<>()]")

# The script is in single quotes in a command line that may be read by another shell than sh: it has
# no quote of that kind, no backslash and no line break. PPID is the server's process for this connection,
# $$ the agent, and the leader of its group. The watcher ends what is left of the group when either is gone.
# A server's process that belongs to another user cannot be watched: the end of standard input has to do.
_WATCH = (
    '{ trap "" TERM HUP; kill -0 "$PPID" || exit; '
    'while kill -0 "$PPID" && kill -0 $$; do sleep 1; done; '
    "for signal in 0 0 0 TERM 0 0; do kill -s $signal $$ || break; sleep 1; done; "
    "kill -s KILL $$; kill -s KILL -- -$$; } </dev/null >/dev/null 2>&1 &"
)
_FIND = 'command -v "$1" >/dev/null || { echo "$1: not found" >&2; exit 127; };'


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """Another machine, and how to get there."""

    host: str
    """A name, an address, or a ``Host`` of ``~/.ssh/config``."""
    user: str | None = None
    port: int | None = None
    identity: str | None = None
    """The file of a private key. Without it, ssh chooses one."""
    host_keys: HostKeys = "accept-new"
    """``yes``: only hosts that are known; ``accept-new``: also those never met; ``no``: all, unsafe."""
    options: tuple[str, ...] = ()
    """More for ``ssh -o``, each ``Name=value``; they go before ours, and so win."""
    connect_timeout: int = 30
    cwd: str | None = None
    """The workspace there, absolute. Without it, the launch's."""

    def __post_init__(self) -> None:
        for what, word in (("host", self.host), ("user", self.user)):
            if word is not None and (not word or word[0] == "-" or _BAD_IN_HOST.search(word)):
                raise UsageError(f"{word!r} cannot be the name of a {what}")
        if self.host_keys not in ("accept-new", "yes", "no"):
            raise UsageError(f"host_keys is accept-new, yes or no, not {self.host_keys!r}")

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        return f"{user}{self.host}{f':{self.port}' if self.port else ''}"


def ssh_launch(
    launch: Launch, remote: Remote, *, secrets: Mapping[str, str] | None = None
) -> Launch:
    """The launch of the same on another machine, for :func:`dragoman.drive.links.ssh_link.open_ssh`.

    The environment of the launch, and the secrets, go there in the preamble. Its output begins with
    what a login may print and a line that ends with :data:`READY`.
    """
    env = {**launch.env, **(secrets or {})}
    cwd = remote.cwd or launch.cwd
    if cwd is not None and not cwd.startswith("/"):
        raise InvalidWorkspace(f"the workspace on {remote} must be an absolute path, not {cwd!r}")
    if any("\0" in word for word in (*launch.argv, cwd or "")):
        raise UsageError("a command must not hold a NUL character")
    return Launch(
        argv=("ssh", *_options(remote), "--", remote.host, _command(launch, cwd, env)),
        stdin=launch.stdin or bool(env),
        preamble=b"".join(_value(name, value) for name, value in env.items()),
    )


def quote(word: str) -> str:
    """A word for a shell, in single quotes."""
    return "'" + word.replace("'", "'\\''") + "'"


def _options(remote: Remote) -> list[str]:
    words = ["-T"]
    if remote.port is not None:
        words += ["-p", str(remote.port)]
    if remote.user is not None:
        words += ["-l", remote.user]
    options = [*remote.options]
    if remote.identity is not None:
        words += ["-i", remote.identity]
        options.append("IdentitiesOnly=yes")
    options += [
        f"StrictHostKeyChecking={remote.host_keys}",
        "BatchMode=yes",
        f"ConnectTimeout={remote.connect_timeout}",
        "ServerAliveInterval=15",
        "ServerAliveCountMax=3",
        # A connection of our own: one that is shared with others would outlive us.
        "ControlPath=none",
    ]
    return [*words, *(word for option in options for word in ("-o", option))]


def _command(launch: Launch, cwd: str | None, env: Mapping[str, str]) -> str:
    steps = [f"IFS= read -r {name} || exit 125; export {name};" for name in env]
    if cwd is not None:
        steps.append(f'cd "$1" || exit {_NO_WORKSPACE}; shift;')
    steps += [_FIND, _WATCH, f'echo "{READY.decode()}";', 'exec "$@"']
    if not launch.stdin:
        steps.append("</dev/null")
    words = [" ".join(steps), "dragoman", *([cwd] if cwd is not None else []), *launch.argv]
    return f"exec sh -c {' '.join(map(quote, words))}"


def _value(name: str, value: str) -> bytes:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be the name of a variable")
    if "\n" in value or "\0" in value:
        raise UsageError(f"the value of {name} has more than one line: it cannot go over ssh")
    return value.encode("utf-8", "surrogateescape") + b"\n"


# What went wrong.


def ssh_error(remote: Remote, launch: Launch, ended: Exit | None, stderr: str) -> AgentError:
    """Why an agent on another machine did not start."""
    code = ended.code if ended is not None else None
    program = launch.argv[0]
    if code == NO_CONNECTION:
        return _no_connection(remote, stderr)
    if code == _NOT_FOUND:
        return AgentNotFound(f"{program!r} is not on the PATH of {remote}", stderr=stderr)
    if code == _NOT_EXECUTABLE:
        return AgentNotFound(f"{program!r} cannot be executed on {remote}", stderr=stderr)
    if code == _NO_WORKSPACE:
        cwd = remote.cwd or launch.cwd
        return InvalidWorkspace(f"{cwd} cannot be entered on {remote}", stderr=stderr)
    how = ended.reason if ended is not None and ended.reason else "ended"
    message = f"ssh to {remote} {how} before the agent ran"
    return ProcessExited(message, exit_code=code, stderr=stderr)


def _no_connection(remote: Remote, stderr: str) -> ProcessExited:
    lines = [line.strip() for line in stderr.split("\n") if line.strip(" @\r")]
    sentence = lines[-1] if lines else ""
    lasts = True
    if "IDENTIFICATION HAS CHANGED" in stderr:
        message = f"the host key of {remote} is not the one it had: it may be another machine"
    elif "Host key verification failed" in stderr:
        message = f"the host key of {remote} is not known, and new ones are not accepted"
    elif "Permission denied" in sentence:
        message = f"{remote} did not let us in"
    else:
        message, lasts = f"could not connect to {remote}", False
    error = ProcessExited(message, exit_code=NO_CONNECTION, stderr=sentence)
    error.retryable = not lasts
    return error
