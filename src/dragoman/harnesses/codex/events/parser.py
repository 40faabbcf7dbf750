"""Reading streams of bare core events: ``codex exec --json`` up to 0.42, and ``codex proto``.

Each line is ``{"id": <turn>, "msg": <event>}``. ``exec`` puts two lines before them: a summary of its
configuration and the prompt. In ``proto`` the client's submissions, ``{"id", "op"}``, may be in the
recording, too, each line then inside ``{"dir", "t", "msg"}``.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.events.conversation_shapes import (
    ErrorEvent,
    SessionConfigured,
    ShutdownComplete,
    TaskComplete,
    TaskStarted,
    TokenCount,
    TurnAborted,
)
from dragoman.harnesses.codex.events.old import read_event
from dragoman.harnesses.codex.events.shapes import AnyEvent
from dragoman.harnesses.codex.items.shape import user_input
from dragoman.harnesses.codex.questions import decision_of
from dragoman.harnesses.codex.stream import StreamParser, native_type
from dragoman.harnesses.codex.threads import Thread
from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.harnesses.contract.reading import Ending
from dragoman.wire.envelope import unwrap


class _EventLine(msgspec.Struct, gc=False):
    msg: AnyEvent
    id: str | None = None


_decode = msgspec.json.Decoder(_EventLine).decode
_BETWEEN_TURNS: Final = (
    SessionConfigured,
    TaskComplete,
    TurnAborted,
    ErrorEvent,
    TokenCount,
    ShutdownComplete,
)
"""What may come between a prompt and the start of its turn."""
_HEADER_KEYS: Final = frozenset(("workdir", "model", "provider", "sandbox", "approval"))


class EventsParser(StreamParser):
    """One run of an old release."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self._thread = Thread(self._out, None)
        self._thread.events.starts_have_ends = False
        self._asking: dict[str, str] = {}

    def _read(self, line: bytes) -> None:
        line, _sent = unwrap(line)
        event = _decode(line)
        self._tell(line, event.id, event.msg)

    def _tell(self, line: bytes, turn_id: str | None, event: AnyEvent) -> None:
        thread = self._thread
        thread.events.turn_id = turn_id or None
        if isinstance(event, SessionConfigured):
            thread.session.session_id = event.session_id
        starts = isinstance(event, TaskStarted)
        if not starts and not isinstance(event, _BETWEEN_TURNS):
            thread.tell_asked(turn_id)
        if not thread.events.tell(event):
            self._unknown(line, "item")
        if starts:
            thread.tell_asked(turn_id)

    def _say_held(self) -> None:
        self._thread.release()

    def _finish(self, ending: Ending) -> None:
        self._thread.finish()

    def _speaker(self) -> SessionAssembler:
        return self._thread.session

    def _odd(self, line: bytes, value: Any) -> None:
        inner, _sent = unwrap(line)
        if inner is not line:
            value = as_dict(value).get("msg")
        given = as_dict(value)
        if "op" in given:
            self._submission(inner, as_str(given.get("id")), as_dict(given["op"]))
        elif "prompt" in given and "msg" not in given:
            self._thread.ask(as_str(given["prompt"]) or "", [])
        elif "msg" not in given and _HEADER_KEYS & given.keys():
            model, cwd = as_str(given.get("model")), as_str(given.get("workdir"))
            self._thread.session.begin_session(model=model, cwd=cwd)
        elif (event := read_event(as_dict(given.get("msg")), None)) is not None:
            self._tell(inner, as_str(given.get("id")), event)
        else:
            self._unknown(inner, native_type(given.get("msg", value)))

    def _submission(self, line: bytes, turn_id: str | None, op: dict[str, Any]) -> None:
        """What the client asked for."""
        kind = as_str(op.get("type")) or ""
        if kind in ("user_input", "user_turn"):
            self._thread.ask(*user_input(op.get("items")), turn_id)
        elif kind in ("exec_approval", "patch_approval"):
            self._thread.settle_approval(as_str(op.get("id")), decision_of(op.get("decision")))
        elif kind in ("interrupt", "shutdown"):
            self._out.duplicate("request: what follows carries it")
        else:
            self._unknown(line, f"op {kind}")
