"""Start a relay as a process of its own."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from dragoman.drive.process import reaper, supervising
from dragoman.drive.relay import journal, places
from dragoman.errors import AgentError, AgentNotFound

assert sys.platform != "win32"

UNOWNED_SECONDS: Final = 24 * 3600.0
_READY_SECONDS: Final = 30.0
_LOG: Final = "relay.log"
_RUN: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from dragoman.drive.relay.program import main; main()"
)


class StartedRelay(NamedTuple):
    """A relay that serves."""

    name: str
    folder: str
    pid: int


def start_relay(
    command: Sequence[str],
    *,
    cwd: str,
    environment: Mapping[str, str] | None = None,
    parent: str | None = None,
    name: str | None = None,
    facts: Mapping[str, Any] | None = None,
    unowned_seconds: float = UNOWNED_SECONDS,
    segment_bytes: int = journal.SEGMENT_BYTES,
    max_bytes: int = journal.MAX_BYTES,
) -> StartedRelay:
    """Start a relay with this command below it, and wait until it serves.

    It ends with the agent, when it is told to, or after ``unowned_seconds`` in which no client was there to write.
    ``facts`` are kept beside it, for :func:`dragoman.drive.relay.listing.list_relays`. Raises :class:`AgentError`.
    """
    env = dict(os.environ if environment is None else environment)
    program = command[0]
    place = os.path.join(cwd, program) if os.path.dirname(program) else program
    if shutil.which(place, path=env.get("PATH")) is None:
        raise AgentNotFound(f"{program} is not on this machine, or may not be run")
    parent = parent or places.relays_folder(env)
    name = name or secrets.token_hex(4)
    try:
        folder = places.make_folder(parent, name)
    except FileExistsError:
        raise AgentError(f"there is already a relay {name!r}") from None
    except OSError as problem:
        raise AgentError(f"cannot make a folder for the relay: {problem.strerror}") from None
    settings = {
        "folder": folder,
        "command": list(command),
        "cwd": cwd,
        "supervisor": supervising.__file__ if reaper.can_run() else None,
        "unowned_seconds": unowned_seconds,
        "segment_bytes": segment_bytes,
        "max_bytes": max_bytes,
        "facts": {
            "name": name,
            "command": list(command),
            "cwd": cwd,
            "started": time.time_ns() // 1_000_000_000,
            **(facts or {}),
        },
    }
    source = str(Path(__file__).parents[3])
    log = os.path.join(folder, _LOG)
    with open(log, "wb", opener=_private) as stderr:
        # It leads a session of its own, so that neither a terminal nor its starter ends it.
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _RUN, source],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=env,
            start_new_session=True,
        )
    try:
        answer, _ = process.communicate(json.dumps(settings).encode(), timeout=_READY_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        answer = b""
    word, _, pid = answer.partition(b" ")
    if word != b"ready":
        tail = Path(log).read_text("utf-8", "replace").strip().rpartition("\n")[2]
        raise AgentError(f"the relay could not be started: {tail or 'it did not answer in time'}")
    return StartedRelay(name, folder, int(pid))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
