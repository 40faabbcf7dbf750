"""Core events that come as notifications: ``codex/event/<type>`` and ``codex/event``.

App-server v1 and the MCP server send only these; up to 0.114 the app-server also sends them beside v2.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from dragoman.harnesses.codex.app_server.documented import Spelled
from dragoman.harnesses.codex.app_server.sessions import ConnectionSessions
from dragoman.harnesses.codex.app_server.shapes import ABSENT, Params
from dragoman.harnesses.codex.events.conversation_shapes import (
    AgentMessage,
    AgentReasoning,
    ItemCompleted,
    ItemStarted,
    SessionConfigured,
    TaskComplete,
    TaskStarted,
    TurnAborted,
)
from dragoman.harnesses.codex.events.old import camel_fields, is_spelled_in_camel_case, read_event
from dragoman.harnesses.codex.events.shapes import AnyEvent
from dragoman.harnesses.codex.threads import Thread
from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.wire.jsonl import UNREADABLE

_QUIET: Final = (SessionConfigured,)
_WHOLE: Final = (AgentMessage, AgentReasoning, TaskComplete, TurnAborted)
"""Events that repeat the deltas as a whole, or that mark their end."""
_WITH_ITEM: Final = (ItemStarted, ItemCompleted)
_CAMEL: Final = re.compile(b'"(?:%b)"' % "|".join(camel_fields(AnyEvent)).encode())
"""Keys of events as documents spell them; a release writes them in snake_case."""
_event = msgspec.json.Decoder(AnyEvent).decode


class CoreEvents:
    """The core events of all sessions on one connection."""

    def __init__(self, sessions: ConnectionSessions, spelled: Spelled) -> None:
        self._sessions = sessions
        self._spelled = spelled
        self._last: bytes = b""

    def tell(self, name: str, params: Params) -> bool:
        if params.msg is ABSENT:
            return False
        self._last = bytes(params.msg)
        event = self._read_event(params.msg, name)
        if event is None:
            return False
        thread = self._event_thread(event, params)
        turn_id = as_str(params.id)
        if turn_id in thread.given_up:
            thread.session.duplicate("event: of a turn that was given up")
            return True
        thread.events.turn_id = turn_id if turn_id and not turn_id.startswith("auto-") else None
        session = thread.session
        if not isinstance(event, _QUIET):
            self._sessions.introduce(thread)
        starts = isinstance(event, TaskStarted)
        if isinstance(event, _WHOLE):
            self._spelled.finish(thread)
        known = thread.events.tell(event)
        if starts or session.in_turn:
            thread.tell_asked()
        return known

    def _read_event(self, msg: msgspec.Raw, name: str) -> AnyEvent | None:
        try:
            event = _event(msg)
        except UNREADABLE:
            event = None
        if event is None or (isinstance(event, _WITH_ITEM) and not event.item.type):
            return read_event(as_dict(msgspec.json.decode(msg)), name or None)
        if _CAMEL.search(msg):
            given = as_dict(msgspec.json.decode(msg))
            if is_spelled_in_camel_case(given):
                return read_event(given, name or None) or event
        return event

    def _event_thread(self, event: AnyEvent, params: Params) -> Thread:
        if isinstance(event, SessionConfigured):
            return self._sessions.threads.get(event.session_id or event.thread_id)
        thread_id = params.thread_id or params.conversation_id
        if thread_id is None and params.msg is not ABSENT:
            inner = as_dict(msgspec.json.decode(params.msg))
            meta = as_dict(params.meta)
            thread_id = (
                as_str(meta.get("threadId"))
                or as_str(inner.get("threadId"))
                or as_str(inner.get("thread_id"))
            )
        return self._sessions.threads.get(thread_id)

    def tell_doubled(self, method: str, params: Params) -> bool:
        """0.20 sends each event a second time, under its own bare name."""
        if params.msg is not ABSENT and bytes(params.msg) == self._last:
            self._sessions.out.duplicate("event: sent twice")
            return True
        return self.tell(method, params)
