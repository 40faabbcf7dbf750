"""Connect standard input and output with a relay: a person, a script, or the other end of an ssh connection."""

from __future__ import annotations

import os
import secrets
import select
import sys
from collections.abc import Callable
from typing import Final

from dragoman.drive.relay import places, records
from dragoman.drive.relay.records import Record, RecordSplitter
from dragoman.errors import AgentError
from dragoman.wire.lines import LineSplitter

assert sys.platform != "win32"

_CHUNK: Final = 1 << 18


class Attachment:
    """Lines in, lines out, as if the agent's own pipes were here."""

    def __init__(
        self, folder: str, *, first: int, write: bool, warn: Callable[[str], None]
    ) -> None:
        self._folder = folder
        self._ask = b"attach %d %s\n" % (first, b"w" if write else b"r")
        self._write = write
        self._warn = warn
        self._fence = 0
        self._name = secrets.token_hex(6)
        self._count = 0

    def run(self) -> int | None:
        """Work until the agent ends; returns its exit code, or None if the connection ended first.

        Raises :class:`AgentError` if no relay serves there, or if another client has taken over.
        """
        try:
            connection = places.connect(self._folder)
        except OSError as problem:
            raise AgentError(f"no relay answers in {self._folder}: {problem.strerror}") from None
        splitter, lines = RecordSplitter(), LineSplitter()
        with connection:
            connection.settimeout(None)
            connection.sendall(self._ask)
            # What is typed is read once it is known that it may be sent.
            sources: list[int] = [connection.fileno()]
            while True:
                for ready in select.select(sources, [], [])[0]:
                    data = os.read(ready, _CHUNK)
                    if ready != connection.fileno():
                        if not data:
                            sources.remove(ready)
                        for line in lines.receive(data) if data else lines.finish():
                            if isinstance(line, bytes):
                                connection.sendall(self._sending(line))
                        continue
                    if not data:
                        return None
                    for record in splitter.receive(data):
                        if record.kind == records.GREETING:
                            self._fence = int(record.content.split()[2])
                            sources += [sys.stdin.fileno()] if self._write else []
                        elif record.kind == records.ENDED:
                            sys.stdout.flush()
                            return int(record.content.split(b" ")[0])
                        else:
                            self._show(record)
                    sys.stdout.flush()

    def _sending(self, line: bytes) -> bytes:
        self._count += 1
        head = f"send {self._fence} {self._name}-{self._count} {len(line)}\n"
        return head.encode() + line

    def _show(self, record: Record) -> None:
        if record.kind == records.OUTPUT:
            sys.stdout.buffer.write(record.content + b"\n")
        elif record.kind == records.PART:
            sys.stdout.buffer.write(record.content)
        elif record.kind == records.GAP:
            self._warn(f"records up to {record.content.decode()} are no longer kept")
        elif record.kind == records.REFUSED:
            _, _, why = record.content.decode("utf-8", "replace").partition(" ")
            raise AgentError(f"the relay refused a line: {why}")


def pipe(folder: str) -> None:
    """Pass bytes between standard input and output and the relay, for a client at the other end of a connection."""
    try:
        connection = places.connect(folder)
    except OSError as problem:
        raise AgentError(f"no relay answers in {folder}: {problem.strerror}") from None
    with connection:
        connection.settimeout(None)
        stdin, stdout = sys.stdin.fileno(), sys.stdout.fileno()
        while True:
            for ready in select.select([connection.fileno(), stdin], [], [])[0]:
                data = os.read(ready, _CHUNK)
                if not data:
                    return
                if ready == stdin:
                    connection.sendall(data)
                    continue
                view = memoryview(data)
                while view:
                    view = view[os.write(stdout, view) :]
