"""What each kind of ``session/update`` becomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from dragoman.harnesses.acp.session import AcpSession
from dragoman.harnesses.acp.spending import usage_in
from dragoman.harnesses.acp.tools import block_text
from dragoman.model.messages import PlanStep, StepStatus
from dragoman.wire.loose import as_dict, as_int, as_list, as_number, as_str

_Report: TypeAlias = Callable[[AcpSession, dict[str, Any]], None]
_STEPS: Final[dict[str, StepStatus]] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}
_BACKGROUND: Final = ("background_task_completed", "background_notification")


def report(session: AcpSession, update: dict[str, Any]) -> bool:
    """Report an update; False for a kind that is not known."""
    kind = as_str(update.get("sessionUpdate")) or ""
    found = _KINDS.get(kind)
    if found is None:
        return False
    found(session, update)
    return True


def _agent_message(session: AcpSession, update: dict[str, Any]) -> None:
    meta = as_dict(update.get("_meta"))
    text = block_text(as_dict(update.get("content")))
    if not text:
        usage = usage_in(meta.get("usage"))
        if usage is None:
            session.assembler.duplicate("text: empty")
        else:
            session.flush()
            session.spent(usage)
    elif session.quirks.echoes and text.startswith(session.quirks.echoes):
        session.assembler.duplicate("state: what the host has set")
    elif as_str(meta.get("source")) in _BACKGROUND:
        session.flush()
        session.assembler.notice("agent", "info", text)
    else:
        if meta.get("qwenDiscreteMessage") is True:
            session.flush()
        session.chunk("text", text, as_str(update.get("messageId")))


def _agent_thought(session: AcpSession, update: dict[str, Any]) -> None:
    text = block_text(as_dict(update.get("content")))
    if session.quirks.whole_thoughts:
        text = text.removeprefix("****\n").rstrip(
            "\n"
        )  # a thought without a subject, or without more
    if text:
        session.chunk("thinking", text, as_str(update.get("messageId")))
    else:
        session.assembler.duplicate("thinking: empty")


def _user_message(session: AcpSession, update: dict[str, Any]) -> None:
    text = block_text(as_dict(update.get("content")))
    meta = as_dict(update.get("_meta"))
    if as_str(meta.get("source")) in _BACKGROUND:
        session.flush()
        session.assembler.notice("agent", "info", text)
    elif text:
        session.user_chunk(text)
    else:
        session.assembler.duplicate("prompt: empty")


def _tool_call(session: AcpSession, update: dict[str, Any]) -> None:
    session.flush()
    session.calls.receive(update)


def _plan(session: AcpSession, update: dict[str, Any]) -> None:
    session.flush()
    steps = [
        PlanStep(
            text=as_str(entry.get("content")) or "",
            status=_STEPS.get(as_str(entry.get("status")) or "", "pending"),
        )
        for entry in map(as_dict, as_list(update.get("entries")))
    ]
    session.assembler.plan(steps)


def _usage(session: AcpSession, update: dict[str, Any]) -> None:
    session.calls.emit_known()
    cost = as_dict(update.get("cost"))
    dollars = as_number(cost.get("amount")) if cost.get("currency", "USD") == "USD" else None
    session.costs(dollars, as_int(update.get("size")))


def _options(session: AcpSession, update: dict[str, Any]) -> None:
    announce_options(session, update)


def announce_options(session: AcpSession, given: dict[str, Any]) -> None:
    """Announce the model that the session's options name, if it is news."""
    session.assembler.begin_session(model=model_in(given))


def model_in(given: dict[str, Any]) -> str | None:
    """The model that a session uses, by its models or by its options."""
    if model := as_str(as_dict(given.get("models")).get("currentModelId")):
        return model
    for option in map(as_dict, as_list(given.get("configOptions"))):
        if option.get("category") == "model" or option.get("id") == "model":
            return as_str(option.get("currentValue"))
    return None


def _commands(session: AcpSession, update: dict[str, Any]) -> None:
    session.end_history()
    session.assembler.duplicate("state: the commands that the agent offers")


def _info(session: AcpSession, update: dict[str, Any]) -> None:
    """The title of the session; an agent may also say here that a turn has failed."""
    *way, mark = session.quirks.failure_mark or ("",)
    value: Any = update
    for name in way:
        value = as_dict(value).get(name)
    if way and value == mark:
        session.mark_failing()
    session.assembler.duplicate("state: the title of the session")


def _state(rule: str) -> _Report:
    def report_state(session: AcpSession, update: dict[str, Any]) -> None:
        session.assembler.duplicate(f"state: {rule}")

    return report_state


_KINDS: Final[dict[str, _Report]] = {
    "agent_message_chunk": _agent_message,
    "agent_thought_chunk": _agent_thought,
    "user_message_chunk": _user_message,
    "tool_call": _tool_call,
    "tool_call_update": _tool_call,
    "plan": _plan,
    "usage_update": _usage,
    "config_option_update": _options,
    "available_commands_update": _commands,
    "current_mode_update": _state("the mode of the session"),
    "session_info_update": _info,
}
