"""Opens a link to an agent on another machine, as :mod:`dragoman.drive.links.ssh` plans it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from dragoman.drive.links.link import Closed, Exit, Link, OpenLink, Receive
from dragoman.drive.links.ssh import NO_CONNECTION, READY, Remote, ssh_error, ssh_launch
from dragoman.drive.process.child import open_process
from dragoman.drive.secrets import Secrets
from dragoman.errors import ResponseTimeout
from dragoman.harnesses.contract.transport import Launch
from dragoman.model.secrets import secrets_in
from dragoman.wire.lines import LongLine

LOGIN_SECONDS = 30
"""How long a login may take once the connection is there."""


def open_ssh(
    launch: Launch,
    remote: Remote,
    *,
    secrets: Mapping[str, str] | None = None,
    start: Callable[[Launch], OpenLink] = open_process,
) -> OpenLink:
    """How to start the launch on another machine and talk to it.

    ``start`` starts our own end. The link opens when the agent is about to run; when it does not
    get that far, the error names the step that failed.
    """
    plan = ssh_launch(launch, remote, secrets=secrets)
    hidden = Secrets([*(secrets or {}).values(), *secrets_in(launch.env)])

    async def open_link(receive: Receive, closed: Closed) -> Link:
        door = _Door(receive, closed)
        # Sent from here, whatever the process starter does with a preamble.
        inner = await start(replace(plan, preamble=b""))(door.receive, door.close)
        link = SshLink(inner, remote, hidden)
        if plan.preamble:
            inner.send([plan.preamble])
        is_open = False
        try:
            async with asyncio.timeout(remote.connect_timeout + LOGIN_SECONDS):
                is_open = await door.opened
        except TimeoutError:
            raise ResponseTimeout(
                f"{remote} accepted no login within {remote.connect_timeout + LOGIN_SECONDS} seconds"
            ) from None
        finally:
            if not is_open:
                await asyncio.shield(inner.stop())
        if not is_open:
            raise ssh_error(remote, launch, inner.exit, link.stderr_tail)
        return link

    return open_link


class _Door:
    """Keeps everything back that comes before the agent."""

    def __init__(self, receive: Receive, closed: Closed) -> None:
        self._receive = receive
        self._closed = closed
        self.opened: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def receive(self, lines: list[bytes | LongLine]) -> None:
        if self._is_open:
            self._receive(lines)
            return
        for number, line in enumerate(lines, 1):
            if isinstance(line, bytes) and line.rstrip(b"\r").endswith(READY):
                if not self.opened.done():
                    self.opened.set_result(True)
                if self._is_open and lines[number:]:
                    self._receive(lines[number:])
                return

    def close(self) -> None:
        if self._is_open:
            self._closed()
        elif not self.opened.done():
            self.opened.set_result(False)

    @property
    def _is_open(self) -> bool:
        return self.opened.done() and not self.opened.cancelled() and self.opened.result()


class SshLink:
    """A link to an agent on another machine; see :class:`dragoman.drive.links.link.Link`."""

    def __init__(self, link: Link, remote: Remote, secrets: Secrets) -> None:
        self._link = link
        self._remote = remote
        self._secrets = secrets

    @property
    def pid(self) -> int | None:
        """Of ``ssh``, which is on this machine."""
        return self._link.pid

    @property
    def is_supervised(self) -> bool:
        """Of ``ssh``; the agent itself is elsewhere."""
        return self._link.is_supervised

    @property
    def exit(self) -> Exit | None:
        return self._told(self._link.exit) if self._link.exit is not None else None

    @property
    def stderr_tail(self) -> str:
        return self._secrets.mask(self._link.stderr_tail)

    def send(self, lines: Iterable[bytes]) -> None:
        self._link.send(lines)

    async def drained(self) -> None:
        await self._link.drained()

    async def stop(self) -> Exit:
        return self._told(await self._link.stop())

    def _told(self, ended: Exit) -> Exit:
        if ended.code != NO_CONNECTION:
            return ended
        return replace(ended, reason=f"was lost with the connection to {self._remote}")
