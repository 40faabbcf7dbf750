"""What the app-server of 0.166 sends while a turn of a recording goes by.

Each message becomes notifications, or, where the agent asked before it went on, a request that waits
for its answer. Ids are the recording's own; what has none gets one that is always the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from uuid import NAMESPACE_URL, uuid5

from dragoman.harnesses.codex.playback import items
from dragoman.harnesses.codex.playback.approvals import ask_of
from dragoman.harnesses.codex.playback.shapes import agent_thread, rate_limits, turn_of, wire_usage
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model.messages import (
    ApprovalRequested,
    Compacted,
    Delta,
    Diff,
    Message,
    Notice,
    Plan,
    Prompt,
    RateLimits,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
)
from dragoman.model.usage import Usage

_AGAIN: Final = re.compile(r"(.+)-\d+\Z", re.DOTALL)
_DELTAS: Final = {
    "text": "item/agentMessage/delta",
    "thinking": "item/reasoning/summaryTextDelta",
    "output": "item/commandExecution/outputDelta",
}
Params: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlaybackStep:
    """Something to send, so many seconds after the step before."""

    after: float
    method: str
    params: Params
    at_ms: int | None = None
    """Its time in the recording."""
    asks: bool = False
    """Whether the turn waits until the client has answered."""


def made_up_id(*parts: object) -> str:
    """An id for what the recording does not name: always the same for the same thing."""
    return str(uuid5(NAMESPACE_URL, "/".join(map(str, parts))))


@dataclass(slots=True)
class _CodexTalk:
    """One session of the turn: the main one, or an agent's."""

    thread_id: str
    turn_id: str
    cwd: str
    calls: dict[str, tuple[ToolCall, str]]
    """Every call so far with its turn: some are over only when their turn is."""
    saying: set[str] = field(default_factory=set[str])
    """Texts and thoughts whose items have been started."""
    thinking: str | None = None
    has_usage: bool = False
    began_ms: int | None = None
    last_text: Params | None = None


class TurnWriter:
    """Writes turns, one after the other: tokens are counted through all of them."""

    def __init__(self, thread_id: str, own: str | None, cwd: str) -> None:
        self._thread_id = thread_id
        self._own = own
        self._cwd = cwd
        self._total = Usage()
        self._thoughts = 0
        self._calls: dict[str | None, dict[str, tuple[ToolCall, str]]] = {}

    def write(self, timed: Iterable[TimedMessage], turn_id: str) -> list[PlaybackStep]:
        """The steps of one turn, from ``turn/started`` to ``turn/completed`` and what comes late."""
        talks = {self._own: self._talk(self._own, self._thread_id, turn_id)}
        steps: list[PlaybackStep] = []
        waited = 0.0
        for after, message in timed:
            waited += after
            session_id = self._own if message.session_id is None else message.session_id
            talk = talks.get(session_id)
            if talk is None:
                thread = session_id or self._thread_id
                talk = self._talk(session_id, thread, message.turn_id or thread)
                talks[session_id] = talk
            if session_id != self._own and message.turn_id is not None:
                talk.turn_id = message.turn_id
            at_ms = int(message.at.timestamp() * 1000) if message.at else None
            for method, params, asks in self._said(message, talk, at_ms):
                steps.append(PlaybackStep(waited, method, params, at_ms, asks))
                waited = 0.0
        return steps

    def _talk(self, session_id: str | None, thread_id: str, turn_id: str) -> _CodexTalk:
        return _CodexTalk(thread_id, turn_id, self._cwd, self._calls.setdefault(session_id, {}))

    def _said(
        self, message: Message, talk: _CodexTalk, at_ms: int | None
    ) -> Iterator[tuple[str, Params, bool]]:
        if isinstance(message, ApprovalRequested):
            name = message.approval_id
            again = _AGAIN.match(name)
            item_id = again[1] if again and name not in talk.calls else name
            method, params = ask_of(message)
            place = {"threadId": talk.thread_id, "turnId": talk.turn_id, "itemId": item_id}
            yield method, {**place, "startedAtMs": at_ms or 0, **params}, True
            return
        tell = _TELL.get(type(message))
        if tell is not None:
            for method, params in tell(self, message, talk, at_ms):
                yield method, params, False

    def _started(self, message: SessionStarted, talk: _CodexTalk, at_ms: int | None) -> _Told:
        if message.session_id != self._own and message.session_id is not None:
            talk.cwd = message.cwd or talk.cwd
            yield "thread/started", {"thread": agent_thread(message)}

    def _turn_started(self, message: TurnStarted, talk: _CodexTalk, at_ms: int | None) -> _Told:
        talk.began_ms = at_ms
        yield "thread/status/changed", _in(talk, status={"type": "active", "activeFlags": []})
        turn = turn_of(talk.turn_id, "inProgress", began_ms=at_ms)
        yield "turn/started", {"threadId": talk.thread_id, "turn": turn}

    def _turn_ended(self, message: TurnEnded, talk: _CodexTalk, at_ms: int | None) -> _Told:
        if message.usage is not None and not talk.has_usage and talk.thread_id == self._thread_id:
            self._total = self._total + message.usage
            yield "thread/tokenUsage/updated", self._tokens(talk, self._total, message.usage, None)
        yield "thread/status/changed", _in(talk, status={"type": "idle"})
        turn = turn_of(
            talk.turn_id,
            message.outcome,
            error=message.error,
            began_ms=talk.began_ms,
            ended_ms=at_ms,
            last=talk.last_text,
        )
        yield "turn/completed", {"threadId": talk.thread_id, "turn": turn}

    def _prompt(self, message: Prompt, talk: _CodexTalk, at_ms: int | None) -> _Told:
        item_id = made_up_id(talk.turn_id, "prompt", message.line, message.text)
        yield from self._whole(talk, items.prompt_item(message, item_id), at_ms)

    def _text(self, message: Text, talk: _CodexTalk, at_ms: int | None) -> _Told:
        item_id = message.message_id or f"text-{message.line}"
        item = talk.last_text = items.text_item(message, item_id)
        if item_id not in talk.saying:
            yield "item/started", _item(talk, items.text_item(None, item_id), at_ms, done=False)
        talk.saying.discard(item_id)
        yield "item/completed", _item(talk, item, at_ms, done=True)

    def _thinking(self, message: Thinking, talk: _CodexTalk, at_ms: int | None) -> _Told:
        self._thoughts += 1
        item_id, talk.thinking = talk.thinking or f"thought-{self._thoughts}", None
        if item_id not in talk.saying:
            yield "item/started", _item(talk, items.thinking_item([], item_id), at_ms, done=False)
        talk.saying.discard(item_id)
        yield (
            "item/completed",
            _item(talk, items.thinking_item([message.text], item_id), at_ms, done=True),
        )

    def _delta(self, message: Delta, talk: _CodexTalk, at_ms: int | None) -> _Told:
        method, item_id = _DELTAS.get(message.of), message.message_id or message.of
        if method is None:
            return
        params = _in(talk, turnId=talk.turn_id, itemId=item_id, delta=message.text)
        if message.of == "output":
            if item_id in talk.calls:
                yield method, params
            return
        if item_id not in talk.saying:
            talk.saying.add(item_id)
            is_text = message.of == "text"
            item = items.text_item(None, item_id) if is_text else items.thinking_item([], item_id)
            yield "item/started", _item(talk, item, at_ms, done=False)
        if message.of == "thinking":
            talk.thinking = item_id
            params["summaryIndex"] = 0
        yield method, params

    def _call(self, message: ToolCall, talk: _CodexTalk, at_ms: int | None) -> _Told:
        item = items.call_item(message, None, talk.thread_id, talk.cwd)
        if item is not None:
            talk.calls[message.call_id] = (message, talk.turn_id)
            yield "item/started", _item(talk, item, at_ms, done=False)

    def _result(self, message: ToolResult, talk: _CodexTalk, at_ms: int | None) -> _Told:
        call, turn_id = talk.calls.get(message.call_id, (None, ""))
        if call is None or message.status == "abandoned":
            return
        item = items.call_item(call, message, talk.thread_id, talk.cwd)
        if item is not None:
            told = _item(talk, item, at_ms, done=True)
            yield "item/completed", {**told, "turnId": turn_id}

    def _plan(self, message: Plan, talk: _CodexTalk, at_ms: int | None) -> _Told:
        words = {"in_progress": "inProgress"}
        steps = [{"step": s.text, "status": words.get(s.status, s.status)} for s in message.steps]
        plan = {"explanation": message.explanation, "plan": steps}
        yield "turn/plan/updated", _in(talk, turnId=talk.turn_id, **plan)

    def _diff(self, message: Diff, talk: _CodexTalk, at_ms: int | None) -> _Told:
        yield "turn/diff/updated", _in(talk, turnId=talk.turn_id, diff=message.unified)

    def _usage(self, message: UsageReport, talk: _CodexTalk, at_ms: int | None) -> _Told:
        total = message.total or message.last
        if total is None:
            return
        if talk.thread_id == self._thread_id:
            self._total = total
        talk.has_usage = True
        told = self._tokens(talk, total, message.last or total, message.context_window)
        yield "thread/tokenUsage/updated", told

    def _tokens(self, talk: _CodexTalk, total: Usage, last: Usage, window: int | None) -> Params:
        usage = {"total": wire_usage(total), "last": wire_usage(last), "modelContextWindow": window}
        return _in(talk, turnId=talk.turn_id, tokenUsage=usage)

    def _limits(self, message: RateLimits, talk: _CodexTalk, at_ms: int | None) -> _Told:
        yield "account/rateLimits/updated", {"rateLimits": rate_limits(message)}

    def _notice(self, message: Notice, talk: _CodexTalk, at_ms: int | None) -> _Told:
        if message.will_retry:
            error = {"message": message.text, "codexErrorInfo": None, "additionalDetails": None}
            yield "error", _in(talk, turnId=talk.turn_id, error=error, willRetry=True)
        elif message.level != "info":
            yield "warning", _in(talk, message=message.text)

    def _compacted(self, message: Compacted, talk: _CodexTalk, at_ms: int | None) -> _Told:
        item_id = made_up_id(talk.turn_id, "compaction", message.line)
        yield from self._whole(talk, items.compaction_item(item_id), at_ms)

    def _whole(self, talk: _CodexTalk, item: Params, at_ms: int | None) -> _Told:
        yield "item/started", _item(talk, item, at_ms, done=False)
        yield "item/completed", _item(talk, item, at_ms, done=True)


def _in(talk: _CodexTalk, **params: Any) -> Params:
    return {"threadId": talk.thread_id, **params}


def _item(talk: _CodexTalk, item: Params, at_ms: int | None, *, done: bool) -> Params:
    moment = "completedAtMs" if done else "startedAtMs"
    place = {"threadId": talk.thread_id, "turnId": talk.turn_id, moment: at_ms or 0}
    return {"item": item, **place}


_Told: TypeAlias = Iterator[tuple[str, Params]]
_Tell: TypeAlias = Callable[[TurnWriter, Any, _CodexTalk, int | None], _Told]
_TELL: Final[dict[type, _Tell]] = {
    SessionStarted: TurnWriter._started,
    TurnStarted: TurnWriter._turn_started,
    TurnEnded: TurnWriter._turn_ended,
    Prompt: TurnWriter._prompt,
    Text: TurnWriter._text,
    Thinking: TurnWriter._thinking,
    Delta: TurnWriter._delta,
    ToolCall: TurnWriter._call,
    ToolResult: TurnWriter._result,
    Plan: TurnWriter._plan,
    Diff: TurnWriter._diff,
    UsageReport: TurnWriter._usage,
    RateLimits: TurnWriter._limits,
    Notice: TurnWriter._notice,
    Compacted: TurnWriter._compacted,
}
