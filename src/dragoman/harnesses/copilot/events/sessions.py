"""The session's own facts, and what the program itself reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dragoman.harnesses.copilot.usage import spent_in_all
from dragoman.model.messages import Level
from dragoman.wire.loose import as_dict, as_int, as_str

if TYPE_CHECKING:
    from dragoman.harnesses.copilot.events.reader import EventReader
    from dragoman.harnesses.copilot.events.shapes import Event

CHANNEL: Final = "session"
_RETRIES: Final = frozenset(("model_retry",))
_QUIET: Final = frozenset(("file_created", "file_modified", "file_deleted", "cancellation"))
"""Information that the calls or the turn's end have."""


def start(reader: EventReader, event: Event) -> None:
    session, data = reader.main, event.data
    session.close_turn()
    session_id = as_str(data.get("sessionId"))
    if session_id is not None:
        session.assembler.session_id = session_id
    session.assembler.begin_session(
        version=as_str(data.get("copilotVersion")),
        model=as_str(data.get("selectedModel")),
        cwd=as_str(as_dict(data.get("context")).get("cwd")),
        parent_session_id=as_str(data.get("detachedFromSpawningParentSessionId")),
    )


def resume(reader: EventReader, event: Event) -> None:
    """Another process goes on with the session: what was open is over."""
    session, data = reader.main, event.data
    session.close_turn()
    if session.assembler.facts is None and not session.responses:
        session.assembler.is_resumed = True
    session.assembler.begin_session(
        model=as_str(data.get("selectedModel")),
        cwd=as_str(as_dict(data.get("context")).get("cwd")),
    )


def shutdown(reader: EventReader, event: Event) -> None:
    """The process ends. It sums up what all of the session took; files before 1.0.80 have no other counts."""
    for session in reader.all():
        session.close_turn()
    data, session = event.data, reader.main
    reason = as_str(data.get("errorReason"))
    if reason:
        session.assembler.notice(CHANNEL, "error", reason)
    total = spent_in_all(data.get("modelMetrics"))
    if total is None:
        total = spent_in_all(as_dict(data.get("accountingSnapshot")).get("modelMetrics"))
    if total is not None and not session.responses:
        session.assembler.usage(total, None)
    session.assembler.duplicate("state: session.shutdown")


def model_change(reader: EventReader, event: Event) -> None:
    session = reader.session_of(event)
    model = as_str(event.data.get("newModel"))
    if model is not None:
        session.assembler.begin_session(model=model)
    else:
        session.assembler.duplicate("state: session.model_change")


def context_changed(reader: EventReader, event: Event) -> None:
    session = reader.session_of(event)
    cwd = as_str(event.data.get("cwd"))
    if cwd is not None and session.assembler.facts is not None:
        session.assembler.begin_session(cwd=cwd)
    else:
        session.assembler.duplicate("state: session.context_changed")


def mode_changed(reader: EventReader, event: Event) -> None:
    _notice(reader, event, "info", f"mode: {as_str(event.data.get('newMode')) or 'unknown'}")


def permissions_changed(reader: EventReader, event: Event) -> None:
    data = event.data
    allows_all = "allow all" if data.get("allowAllPermissions") is True else "ask"
    _notice(reader, event, "info", f"permissions: {as_str(data.get('mode')) or allows_all}")


def title_changed(reader: EventReader, event: Event) -> None:
    _notice(reader, event, "info", f"title: {as_str(event.data.get('title')) or ''}")


def info(reader: EventReader, event: Event) -> None:
    kind, text = as_str(event.data.get("infoType")), as_str(event.data.get("message")) or ""
    if kind in _RETRIES:
        session = reader.session_of(event)
        session.assembler.notice(CHANNEL, "warning", text, will_retry=True)
    elif kind in _QUIET or not text:
        reader.session_of(event).assembler.duplicate("state: session.info")
    else:
        _notice(reader, event, "info", text)


def warning(reader: EventReader, event: Event) -> None:
    _notice(reader, event, "warning", as_str(event.data.get("message")) or "a warning")


def truncation(reader: EventReader, event: Event) -> None:
    removed = as_int(event.data.get("messagesRemovedDuringTruncation")) or 0
    text = f"{removed} messages were left out: the conversation is longer than the model takes"
    _notice(reader, event, "warning", text)


def compaction_start(reader: EventReader, event: Event) -> None:
    reader.session_of(event).assembler.duplicate("state: session.compaction_start")


def compaction_complete(reader: EventReader, event: Event) -> None:
    session, data = reader.session_of(event), event.data
    if data.get("success") is True:
        session.assembler.compacted(CHANNEL, as_str(data.get("summaryContent")))
    else:
        why = as_str(data.get("error")) or as_str(data.get("outcomeReason")) or "no reason given"
        _notice(reader, event, "warning", f"the conversation was not compacted: {why}")


def rewind(reader: EventReader, event: Event) -> None:
    removed = as_int(event.data.get("eventsRemoved")) or 0
    _notice(reader, event, "info", f"the session was rewound: {removed} events were taken back")


def handoff(reader: EventReader, event: Event) -> None:
    _notice(reader, event, "info", as_str(event.data.get("summary")) or "the session was handed on")


def turn_retry(reader: EventReader, event: Event) -> None:
    reason = (as_str(event.data.get("reason")) or "the request failed").replace("_", " ")
    session = reader.session_of(event)
    session.assembler.notice(
        "retry", "warning", f"the request is sent again: {reason}", will_retry=True
    )


def call_failure(reader: EventReader, event: Event) -> None:
    """A request failed: it is sent again, or the turn's end says so."""
    data = event.data
    status = as_int(data.get("statusCode"))
    text = as_str(data.get("errorMessage")) or as_str(data.get("failureKind")) or "request failed"
    code = f"HTTP {status}: " if status is not None else ""
    session = reader.session_of(event)
    session.assembler.notice("call", "warning", f"{code}{text}", will_retry=True)


def hook_end(reader: EventReader, event: Event) -> None:
    session, data = reader.session_of(event), event.data
    if data.get("success") is not False:
        session.assembler.duplicate("state: hook.end")
        return
    error = as_dict(data.get("error"))
    text = as_str(error.get("message")) or "it failed"
    _notice(reader, event, "warning", f"hook {as_str(data.get('hookType')) or ''}: {text}")


def _notice(reader: EventReader, event: Event, level: Level, text: str) -> None:
    reader.session_of(event).assembler.notice(CHANNEL, level, text)
