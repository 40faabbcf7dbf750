"""Reports the server's notifications.

| notification | becomes |
|---|---|
| thread/started, sessionConfigured | session_started |
| turn/started, turn/completed | turn_started, turn_ended |
| item/started, item/completed | see items |
| item/…/delta, item/…Delta | delta |
| turn/plan/updated, turn/diff/updated, thread/tokenUsage/updated, account/rateLimits/updated | plan, diff, usage, rate_limits |
| codex/event/<type>, codex/event | see events |
| rawResponseItem/completed | see response_items |
| error | notice if it will be retried; otherwise part of the turn's end |
| item/created, item/delta (only in documents) | delta, then text, thinking or plan |
| warning, hook/completed, thread/name/updated, thread/status/changed … | see app_server_notices |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.harnesses.codex.app_server.documented import Spelled
from dragoman.harnesses.codex.app_server.events import CoreEvents
from dragoman.harnesses.codex.app_server.notices import NOTICES
from dragoman.harnesses.codex.app_server.requests import ServerRequests
from dragoman.harnesses.codex.app_server.sessions import ConnectionSessions
from dragoman.harnesses.codex.app_server.shapes import (
    ABSENT,
    Params,
    ThreadInfo,
    TurnInfo,
    WireUsage,
    decode_item,
)
from dragoman.harnesses.codex.failures import details_in, error_in, words_of
from dragoman.harnesses.codex.items.dispatch import tell_item
from dragoman.harnesses.codex.items.shape import child_sessions, kind_of, user_input
from dragoman.harnesses.codex.responses.shapes import AnyResponseItem
from dragoman.harnesses.codex.tools.calls import plan_steps
from dragoman.harnesses.codex.tools.patches import changes_of, edit_call
from dragoman.harnesses.codex.values.loose import as_count, as_dict, as_str
from dragoman.harnesses.codex.values.rate_limits import rate_windows
from dragoman.model.messages import DeltaOf, Outcome, TurnError
from dragoman.model.usage import Usage

CHANNEL: Final = "item"


class Notifications:
    """All notifications of one connection."""

    def __init__(self, sessions: ConnectionSessions, requests: ServerRequests) -> None:
        self.sessions = sessions
        self.requests = requests
        self.spelled = Spelled(sessions)
        self.events = CoreEvents(sessions, self.spelled)

    def tell(self, method: str, params: Params) -> bool:
        """Report a notification; False if its type is unknown."""
        tell = NOTIFICATIONS.get(method)
        self._tell_requested(method, params)
        if tell is not None and params.msg is ABSENT:
            return tell(self, params) is not False
        if method.startswith("codex/event"):
            return self.events.tell(method.removeprefix("codex/event").removeprefix("/"), params)
        notice = NOTICES.get(method)
        if notice is not None:
            notice(self.sessions, params)
            return True
        return params.msg is not ABSENT and self.events.tell_doubled(method, params)

    def _tell_requested(self, method: str, params: Params) -> None:
        """Report a prompt that no item repeats, before the agent's response to it."""
        if not method.startswith(_OF_THE_AGENT):
            return
        thread = self.sessions.thread_of(params)
        if thread.has_requested and _is_the_agents(method, params):
            ends = method == "turn/completed"
            turn_id = params.turn_id or (params.turn.id if params.turn else None)
            other = thread.next_turn if ends and turn_id != thread.next_turn else None
            taken = (
                other is not None and params.turn is not None and params.turn.status == "completed"
            )
            due = thread.requested_now(ends=ends, taken=taken)
            if due:
                self.sessions.introduce(thread)
                self.sessions.enter_turn(thread, turn_id)
                status = params.turn.status if ends and params.turn is not None else "completed"
                thread.tell_requested(due, taken=taken, unread=status in ("interrupted", "failed"))
                thread.session.attribute_to(None)

    def finish(self) -> None:
        for thread in self.sessions.threads.all():
            self.spelled.finish(thread)

    def _thread_started(self, params: Params) -> None:
        self.sessions.begin(params.thread or ThreadInfo(id=params.thread_id))

    def _session_configured(self, params: Params) -> None:
        self.sessions.begin(ThreadInfo(id=params.session_id, model=params.model))

    def _turn_started(self, params: Params) -> None:
        thread = self.sessions.thread_of(params)
        session = self.sessions.introduce(thread)
        turn_id = params.turn.id if params.turn else params.turn_id
        if turn_id in thread.given_up:
            session.duplicate("turn: given up before it began")
            return
        if thread.events.end is not None:
            thread.events.finish()  # only an event has ended the turn before
        if session.in_turn and session.is_other_turn(turn_id):
            # Either the other one was cut off, or this start was taken as a word to it.
            thread.next_turn = turn_id
            session.duplicate("turn: announced while another runs")
            return
        session.begin_turn(turn_id)
        thread.events.ends_follow = True
        thread.turn_line = self.sessions.out.line
        thread.tell_asked()

    def _turn_completed(self, params: Params) -> None:
        thread = self.sessions.thread_of(params)
        session = self.sessions.introduce(thread)
        self.spelled.finish(thread)
        turn = params.turn or TurnInfo(id=params.turn_id, status=as_str(params.status))
        if turn.id is not None and session.in_turn and session.is_other_turn(turn.id):
            if turn.id == thread.next_turn:
                self.sessions.enter_turn(thread, turn.id)
            elif session.has_ended(turn.id):
                session.duplicate("turn: ended before")
                return
        thread.responses.end_turn()
        self.requests.turn_over(thread, turn.id)
        usage = as_dict(params.usage)
        if usage:
            session.usage(None, _spelled_usage(usage))
        outcome: Outcome = "completed"
        if turn.status in ("failed", "interrupted"):
            outcome = "failed" if turn.status == "failed" else "interrupted"
        error = error_in(turn.error) if turn.error else None
        if thread.events.end is not None:
            outcome, error = _said_by_both(thread.events.end, outcome, error)
            thread.events.end = None
        session.end_turn(outcome, error)

    def _item(self, params: Params, *, done: bool) -> bool:
        if params.item is ABSENT:
            return False
        item = decode_item(params.item)
        thread = self.sessions.thread_of(params)
        kind = kind_of(item)
        if thread.responses.held_text is not None:
            is_prompt = kind == "user_message"
            thread.responses.settle(prompt=user_input(item.content)[0] if is_prompt else None)
        thread.responses.others_speak = True
        session = self.sessions.introduce(thread)
        for child in child_sessions(item):
            self.sessions.threads.link(child, session.session_id)
        self.sessions.enter_turn(thread, params.turn_id)
        if kind == "user_message":
            thread.forget_requested(*user_input(item.content))
        if kind == "file_change":
            thread.responses.release(item.id, *edit_call(changes_of(item.changes)))
        known = tell_item(session, CHANNEL, item, done=done)
        session.attribute_to(None)
        return known

    def _item_started(self, params: Params) -> bool:
        return self._item(params, done=False)

    def _item_completed(self, params: Params) -> bool:
        return self._item(params, done=True)

    def _raw_item(self, params: Params) -> bool:
        if params.item is ABSENT:
            return False
        thread = self.sessions.thread_of(params)
        self.sessions.introduce(thread)
        if params.turn_id in thread.given_up:
            thread.session.duplicate("item: of a turn that was given up")
            return True
        item = _raw_item(params.item)
        if thread.responses.held_text is not None:
            thread.responses.settle()
        thread.responses.tell(item)
        return True

    def _plan(self, params: Params) -> None:
        thread = self.sessions.thread_of(params)
        session = self.sessions.introduce(thread)
        self.sessions.enter_turn(thread, params.turn_id)
        session.plan(*plan_steps({"plan": params.plan, "explanation": params.explanation}))
        session.attribute_to(None)

    def _diff(self, params: Params) -> None:
        thread = self.sessions.thread_of(params)
        session = self.sessions.introduce(thread)
        session.attribute_to(params.turn_id)
        session.diff(params.diff or "")
        session.attribute_to(None)

    def _usage(self, params: Params) -> None:
        thread = self.sessions.thread_of(params)
        session = self.sessions.introduce(thread)
        if params.turn_id is not None and params.turn_id == thread.next_turn:
            self.sessions.enter_turn(thread, params.turn_id)
        given = params.token_usage
        if given is None:
            session.duplicate("usage: nothing counted yet")
            return
        old = session.is_other_turn(params.turn_id)
        session.attribute_to(params.turn_id)
        session.usage(_usage(given.total), _usage(given.last), given.model_context_window, old=old)
        session.attribute_to(None)

    def _limits(self, params: Params) -> None:
        given = params.rate_limits
        if given is None:
            given = {"primary": params.primary, "secondary": params.secondary}
        self.sessions.connection.rate_limits(rate_windows(given, self.sessions.out.at))

    def _error(self, params: Params) -> None:
        given = as_dict(params.error) or {"message": params.message, "details": params.details}
        thread = self.sessions.thread_of(params)
        if params.turn_id is not None and thread.session.has_ended(params.turn_id):
            thread.session.duplicate("error: of a turn that is over")
        elif params.will_retry:
            words = (words_of(given), words_of(details_in(given)))
            text = "\n".join(filter(None, words))
            thread.session.notice(CHANNEL, "warning", text, will_retry=True)
        else:
            thread.session.fail_turn(error_in(given))

    def _resolved(self, params: Params) -> None:
        self.requests.resolved(self.sessions.thread_of(params), params.request_id)


_OF_THE_AGENT: Final = ("item/", "turn/completed", "turn/plan/", "turn/diff/", "codex/event/")
"""How the names of notifications begin that an agent's work makes."""
_BY_THE_AGENT: Final = (
    "agent_", "exec_", "patch_", "apply_patch_", "mcp_tool_", "web_search_", "plan_", "view_image_",
    "image_", "dynamic_tool_", "collab_", "task_complete", "turn_complete", "turn_aborted",
)  # fmt: skip
"""How the names of core events begin that it makes."""


def _is_the_agents(method: str, params: Params) -> bool:
    """Whether a notification cannot come before the prompt, nor be the prompt itself."""
    if method.startswith("codex/event/"):
        return method.removeprefix("codex/event/").startswith(_BY_THE_AGENT)
    return params.item is ABSENT or b'"user' not in bytes(params.item)[:400]


def _said_by_both(
    end: tuple[Outcome, TurnError | None], outcome: Outcome, error: TurnError | None
) -> tuple[Outcome, TurnError | None]:
    """How a turn ended whose end a core event has reported, too: what is worse is true."""
    first, reason = end
    if outcome == "completed" and first != "completed":
        outcome = first
    return outcome, error or reason


_raw_item = msgspec.json.Decoder(AnyResponseItem).decode


def _usage(usage: WireUsage | None) -> Usage | None:
    if usage is None:
        return None
    return Usage(
        usage.input_tokens,
        usage.cached_input_tokens,
        usage.cache_write_input_tokens,
        usage.output_tokens,
        usage.reasoning_output_tokens,
    )


def _spelled_usage(usage: dict[str, Any]) -> Usage:
    return Usage(
        input_tokens=as_count(usage.get("input_tokens", usage.get("inputTokens"))),
        cached_input_tokens=as_count(
            usage.get("cached_input_tokens", usage.get("cachedInputTokens"))
        ),
        output_tokens=as_count(usage.get("output_tokens", usage.get("outputTokens"))),
    )


def _delta(of: DeltaOf, part: str = "") -> _Tell:
    def tell(self: Notifications, params: Params) -> None:
        session = self.sessions.introduce(self.sessions.thread_of(params))
        turn_id = params.turn_id
        if turn_id is not None and turn_id != session.open_turn and session.has_ended(turn_id):
            session.duplicate("delta: of a turn that is over; the item carries it")
        else:
            session.delta(CHANNEL, of, as_str(params.delta) or "", params.item_id, part)

    return tell


def _duplicate(rule: str) -> _Tell:
    return lambda self, params: self.sessions.out.duplicate(rule)


_Tell: TypeAlias = Callable[[Notifications, Params], bool | None]
NOTIFICATIONS: Final[dict[str, _Tell]] = {
    "thread/started": Notifications._thread_started,
    "sessionConfigured": Notifications._session_configured,
    "turn/started": Notifications._turn_started,
    "turn/completed": Notifications._turn_completed,
    "item/started": Notifications._item_started,
    "item/completed": Notifications._item_completed,
    "item/agentMessage/delta": _delta("text"),
    "item/plan/delta": _delta("plan"),
    "item/reasoning/summaryTextDelta": _delta("thinking"),
    "item/reasoning/textDelta": _delta("thinking", "raw"),
    "item/commandExecution/outputDelta": _delta("output"),
    "item/fileChange/outputDelta": _delta("output"),
    "item/reasoning/summaryPartAdded": _duplicate("thinking: the next part begins"),
    "item/commandExecution/terminalInteraction": _duplicate(
        "terminal: the command's output shows it"
    ),
    "item/fileChange/patchUpdated": _duplicate("item: its end carries it"),
    "item/mcpToolCall/progress": _duplicate("item: its end carries it"),
    "rawResponseItem/completed": Notifications._raw_item,
    "rawResponse/completed": _duplicate("usage: the token count carries it"),
    "turn/plan/updated": Notifications._plan,
    "turn/diff/updated": Notifications._diff,
    "thread/tokenUsage/updated": Notifications._usage,
    "account/rateLimits/updated": Notifications._limits,
    "item/created": lambda self, params: self.spelled.created(params),
    "item/delta": lambda self, params: self.spelled.delta(params),
    "error": Notifications._error,
    "serverRequest/resolved": Notifications._resolved,
}
