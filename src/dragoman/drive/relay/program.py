"""The relay's own process: it owns an agent's pipes, keeps a journal, and serves readers and one writer.

Started by :mod:`dragoman.drive.relay.starting` with its settings as JSON on standard input, in a folder of its own:

| file | what |
|---|---|
| ``relay.json`` | what runs here, since when, and how it ended |
| ``socket`` | where clients connect, with the rights of its owner only |
| ``*.records`` | the journal |

It ends when the agent does, when a client says ``stop``, at SIGTERM, or when no client was attached to write for too long.
The agent then goes with everything it started. It is one thread that never blocks: the agent's output is
read as fast as it comes, each reader is at its own place in the journal, and what the writer sends is kept until the
agent reads it.

It imports nothing but the standard library and its neighbours, and no module once it serves.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from typing import Any, Final

from dragoman.drive.relay import agent_process, journal, places, records
from dragoman.drive.relay.records import Record, encode
from dragoman.drive.relay.requests import BrokenRequest, RelayRequest, RequestSplitter

assert sys.platform != "win32"

_PART_BYTES: Final = 1 << 20
_MOST_CLIENTS: Final = 128
_MOST_IDS: Final = 10_000
_FAREWELL_SECONDS: Final = 5.0
_TICK_SECONDS: Final = 0.25
_END_SECONDS: Final = 0.01
_CHUNK: Final = 1 << 18
_NEW: Final = "relay.json.new"


class _Client:
    """A connection, with its place in the journal and the records for it alone."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.requests = RequestSplitter()
        self.reader: journal.JournalReader | None = None
        self.fence = 0
        """Other than 0: it may write, unless another one came later."""
        self._sending = memoryview(b"")
        self._own = bytearray()

    def tell(self, kind: bytes, content: bytes) -> None:
        """Send this to it alone, between two records of the journal."""
        self._own += encode(Record(0, 1, time.time_ns(), kind, content))

    @property
    def is_behind(self) -> bool:
        return bool(
            self._sending or self._own or (self.reader is not None and self.reader.is_behind)
        )

    def flush(self) -> None:
        """Send as much as it takes. Raises ``OSError`` when it is gone."""
        while True:
            if not self._sending:
                self._sending = memoryview(self._next())
                if not self._sending:
                    return
            try:
                count = self.connection.send(self._sending)
            except BlockingIOError:
                return
            self._sending = self._sending[count:]

    def _next(self) -> bytes:
        if self._own:
            own, self._own = bytes(self._own), bytearray()
            return own
        if self.reader is None:
            return b""
        data, gap = self.reader.read()
        if gap is not None:
            return encode(Record(0, 1, time.time_ns(), records.GAP, b"%d" % gap)) + data
        return data

    def close(self) -> None:
        self.connection.close()
        if self.reader is not None:
            self.reader.close()


class Relay:
    """The agent, the journal and the clients of one relay."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._journal = journal.RelayJournal(
            ".", segment_bytes=settings["segment_bytes"], max_bytes=settings["max_bytes"]
        )
        self._facts: dict[str, Any] = {**settings["facts"], "pid": os.getpid()}
        self._unowned_seconds: float = settings["unowned_seconds"]
        self._listener = _listen()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._clients: dict[int, _Client] = {}
        self._fence = 0
        self._ids: dict[bytes, None] = {}
        self._line = bytearray()
        self._agent = agent_process.AgentProcess(
            settings["command"], cwd=settings["cwd"], supervisor=settings["supervisor"]
        )
        for each in (self._agent.output, self._agent.errors):
            self._selector.register(each, selectors.EVENT_READ)
        self._streams = {self._agent.output, self._agent.errors}
        self._watched_input: int | None = None
        self._last_owned = time.monotonic()
        self._ended_at: float | None = None
        self._is_broken = False
        self._why = ""
        """Why the agent was ended, if it was."""
        signal.signal(signal.SIGTERM, self._terminate)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        self._write_facts()

    def serve(self) -> None:
        """Serve until the agent has ended and the readers have read its end, or time is up."""
        while not self._is_over():
            # An agent that has closed its output is about to end.
            seconds = _TICK_SECONDS if self._streams else _END_SECONDS
            for key, events in self._selector.select(seconds):
                self._handle(key.fd, events)
            now = time.monotonic()
            self._agent.tick(now)
            if self._agent.status is not None and not self._streams and self._ended_at is None:
                self._end(now)
            if self._is_owned:
                self._last_owned = now
            elif now - self._last_owned > self._unowned_seconds:
                self._stop("no owner for too long")
        self._write_facts()
        for client in list(self._clients.values()):
            self._drop(client)
        with suppress(OSError):
            os.unlink(places.SOCKET)

    def _is_over(self) -> bool:
        if self._ended_at is None:
            return False
        is_read = not any(client.is_behind for client in self._clients.values())
        return is_read or time.monotonic() - self._ended_at > _FAREWELL_SECONDS

    @property
    def _is_owned(self) -> bool:
        return any(client.fence == self._fence != 0 for client in self._clients.values())

    def _handle(self, descriptor: int, events: int) -> None:
        if descriptor == self._listener.fileno():
            self._accept()
        elif descriptor in self._streams:
            self._read_agent(descriptor)
        elif descriptor == self._watched_input:
            self._agent.flush()
            self._watch_input()
        elif (client := self._clients.get(descriptor)) is not None:
            try:
                if events & selectors.EVENT_READ:
                    self._read_client(client)
                if client.connection.fileno() >= 0:
                    client.flush()
                    self._watch(client)
            except (OSError, BrokenRequest):
                self._drop(client)

    # The agent.

    def _read_agent(self, descriptor: int) -> None:
        data = self._agent.read(descriptor)
        if data is None:
            return
        if not data:
            self._selector.unregister(descriptor)
            self._streams.discard(descriptor)
            if descriptor == self._agent.output and self._line:
                self._keep(records.OUTPUT, bytes(self._line))
                self._line.clear()
        elif descriptor == self._agent.errors:
            self._keep(records.ERRORS, data)
        else:
            self._keep_lines(data)
        self._publish()

    def _keep_lines(self, data: bytes) -> None:
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            lines = bytes(self._line) + whole if self._line else whole
            self._line.clear()
            self._keep(records.OUTPUT, lines, 1 + whole.count(b"\n"))
        self._line += rest
        while len(self._line) >= _PART_BYTES:
            self._keep(records.PART, bytes(self._line[:_PART_BYTES]))
            del self._line[:_PART_BYTES]

    def _keep(self, kind: bytes, content: bytes, count: int = 1) -> None:
        """Put a record into the journal. What cannot be kept must not be seen, so a full disk ends the agent."""
        if self._is_broken and kind != records.ENDED:
            return  # a record after a lost one would hide the loss
        try:
            self._journal.append(kind, content, time.time_ns(), count)
        except OSError as problem:
            self._is_broken = True
            self._stop(f"the journal cannot be written: {problem.strerror}")

    def _end(self, now: float) -> None:
        self._ended_at = now
        self._keep(records.ENDED, f"{self._agent.status} {self._why}".encode())
        self._publish()

    def _terminate(self, _number: int, _frame: object) -> None:
        self._stop("SIGTERM")

    def _stop(self, why: str) -> None:
        self._why = self._why or why
        self._agent.stop()
        self._watch_input()

    def _watch_input(self) -> None:
        """Look at the agent's input only while there is something to write: otherwise it is always ready."""
        wanted = self._agent.input
        if wanted == self._watched_input:
            return
        if self._watched_input is not None:
            with suppress(KeyError, ValueError, OSError):  # it may be closed already
                self._selector.unregister(self._watched_input)
        if wanted is not None:
            self._selector.register(wanted, selectors.EVENT_WRITE)
        self._watched_input = wanted

    # The clients.

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        if len(self._clients) >= _MOST_CLIENTS or not self._may_connect(connection):
            connection.close()
            return
        connection.setblocking(False)
        client = _Client(connection)
        self._clients[connection.fileno()] = client
        self._selector.register(connection, selectors.EVENT_READ)

    def _may_connect(self, connection: socket.socket) -> bool:
        """Only this user's programs, and none that the agent started: it could answer its own questions."""
        if sys.platform != "linux":
            return True  # the rights of the socket's folder keep other users out
        option = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, user, _ = struct.unpack("3i", option)
        return user in (0, os.getuid()) and not _is_below(pid, os.getpid())

    def _read_client(self, client: _Client) -> None:
        try:
            data = client.connection.recv(_CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._drop(client)
            return
        for request in client.requests.receive(data):
            self._answer(client, request)

    def _answer(self, client: _Client, request: RelayRequest) -> None:
        if request.verb == b"attach":
            self._attach(client, request)
        elif request.verb == b"send":
            self._send(client, request)
        elif request.verb == b"end":
            if client.fence and client.fence == request.number == self._fence:
                self._agent.close_input()
                self._watch_input()
        elif request.verb == b"stop":
            self._stop("a client stopped it")
        else:
            client.tell(records.STATUS, json.dumps(self._status()).encode())

    def _attach(self, client: _Client, request: RelayRequest) -> None:
        if client.reader is not None:
            raise BrokenRequest("attached already")
        if request.name == b"w":
            self._fence += 1
            client.fence = self._fence
            self._keep(records.WRITER, b"%d" % self._fence)
        first = request.number or self._journal.next
        client.reader = journal.JournalReader(self._journal, first)
        facts = (self._journal.first, self._journal.next, client.fence, self._agent.pid)
        client.tell(records.GREETING, b"%d %d %d %d" % facts)
        if first < self._journal.first:
            client.tell(records.GAP, b"%d" % (self._journal.first - 1))
        self._publish()

    def _send(self, client: _Client, request: RelayRequest) -> None:
        refusal = ""
        if not client.fence:
            refusal = "it is attached to read only"
        elif client.fence != self._fence or request.number != self._fence:
            refusal = "another client has taken over"
        elif not self._agent.takes_input:
            refusal = "the agent reads nothing more"
        elif self._agent.is_full:
            refusal = "the agent does not read what it is sent"
        if refusal:
            client.tell(records.REFUSED, request.name + b" " + refusal.encode())
            return
        if request.name in self._ids:
            return  # its record is in the journal
        self._ids[request.name] = None
        if len(self._ids) > _MOST_IDS:
            del self._ids[next(iter(self._ids))]
        kept = self._journal.next
        self._keep(records.INPUT, request.name + b" " + request.line)
        if self._journal.next > kept:  # else the disk is full, and all comes to an end
            self._agent.write(request.line + b"\n")
            self._watch_input()
        self._publish()

    def _publish(self) -> None:
        """Send what is new to everyone who can take it."""
        for client in list(self._clients.values()):
            try:
                client.flush()
                self._watch(client)
            except OSError:
                self._drop(client)

    def _watch(self, client: _Client) -> None:
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.is_behind else 0)
        if self._selector.get_key(client.connection).events != events:
            self._selector.modify(client.connection, events)

    def _drop(self, client: _Client) -> None:
        descriptor = client.connection.fileno()
        if self._clients.pop(descriptor, None) is not None:
            self._selector.unregister(client.connection)
            client.close()

    # What is known.

    def _status(self) -> dict[str, Any]:
        return {
            **self._facts,
            "agent_pid": self._agent.pid,
            "first": self._journal.first,
            "next": self._journal.next,
            "readers": sum(client.reader is not None for client in self._clients.values()),
            "is_owned": self._is_owned,
            "exit_code": self._agent.status,
            "why": self._why,
        }

    def _write_facts(self) -> None:
        """Replace the file as a whole. Without room for it, the relay still works."""
        with suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
            file = os.open(_NEW, flags, 0o600)
            try:
                os.write(file, json.dumps(self._status()).encode())
            finally:
                os.close(file)
            os.replace(_NEW, places.METADATA)


def _listen() -> socket.socket:
    """The socket in the current folder: a relative path, because an absolute one may be too long for the kernel."""
    before = os.umask(0o177)
    try:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(places.SOCKET)
        listener.listen(64)
        listener.setblocking(False)
    finally:
        os.umask(before)
    return listener


def _is_below(pid: int, root: int) -> bool:
    """Whether a process is a descendant of another one. One that cannot be looked at counts as such."""
    seen: set[int] = set()
    while pid > 1 and pid not in seen:
        seen.add(pid)
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                data = file.read()
        except OSError:
            return True
        pid = int(data[data.rfind(b")") + 2 :].split()[1])
        if pid == root:
            return True
    return False


def main() -> None:
    """Read the settings, become a process of our own, say on standard output that the relay serves, and serve."""
    settings = json.loads(sys.stdin.buffer.read())
    if os.fork():
        os._exit(0)  # so that the program that started the relay has no child to wait for
    os.umask(0o077)
    os.chdir(settings["folder"])
    relay = Relay(settings)
    sys.stdout.write(f"ready {os.getpid()}\n")
    sys.stdout.flush()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(null, number)
    relay.serve()
