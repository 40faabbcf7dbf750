"""Reports core events about the conversation itself: sessions, turns, texts, thoughts, tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from dragoman.harnesses.codex.events import conversation_shapes as shapes
from dragoman.harnesses.codex.events.shape import Event
from dragoman.harnesses.codex.failures import error_in, turn_error
from dragoman.harnesses.codex.items.dispatch import SAID, tell_item
from dragoman.harnesses.codex.items.shape import kind_of, phase_of, user_input
from dragoman.harnesses.codex.tools.calls import plan_steps
from dragoman.harnesses.codex.tools.patches import changes_of, edit_call
from dragoman.harnesses.codex.values.loose import as_dict, snake_keys
from dragoman.harnesses.codex.values.rate_limits import windows_in
from dragoman.model.usage import Usage
from dragoman.wire.jsonl import UNREADABLE

if TYPE_CHECKING:
    from dragoman.harnesses.codex.events.dispatch import Events, Tell

CHANNEL: Final = "event"
_INTERRUPTED: Final = ("interrupted", "Interrupted")
"""The reason that adds nothing to the outcome of the turn."""
ITEM_CHANNEL: Final = "core item"


def session_configured(events: Events, event: shapes.SessionConfigured) -> None:
    events.session.begin_session(
        model=event.model, cwd=event.cwd, parent_session_id=event.forked_from_id
    )


def is_made_up(turn_id: str | None) -> bool:
    """Whether a turn got its id when its file was migrated: its start is then written after its prompt."""
    return turn_id is not None and turn_id.startswith("rollout-")


def task_started(events: Events, event: shapes.TaskStarted) -> None:
    session = events.session
    if is_made_up(event.turn_id):
        events.is_migrated = True
    if events.goes_on:
        session.duplicate("turn: a migrated file cuts it in two")
        return
    session.says_ends = events.starts_have_ends
    if event.model_context_window is not None:
        session.context_window = event.model_context_window
    if session.in_turn and not session.is_reviewing:
        events.responses.end_turn()
    session.begin_turn(event.turn_id or events.turn_id)


def task_complete(events: Events, event: shapes.TaskComplete) -> None:
    if events.goes_on:
        events.session.duplicate("turn: a migrated file cuts it in two")
        return
    events.responses.end_turn()
    session = events.session
    if event.last_agent_message and session.in_turn and not session.turn_has_text:
        session.text(CHANNEL, event.last_agent_message)
    error = as_dict(event.error)
    if error:
        events.end_turn("failed", error_in(error))
    else:
        events.end_turn("completed")


def turn_aborted(events: Events, event: shapes.TurnAborted) -> None:
    events.responses.end_turn()
    if event.reason is not None and event.reason not in _INTERRUPTED:
        events.session.notice(CHANNEL, "info", f"turn aborted: {event.reason}")
    events.end_turn("interrupted")


def shutdown_complete(events: Events, event: shapes.ShutdownComplete) -> None:
    events.session.end_session("shutdown")


def error(events: Events, event: shapes.ErrorEvent) -> None:
    if event.message.strip() == "Turn interrupted":  # 0.8 to 0.20
        events.end_turn("interrupted")
    else:
        details = event.details if event.details is not None else event.additional_details
        events.session.fail_turn(turn_error(event.message, event.codex_error_info, details))


def user_message(events: Events, event: shapes.UserMessage) -> None:
    session = events.session
    if event.kind in ("user_instructions", "environment_context"):
        session.context("user", event.message)  # 0.31 to 0.44 label what they inject
        return
    if session.in_turn and not session.says_ends and _is_picture(event):
        # Up to 0.98 a picture that the agent asked to see is reported like a prompt.
        session.context("user", "[image]")
        return
    events.responses.tell_announced()
    if not (session.says_ends or (session.is_reviewing and session.in_turn)):
        events.responses.end_turn()
        session.begin_turn()
    session.prompt(CHANNEL, event.message, [*(event.images or []), *event.local_images])


def _is_picture(event: shapes.UserMessage) -> bool:
    """Whether it holds a picture and nothing else, which is how one comes that was asked for."""
    images = event.images or []
    return not event.message and len(images) == 1 and images[0].startswith("data:")


def agent_message(events: Events, event: shapes.AgentMessage) -> None:
    if events.announces:
        phase = phase_of(event.phase)
        events.responses.announce(event.message, is_text=True, phase=phase)
        return
    events.session.text(CHANNEL, event.message, phase=phase_of(event.phase))


def agent_reasoning(events: Events, event: shapes.AgentReasoning) -> None:
    text = event.text or event.content or ""
    if events.announces and text:
        events.responses.announce(text, is_text=False)
    else:
        events.session.thinking(CHANNEL, [text])


def agent_reasoning_raw(events: Events, event: shapes.AgentReasoningRaw) -> None:
    agent_reasoning(events, shapes.AgentReasoning(text=event.text))


def reasoning_break(events: Events, event: shapes.AgentReasoningBreak) -> None:
    events.session.duplicate("thinking: the next part begins")


def text_delta(events: Events, event: shapes.AgentMessageDelta) -> None:
    events.session.delta(CHANNEL, "text", event.delta)


def text_item_delta(events: Events, event: shapes.AgentMessageContentDelta) -> None:
    events.session.delta(ITEM_CHANNEL, "text", event.delta, event.item_id)


def thinking_delta(events: Events, event: shapes.AgentReasoningDelta) -> None:
    events.session.delta(CHANNEL, "thinking", event.delta)


def thinking_item_delta(events: Events, event: shapes.ReasoningDelta) -> None:
    events.session.delta(ITEM_CHANNEL, "thinking", event.delta, event.item_id)


def raw_delta(events: Events, event: shapes.AgentReasoningRawDelta) -> None:
    events.session.delta(CHANNEL, "thinking", event.delta, part="raw")


def raw_item_delta(events: Events, event: shapes.ReasoningRawDelta) -> None:
    events.session.delta(ITEM_CHANNEL, "thinking", event.delta, event.item_id, part="raw")


def plan_delta(events: Events, event: shapes.PlanDelta) -> None:
    events.session.delta(ITEM_CHANNEL, "plan", event.delta, event.item_id)


def item_started(events: Events, event: shapes.ItemStarted) -> bool:
    return tell_item(events.session, ITEM_CHANNEL, event.item, done=False)


def item_completed(events: Events, event: shapes.ItemCompleted) -> bool:
    item = event.item
    session, responses = events.session, events.responses
    if events.goes_on:
        events.goes_on = False
        responses.pictures -= 1
        if kind_of(item) == "user_message" and not user_input(item.content)[0]:
            session.duplicate("context: a picture that the agent asked to see")
            return True
    turn_id = event.turn_id
    is_late = turn_id is not None and turn_id != session.open_turn and not session.is_reviewing
    if is_late:
        session.attribute_to(turn_id)
    if item.type not in SAID:
        responses.spoken_items += 1
        if responses.is_held(item.id) and kind_of(item) == "file_change":
            responses.release(item.id, *edit_call(changes_of(item.changes)))
    known = tell_item(session, ITEM_CHANNEL, item, done=True)
    if is_late:
        session.attribute_to(None)
    return known


def raw_response_item(events: Events, event: shapes.RawResponseItem) -> None:
    events.responses.tell(event.item)


def plan_update(events: Events, event: shapes.PlanUpdate) -> None:
    events.session.plan(*plan_steps({"plan": event.plan, "explanation": event.explanation}))


def turn_diff(events: Events, event: shapes.TurnDiff) -> None:
    events.session.diff(event.unified_diff)


def token_count(events: Events, event: shapes.TokenCount) -> None:
    session = events.session
    info = event.info
    if events.others_count:
        session.duplicate("usage: the usage record carries it")
    elif info is not None and info.totalTokenUsage is not None:
        session.usage(_spelled(info.totalTokenUsage), _spelled(info.lastTokenUsage))
    elif info is not None:
        session.usage(info.total_token_usage, info.last_token_usage, info.model_context_window)
    elif event.input_tokens is not None:
        last = Usage(
            input_tokens=event.input_tokens,
            cached_input_tokens=event.cached_input_tokens or 0,
            output_tokens=event.output_tokens or 0,
            reasoning_output_tokens=event.reasoning_output_tokens or 0,
        )
        session.usage(None, last)
    else:
        session.usage_starts()
    if not events.wants_limits:
        return
    limits = bytes(event.rate_limits)
    if limits != events.limits:
        events.limits = limits
        session.rate_limits(windows_in(limits, events.out.at))


def _spelled(usage: Any) -> Usage | None:
    """Usage in camelCase, which only documents show."""
    try:
        return msgspec.convert(snake_keys(usage), Usage) if usage is not None else None
    except UNREADABLE:
        return None


def raw_response_completed(events: Events, event: shapes.RawResponseCompleted) -> None:
    events.session.duplicate("usage: the token count carries it")


TELL: Final[dict[type[Event], Tell]] = {
    shapes.SessionConfigured: session_configured,
    shapes.TaskStarted: task_started,
    shapes.TurnStartedAlias: task_started,
    shapes.TaskComplete: task_complete,
    shapes.TurnCompleteAlias: task_complete,
    shapes.TurnAborted: turn_aborted,
    shapes.ShutdownComplete: shutdown_complete,
    shapes.ErrorEvent: error,
    shapes.UserMessage: user_message,
    shapes.AgentMessage: agent_message,
    shapes.AgentReasoning: agent_reasoning,
    shapes.AgentReasoningRaw: agent_reasoning_raw,
    shapes.AgentMessageDelta: text_delta,
    shapes.AgentMessageContentDelta: text_item_delta,
    shapes.AgentReasoningDelta: thinking_delta,
    shapes.ReasoningDelta: thinking_item_delta,
    shapes.AgentReasoningRawDelta: raw_delta,
    shapes.ReasoningRawDelta: raw_item_delta,
    shapes.AgentReasoningBreak: reasoning_break,
    shapes.PlanDelta: plan_delta,
    shapes.ItemStarted: item_started,
    shapes.ItemCompleted: item_completed,
    shapes.RawResponseItem: raw_response_item,
    shapes.PlanUpdate: plan_update,
    shapes.TurnDiff: turn_diff,
    shapes.TokenCount: token_count,
    shapes.RawResponseCompleted: raw_response_completed,
}
