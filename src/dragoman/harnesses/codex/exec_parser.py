"""Reading ``codex exec --json`` as it is since 0.44, and ``--experimental-json`` of 0.42.

| line | becomes |
|---|---|
| thread.started, session.created | session_started |
| turn.started | turn_started |
| turn.completed | usage and turn_ended |
| turn.failed | turn_ended |
| item.started, item.updated, item.completed | see items |
| error | notice: it may be about a retry, and ``turn.failed`` follows if it was not |

The experimental form has no turns: the first item opens one, the end of the stream closes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.harnesses.codex.failures import turn_error
from dragoman.harnesses.codex.item_shape import Item
from dragoman.harnesses.codex.items import tell_item
from dragoman.harnesses.codex.stream import StreamParser
from dragoman.harnesses.telling.teller import Teller
from dragoman.model.usage import Usage

CHANNEL: Final = "exec"


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


class Failure(msgspec.Struct, frozen=True, gc=False):
    message: str = ""


class TurnFailed(ExecEvent, tag="turn.failed"):
    error: Failure | None = None


class ItemStarted(ExecEvent, tag="item.started"):
    item: Item


class ItemUpdated(ItemStarted, tag="item.updated"):
    pass


class ItemCompleted(ItemStarted, tag="item.completed"):
    pass


class ErrorLine(ExecEvent, tag="error"):
    message: str = ""


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
)
_decode = msgspec.json.Decoder(_Line).decode


class ExecParser(StreamParser):
    """One run of ``codex exec``."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self._teller = Teller(self._out, "codex")
        self._has_agents = False

    def _read(self, line: bytes) -> None:
        event = _decode(line)
        if _TELL[type(event)](self, event) is False:
            self._unknown(line, f"item {event.item.type}" if isinstance(event, ItemStarted) else "")

    def _finish(self) -> None:
        self._teller.leave()

    def _speaker(self) -> Teller:
        return self._teller

    def thread_started(self, event: ThreadStarted) -> None:
        self._teller.session_id = event.thread_id
        self._begin_session()

    def session_created(self, event: SessionCreated) -> None:
        self._teller.says_ends = False
        self._teller.session_id = event.session_id or event.id
        self._teller.begin_session(model=event.model)

    def turn_started(self, event: TurnStarted) -> None:
        self._teller.says_ends = True
        if self._teller.in_turn and self._has_agents:
            self._teller.twin("turn: a sub-agent's, whose words come between (to 0.107)")
        else:
            self._begin_turn()

    def turn_completed(self, event: TurnCompleted) -> None:
        if event.usage is not None:
            self._count(event.usage)
        self._teller.end_turn("completed")

    def turn_failed(self, event: TurnFailed) -> None:
        self._teller.end_turn("failed", turn_error(event.error.message if event.error else ""))

    def item_started(self, event: ItemStarted) -> bool:
        if event.item.type == "collab_tool_call":
            self._has_agents = True
        return tell_item(self._teller, CHANNEL, event.item, done=False)

    def item_completed(self, event: ItemCompleted) -> bool:
        return tell_item(self._teller, CHANNEL, event.item, done=True)

    def error(self, event: ErrorLine) -> None:
        teller, message = self._teller, event.message
        if message.startswith(("Reconnecting", "stream error")) or "retrying" in message:
            teller.notice(CHANNEL, "warning", message, will_retry=True)
            return
        if not teller.says_ends:
            # Nothing else will say that the turn failed.
            if not teller.in_turn:
                teller.begin_turn()
            teller.fail_turn(turn_error(message))
        else:
            teller.notice(CHANNEL, "error", message)

    # What somebody who started the run knows better than the stream: see exec_run.

    def _begin_session(self) -> None:
        self._teller.begin_session()

    def _begin_turn(self) -> None:
        self._teller.begin_turn()

    def _count(self, total: Usage) -> None:
        self._teller.usage(total, None)


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
    ErrorLine: ExecParser.error,
}
