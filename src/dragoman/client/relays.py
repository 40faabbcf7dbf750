"""Relays for people: start one, list, attach, end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dragoman.errors import AgentError, DragomanError

if TYPE_CHECKING:
    from dragoman.drive.relay.facts import RelayFacts

    __all__ = ["RelayFacts"]


def start(command: Sequence[str], *, name: str | None, cwd: str, unowned_seconds: float) -> str:
    """Start a relay with this command below it; returns its name. Raises :class:`AgentError`."""
    if sys.platform == "win32":
        raise _unsupported()
    from dragoman.drive.relay.listing import remove_old
    from dragoman.drive.relay.starting import start_relay

    remove_old(os.environ)
    return start_relay(command, cwd=cwd, name=name, unowned_seconds=unowned_seconds).name


def every() -> list[RelayFacts]:
    """Return all relays whose journals are kept, the running ones first."""
    if sys.platform == "win32":
        raise _unsupported()
    from dragoman.drive.relay.listing import list_relays

    return list_relays(os.environ)


def attach(name: str, *, first: int, write: bool, warn: Callable[[str], None]) -> int | None:
    """Connect standard input and output with the agent; returns its exit code, or None if it goes on."""
    if sys.platform == "win32":
        raise _unsupported()
    from dragoman.drive.relay.listing import find_relay
    from dragoman.drive.relay.piping import Attachment

    return Attachment(
        find_relay(name, os.environ).folder, first=first, write=write, warn=warn
    ).run()


def pipe(name: str) -> None:
    """Pass bytes between standard input and output and the relay."""
    if sys.platform == "win32":
        raise _unsupported()
    from dragoman.drive.relay.listing import find_relay
    from dragoman.drive.relay.piping import pipe

    pipe(find_relay(name, os.environ).folder)


def stop(name: str) -> bool:
    """End a relay and its agent; returns whether it was running. Raises :class:`AgentError` if it does not end."""
    if sys.platform == "win32":
        raise _unsupported()
    from dragoman.drive.relay.listing import find_relay, stop_relay

    relay = find_relay(name, os.environ)
    if relay.is_running and not stop_relay(relay):
        raise AgentError(f"the relay {relay.name} (process {relay.pid}) does not end")
    return relay.is_running


def _unsupported() -> DragomanError:
    return DragomanError("relays need Linux or macOS")
