"""Reading what ``copilot --headless --stdio`` says: events in JSON-RPC notifications, for many sessions.

Between the messages there are ``Content-Length`` headers; a recording leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.copilot.events.reader import EventReader
from dragoman.harnesses.copilot.events.shapes import Event
from dragoman.harnesses.copilot.reading import CopilotEventsParser
from dragoman.wire.loose import as_dict, as_str

EVENT: Final = "session.event"
_STATES: Final = frozenset(("session.lifecycle", "host.event"))


class Rpc(msgspec.Struct, gc=False):
    """A request, a notification or an answer."""

    jsonrpc: Any
    id: Any = None
    method: str | None = None
    params: Any = None
    result: Any = None
    error: Any = None


_decode: Final = msgspec.json.Decoder(Rpc).decode


class CopilotServerParser(CopilotEventsParser):
    """One process with all of its sessions."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self.readers: dict[str, EventReader] = {}
        self._sent: dict[str, str] = {}
        """The methods of requests whose answers are still to come."""

    def session(self, session_id: str) -> EventReader:
        """The session of this id, which may be new."""
        found = self.readers.get(session_id)
        if found is None:
            if not self.readers:
                found = self.reader
                found.main.assembler.session_id = session_id
            else:
                found = EventReader(self._out, session_id)
            self.readers[session_id] = found
        return found

    def receive_sent(self, lines: Iterable[bytes]) -> None:
        """Take lines that we send."""
        for line in lines:
            self._out.line += 1
            self._read_sent(line)

    def _read_own(self, line: bytes) -> None:
        rpc = _decode(line)
        if rpc.method == EVENT:
            self._event(rpc, line)
        elif rpc.method in _STATES:
            self._speaker().duplicate(f"state: {rpc.method}")
        elif rpc.method is not None:
            self._request(rpc, line)
        else:
            self._answer(rpc)

    def _event(self, rpc: Rpc, line: bytes) -> None:
        params = as_dict(rpc.params)
        try:
            event = msgspec.convert(params.get("event"), Event)
        except msgspec.ValidationError:
            self._unknown(line, EVENT)
            return
        reader = self.session(as_str(params.get("sessionId")) or "")
        if not reader.report(event):
            self._unknown(line, event.type)

    def _request(self, rpc: Rpc, line: bytes) -> None:
        """A request of either side, in a stream that does not say whose it is."""
        if rpc.id is not None and _is_ours(rpc.method or ""):
            self._note_sent(rpc)
        else:
            self._unknown(line, rpc.method or "request")

    def _read_sent(self, line: bytes) -> None:
        try:
            rpc = _decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            self._speaker().duplicate("journal: the input")
            return
        if rpc.method is None:
            self._speaker().duplicate("request: answered")
        else:
            self._note_sent(rpc)

    def _note_sent(self, rpc: Rpc) -> None:
        self._sent[str(rpc.id)] = rpc.method or ""
        params = as_dict(rpc.params)
        session_id = as_str(params.get("sessionId"))
        if session_id is not None and rpc.method in ("session.create", "session.resume"):
            self.session(session_id)
        self._speaker().duplicate(f"request: {rpc.method}")

    def _answer(self, rpc: Rpc) -> None:
        method = self._sent.pop(str(rpc.id), "")
        message = as_str(as_dict(rpc.error).get("message"))
        if message is not None and method in ("session.send", "session.create", "session.resume"):
            self._speaker().notice("answer", "error", message)
        else:
            self._speaker().duplicate("answer: to a request")

    def _finish(self, ending: Ending) -> None:
        for session in self.all():
            session.close_turn(may_go_on=ending == "left")

    def all(self) -> Iterator[Any]:
        """Every session that was named, and its sub-agents."""
        for reader in self.readers.values() or (self.reader,):
            yield from reader.all()

    def _speaker(self) -> SessionAssembler:
        return self.reader.main.assembler


def _is_ours(method: str) -> bool:
    return method.startswith(("session.", "sessions.", "runtime.", "models.", "account.")) or (
        method in ("connect", "ping")
    )
