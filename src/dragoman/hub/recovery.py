"""After a crash: messages that were received but not stored are recovered, and what was cut off gets an end.

The lines of a connection that was cut off are read again; the messages after the last entry become
entries. Then every turn still open is ended by us, with its calls and its questions, because the process
that worked on it is gone. The session itself is resumed with its next prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from dragoman.hub.live.accepted import is_prompt
from dragoman.hub.live.registry import LiveRegistry
from dragoman.hub.live.source import Source
from dragoman.hub.live.state import LiveState
from dragoman.hub.shapes import Entry
from dragoman.hub.stored_lines import replay
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Delta,
    Message,
    Prompt,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
    Unknown,
)
from dragoman.store.live.reading import AcceptedPrompt, JournalLine, readable

_CUT: Final = TurnError(
    kind="port_exit",
    message="the server that ran this turn was stopped in the middle of it",
    retryable=True,
)
_NOT_BEGUN: Final = TurnError(
    kind="port_exit",
    message="the server was stopped before the agent started this turn; send it again",
    retryable=True,
)
_PAGE: Final = 500


def recover(registry: LiveRegistry) -> None:
    """Run once, before anything new is received."""
    was_at_work = bool(registry.accepted.left()) or any(
        _is_at_work(registry, live) for live in registry.lives.values()
    )
    for connection, harness in registry.store.reading.cut_off():
        if was_at_work:  # it takes as long as reading all its lines does
            _hear_the_rest(registry, connection, harness)
        registry.store.end_connection(connection)
    for session_id, approval_id in registry.store.reading.approvals():
        registry.store.drop_approval(session_id, approval_id)
    registry.store.writer.flush()
    for live in registry.lives.values():
        _add_prompt(registry, live)
        _end_turn(registry, live)
    registry.store.writer.flush()
    for note in registry.accepted.left():
        _report(registry, note)


def _report(registry: LiveRegistry, note: AcceptedPrompt) -> None:
    """A prompt was accepted, and nothing more is known: it becomes a turn that failed."""
    live = registry.lives.get(note.session_id)
    if live is None or _was_told(registry, live, note):
        registry.accepted.drop(note)
        return
    # Numbers start again when nothing is noted; the newest entry is another one each time.
    turn_id, was_asked = f"lost-{note.seq}-{note.number}", live.info.was_asked
    facts: dict[str, Any] = {"session_id": live.native_id, "turn_id": turn_id}
    with registry.store.writer.together():
        registry.add(live, TurnStarted(**facts), ours=True)
        registry.add(live, Prompt(**facts, text=note.text, images=note.images), ours=True)
        registry.add(live, TurnEnded(**facts, outcome="failed", error=_NOT_BEGUN), ours=True)
        registry.accepted.drop(note)
        if note.key is not None:
            _name(registry, note.key, turn_id)
    live.set(was_asked=was_asked)  # the harness never received it
    registry.changed(live)


def _add_prompt(registry: LiveRegistry, live: LiveState) -> None:
    """Add the accepted prompt to the turn that it started, if the turn was stored before its prompt."""
    began = _open_turn(registry, live)
    if began is None:
        return
    notes = [note for note in registry.accepted.left() if note.session_id == live.id]
    if not notes or notes[0].seq >= began.seq:
        return
    page = registry.store.reading.entries(live.number, live.id, after=began.seq, limit=_PAGE)
    if any(isinstance(entry.message, Prompt) for entry in page):
        return
    note, turn_id = notes[0], began.message.turn_id
    prompt = Prompt(session_id=live.native_id, turn_id=turn_id, text=note.text, images=note.images)
    registry.add(live, prompt, ours=True)
    registry.accepted.drop(note)
    if note.key is not None and turn_id is not None:
        _name(registry, note.key, turn_id)


def _name(registry: LiveRegistry, key: str, turn_id: str) -> None:
    """Record the turn that an idempotency key started, unless that is known."""
    used = registry.store.reading.key(key)
    if used is not None and not used.session_id:
        registry.store.name_key(key, turn_id)


def _was_told(registry: LiveRegistry, live: LiveState, note: AcceptedPrompt) -> bool:
    """Whether the prompt became an entry, and only its note was left behind."""
    cursor = note.seq
    while page := registry.store.reading.entries(live.number, live.id, after=cursor, limit=_PAGE):
        cursor = page[-1].seq
        for entry in page:
            if isinstance(entry.message, Prompt) and is_prompt(note, entry.message):
                return True
    return False


def _hear_the_rest(registry: LiveRegistry, connection: int, harness: str) -> None:
    stored: dict[int, list[Message]] = {}
    for message in map(readable, registry.store.reading.said(connection)):
        stored.setdefault(message.line, []).append(_timeless(message))
    last = max(stored, default=0)
    source = Source(connection, harness)
    for message in replay(harness, _noting_sent(registry, source)):
        live = registry.find(message.session_id) or registry.adopt(message)
        if isinstance(message, Delta):
            if live is not None:
                live.unfinished.add(message)
            continue
        is_stored = _timeless(message) in stored.get(message.line, [])
        # After the last entry everything is new; before it only the messages of a session that was just
        # being opened. Answers to our own requests are unknown to a later reader.
        if is_stored or isinstance(message, Unknown) or (message.line <= last and live is not None):
            if live is not None:
                live.unfinished.whole(message)
        else:
            registry.publish(message, source)


def _noting_sent(registry: LiveRegistry, source: Source) -> Iterator[JournalLine]:
    for number, line in enumerate(registry.store.reading.lines(source.number), 1):
        if line.sent:
            source.steering_lines.add(number)
        yield line


def _timeless(message: Message) -> Message:
    return msgspec.structs.replace(message, at=None)


def _end_turn(registry: LiveRegistry, live: LiveState) -> None:
    """Report what is over, in a session that was working."""
    store = registry.store
    began = _open_turn(registry, live)
    if began is None:
        if live.was_cut and not registry.accepted.of(
            live.id
        ):  # before the agent had taken up the turn
            live.rest = "failed"
            live.set(error=_CUT.message)
            registry.changed(live)
        return
    calls: dict[str, ToolCall] = {}
    asked: dict[str, ApprovalRequested] = {}
    cursor = began.seq
    while page := store.reading.entries(live.number, live.id, after=cursor, limit=_PAGE):
        cursor = page[-1].seq
        for entry in page:
            match entry.message:
                case ToolCall() as message:
                    calls[message.call_id] = message
                case ToolResult() as message:
                    calls.pop(message.call_id, None)
                case ApprovalRequested() as message:
                    asked[message.approval_id] = message
                case ApprovalSettled() as message:
                    asked.pop(message.approval_id, None)
                case _:
                    continue
    ends: list[Message] = [
        ApprovalSettled(
            session_id=request.session_id,
            turn_id=request.turn_id,
            approval_id=request.approval_id,
            decision="abandoned",
        )
        for request in asked.values()
    ]
    ends += [
        ToolResult(
            session_id=call.session_id,
            turn_id=call.turn_id,
            call_id=call.call_id,
            output=live.unfinished.output(call.session_id, call.call_id),
            status="abandoned",
        )
        for call in calls.values()
    ]
    turn_id = began.message.turn_id
    ends.append(TurnEnded(session_id=live.native_id, turn_id=turn_id, outcome="failed", error=_CUT))
    for message in ends:
        registry.add(live, message, ours=True)


def _is_at_work(registry: LiveRegistry, live: LiveState) -> bool:
    return live.was_cut or _open_turn(registry, live) is not None


def _open_turn(registry: LiveRegistry, live: LiveState) -> Entry | None:
    """The start of a turn that has no end."""
    began, ended = (_last(registry, live, kind) for kind in ("turn_started", "turn_ended"))
    return None if began is None or (ended is not None and ended.seq > began.seq) else began


def _last(registry: LiveRegistry, live: LiveState, kind: str) -> Entry | None:
    """The newest entry of a kind that is of the session itself, not of an agent that works for it."""
    for entry in registry.store.reading.of_kind(live.number, live.id, kind):
        if entry.message.session_id == live.native_id:
            return entry
    return None
