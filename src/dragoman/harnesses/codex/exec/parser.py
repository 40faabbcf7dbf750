"""Reading ``codex exec --json`` since 0.44, and ``--experimental-json`` of 0.42.

| line | becomes |
|---|---|
| thread.started, session.created | session_started |
| turn.started | turn_started |
| turn.completed | usage and turn_ended |
| turn.failed | turn_ended |
| item.started, item.updated, item.completed | see items |
| error | notice: it may be about a retry, and ``turn.failed`` follows if it was not |
| dragoman.run | prompt, where the turn begins: what we journal of a run that we started |

The lines of a journal have a wrapper with a time, which the stream itself lacks: from it messages
get their time, and calls how long they took.

The experimental form has no turns: the first item opens one, the end of the stream closes it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.failures import error_in, turn_error, words_of
from dragoman.harnesses.codex.items.dispatch import tell_item
from dragoman.harnesses.codex.items.shape import ThreadItem
from dragoman.harnesses.codex.stream import StreamParser
from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.harnesses.contract.reading import Ending
from dragoman.model.usage import Usage
from dragoman.wire.envelope import time_on, unwrap

CHANNEL: Final = "exec"
_ERROR_KEYS: Final = frozenset(("type", "message", "details"))


class ExecEvent(msgspec.Struct, gc=False, tag_field="type"):
    """Any line."""


class ThreadStarted(ExecEvent, tag="thread.started"):
    thread_id: str | None = None


class SessionCreated(ExecEvent, tag="session.created"):
    session_id: str | None = None
    id: str | None = None
    model: str | None = None


class TurnStarted(ExecEvent, tag="turn.started"):
    pass


class TurnCompleted(ExecEvent, tag="turn.completed"):
    usage: Usage | None = None


class TurnFailed(ExecEvent, tag="turn.failed"):
    error: Any = None
    message: Any = None


class ItemStarted(ExecEvent, tag="item.started"):
    item: ThreadItem


class ItemUpdated(ItemStarted, tag="item.updated"):
    pass


class ItemCompleted(ItemStarted, tag="item.completed"):
    pass


class ErrorLine(ExecEvent, tag="error"):
    message: Any = None
    details: Any = None


class RunOpened(ExecEvent, tag="dragoman.run", kw_only=True):
    """What a journal of ours keeps of how a run was started."""

    prompt: str = ""
    images: list[str] = []
    version: str | None = None
    model: str | None = None
    cwd: str | None = None
    fork: str | None = None


_Line: TypeAlias = (
    ThreadStarted
    | SessionCreated
    | TurnStarted
    | TurnCompleted
    | TurnFailed
    | ItemStarted
    | ItemUpdated
    | ItemCompleted
    | ErrorLine
    | RunOpened
)
_decode = msgspec.json.Decoder(_Line).decode


class ExecParser(StreamParser):
    """One run of ``codex exec``."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self._session = SessionAssembler(self._out, "codex")
        self._has_agents = False
        self._opened: RunOpened | None = None
        self._has_asked = True
        self._began: dict[str, datetime] = {}
        """When each item began, where that is known."""

    def receive_time(self, at: datetime) -> None:
        """The lines to come arrive at this time."""
        self._out.at = at

    def _read(self, line: bytes) -> None:
        if (at := time_on(line)) is not None:
            self._out.at = at
        line, _ = unwrap(line)
        event = _decode(line)
        if isinstance(event, ErrorLine):
            self.error(event, line)
        elif _TELL[type(event)](self, event) is False:
            self._unknown(line, f"item {event.item.type}" if isinstance(event, ItemStarted) else "")

    def _finish(self, ending: Ending) -> None:
        if not self._has_asked:
            self._begin_turn()
        self._session.leave()

    def _speaker(self) -> SessionAssembler:
        return self._session

    def opened(self, event: RunOpened) -> None:
        self._opened, self._has_asked = event, False
        self._session.duplicate("run: emitted where its turn begins")

    def thread_started(self, event: ThreadStarted) -> None:
        self._session.session_id = event.thread_id
        self._begin_session()

    def session_created(self, event: SessionCreated) -> None:
        self._session.says_ends = False
        self._session.session_id = event.session_id or event.id
        self._session.begin_session(model=event.model)

    def turn_started(self, event: TurnStarted) -> None:
        self._session.says_ends = True
        if self._session.in_turn and self._has_agents:
            self._session.duplicate("turn: a sub-agent's, whose words come between (to 0.107)")
        else:
            self._begin_turn()

    def turn_completed(self, event: TurnCompleted) -> None:
        if event.usage is not None:
            self._count(event.usage)
        self._session.end_turn("completed")

    def turn_failed(self, event: TurnFailed) -> None:
        error = event.error if event.error is not None else event.message
        self._session.end_turn("failed", error_in(error))

    def item_started(self, event: ItemStarted) -> bool:
        if event.item.type == "collab_tool_call":
            self._has_agents = True
        if self._out.at is not None:
            self._began.setdefault(event.item.id, self._out.at)
        return tell_item(self._session, CHANNEL, event.item, done=False)

    def item_completed(self, event: ItemCompleted) -> bool:
        began, now = self._began.pop(event.item.id, None), self._out.at
        if began is not None and now is not None and event.item.duration_ms is None:
            event.item.duration_ms = round((now - began).total_seconds() * 1000)
        return tell_item(self._session, CHANNEL, event.item, done=True)

    def error(self, event: ErrorLine, line: bytes) -> None:
        session = self._session
        message = as_str(event.message) or line.strip().decode(errors="replace")
        if as_str(event.message) and (more := _besides(event, line)) is not None:
            message = f"{message}\n{words_of(more)}"
        if message.startswith(("Reconnecting", "stream error")) or "retrying" in message:
            session.notice(CHANNEL, "warning", message, will_retry=True)
            return
        if not session.says_ends:
            # No later line reports that the turn failed.
            if not session.in_turn:
                session.begin_turn()
            session.fail_turn(turn_error(message))
        else:
            session.notice(CHANNEL, "error", message)

    # What the process that started the run knows better than the stream: see exec/run.py.

    def _begin_session(self) -> None:
        known = self._opened or RunOpened()
        self._session.begin_session(
            version=known.version,
            model=known.model,
            cwd=known.cwd,
            parent_session_id=known.fork,
        )

    def _begin_turn(self) -> None:
        self._session.begin_turn()
        if self._opened is not None and not self._has_asked:
            self._has_asked = True
            self._session.prompt(CHANNEL, self._opened.prompt, self._opened.images)

    def _count(self, total: Usage) -> None:
        self._session.usage(total, None)


_Tell: TypeAlias = Callable[[ExecParser, Any], bool | None]
_TELL: Final[dict[type[ExecEvent], _Tell]] = {
    ThreadStarted: ExecParser.thread_started,
    SessionCreated: ExecParser.session_created,
    TurnStarted: ExecParser.turn_started,
    TurnCompleted: ExecParser.turn_completed,
    TurnFailed: ExecParser.turn_failed,
    ItemStarted: ExecParser.item_started,
    ItemUpdated: ExecParser.item_started,
    ItemCompleted: ExecParser.item_completed,
    RunOpened: ExecParser.opened,
}


def _besides(event: ErrorLine, line: bytes) -> Any:
    """What an error line contains besides its message, under any keys."""
    rest = {
        name: value
        for name, value in as_dict(msgspec.json.decode(line)).items()
        if name not in _ERROR_KEYS and value is not None
    }
    if not rest:
        return event.details
    return rest if event.details is None else {**rest, "details": event.details}
