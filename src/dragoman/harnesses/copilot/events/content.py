"""What is said in a session, and where its turns begin and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dragoman.harnesses.copilot.events import work
from dragoman.harnesses.copilot.failures import session_error as error_of
from dragoman.harnesses.copilot.usage import usage_of
from dragoman.wire.loose import as_dict, as_int, as_list, as_str

if TYPE_CHECKING:
    from dragoman.harnesses.copilot.events.reader import EventReader
    from dragoman.harnesses.copilot.events.shapes import Event
    from dragoman.harnesses.copilot.session import CopilotSession

CHANNEL: Final = "message"
_STEERING: Final = "steering"
_USERS: Final = frozenset(("user", "human", "cli", "sdk"))
_SAID: Final = frozenset(("continuation", "system", "jit-instruction"))


def user_message(reader: EventReader, event: Event) -> None:
    session, data = reader.session_of(event), event.data
    text, message_id = as_str(data.get("content")) or "", as_str(data.get("messageId"))
    if _is_injected(data):
        session.close_turn(may_go_on=True)
        session.ensure_turn(message_id or event.id)
        session.assembler.context("user", text)
        return
    joins = data.get("delivery") == _STEERING and not session.has_finished
    if session.assembler.in_turn and message_id is not None:
        # A live prompt may have begun the turn already, under the same name.
        joins = joins or session.assembler.open_turn == message_id
    if not (joins and session.assembler.in_turn):
        session.begin_turn(message_id or event.id)
    session.note_work()
    session.assembler.prompt(CHANNEL, text, _images(data), item_id=message_id)


def _is_injected(data: dict[str, Any]) -> bool:
    """Whether the program wrote the message, and neither the user nor another agent."""
    source = as_str(data.get("source")) or ""
    return (
        data.get("isAutopilotContinuation") is True
        or source in _SAID
        or source.startswith("skill-")
    )


def _images(data: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for each in map(as_dict, as_list(data.get("attachments"))):
        place = as_str(each.get("path")) or as_str(each.get("filePath"))
        encoded, kind = as_str(each.get("data")), as_str(each.get("mimeType"))
        if place is not None:
            found.append(place)
        elif encoded is not None:
            found.append(f"data:{kind or 'application/octet-stream'};base64,{encoded}")
        elif (name := as_str(each.get("displayName"))) is not None:
            found.append(name)
    return found


def system_message(reader: EventReader, event: Event) -> None:
    session = reader.session_of(event)
    text = as_str(event.data.get("content")) or ""
    if text in session.contexts:
        session.assembler.duplicate("context: unchanged")
        return
    session.contexts.add(text)
    session.assembler.context(as_str(event.data.get("role")) or "system", text)


def system_notification(reader: EventReader, event: Event) -> None:
    """Something in the background happened. An agent that rests is woken by it: what it does is a turn of its own."""
    session = reader.session_of(event)
    session.close_turn(may_go_on=True)
    session.assembler.context("system", as_str(event.data.get("content")) or "")


def skill_invoked(reader: EventReader, event: Event) -> None:
    session = reader.session_of(event)
    session.assembler.context("skill", as_str(event.data.get("content")) or "")


def skill_context(reader: EventReader, event: Event) -> None:
    skill_invoked(reader, event)


def turn_start(reader: EventReader, event: Event) -> None:
    """One call of the model, not a turn in our sense."""
    session = reader.session_of(event)
    session.ensure_turn(as_str(event.data.get("interactionId")) or event.id)
    session.note_work()
    session.assembler.duplicate("state: assistant.turn_start")


def assistant_message(reader: EventReader, event: Event) -> None:
    session, data = reader.session_of(event), event.data
    session.ensure_turn(event.id)
    assembler = session.assembler
    message_id, model = as_str(data.get("messageId")), as_str(data.get("model"))
    if model is not None and (assembler.facts is None or assembler.facts.model is None):
        assembler.begin_session(model=model)
    if (thought := as_str(data.get("reasoningText"))) is not None and thought:
        assembler.thinking(CHANNEL, [thought], item_id=_thought_id(message_id))
    requests = as_list(data.get("toolRequests"))
    session.note_response(asks_for_tools=bool(requests))
    text = as_str(data.get("content")) or ""
    if text or not requests:
        chunk = as_int(data.get("chunkIndex"))
        item_id = f"{message_id}/{chunk}" if chunk is not None else None
        assembler.text(CHANNEL, text, message_id=message_id, item_id=item_id)
    for request in map(as_dict, requests):
        work.report_call(session, request, "name", request.get("arguments"))


def _thought_id(message_id: str | None) -> str | None:
    return f"{message_id}/reasoning" if message_id is not None else None


def reasoning(reader: EventReader, event: Event) -> None:
    session = reader.session_of(event)
    thought, name = as_str(event.data.get("content")) or "", as_str(event.data.get("reasoningId"))
    session.assembler.thinking("reasoning", [thought], item_id=name)


def message_delta(reader: EventReader, event: Event) -> None:
    _delta(reader.session_of(event), event, "messageId")


def reasoning_delta(reader: EventReader, event: Event) -> None:
    session, data = reader.session_of(event), event.data
    text, name = as_str(data.get("deltaContent")) or "", as_str(data.get("reasoningId"))
    session.assembler.delta("reasoning", "thinking", text, name)


def _delta(session: CopilotSession, event: Event, key: str) -> None:
    text = as_str(event.data.get("deltaContent")) or ""
    session.assembler.delta(CHANNEL, "text", text, as_str(event.data.get(key)))


def usage(reader: EventReader, event: Event) -> None:
    """The tokens of one response, as the live stream reports them."""
    _report_usage(reader.session_of(event), event.data)


def usage_record(reader: EventReader, event: Event) -> None:
    """The same as a file keeps it."""
    given = as_dict(event.data.get("usage"))
    agent = event.agent or as_str(given.get("parentToolCallId"))
    session = reader.main if agent is None else reader.agent(agent)
    _report_usage(session, given)


def _report_usage(session: CopilotSession, given: dict[str, Any]) -> None:
    spent = usage_of(given)
    if spent is None:
        session.assembler.duplicate("usage: nothing counted")
        return
    response_id = as_str(given.get("apiCallId")) or as_str(
        as_dict(given.get("accounting")).get("usageId")
    )
    if response_id is not None and response_id in session.responses:
        session.assembler.duplicate("usage: counted before")
        return
    if response_id is not None:
        session.responses.add(response_id)
    session.assembler.spending.counter.start()
    window = as_int(given.get("maxPromptTokens"))
    session.assembler.usage(
        None, spent, window, response_id=response_id, model=as_str(given.get("model"))
    )


def idle(reader: EventReader, event: Event) -> None:
    """The agent has come to rest. Work in the background may wake it again."""
    session = reader.session_of(event)
    if event.data.get("aborted") is True and session.assembler.in_turn:
        session.was_interrupted = True
    if not session.assembler.in_turn:
        session.assembler.duplicate("turn: ended before")
        return
    session.end_turn("interrupted" if session.was_interrupted else "completed")


def abort(reader: EventReader, event: Event) -> None:
    session = reader.session_of(event)
    if session.assembler.in_turn:
        session.was_interrupted = True
    session.assembler.duplicate("state: abort")


def session_error(reader: EventReader, event: Event) -> None:
    reader.session_of(event).fail(error_of(event.data))


def task_complete(reader: EventReader, event: Event) -> None:
    """The agent's last word in autopilot mode; as a rule its call has it, too."""
    session = reader.session_of(event)
    text = as_str(event.data.get("summary")) or ""
    session.assembler.text("task_complete", text)
