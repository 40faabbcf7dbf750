"""Playing ``codex app-server``: JSON-RPC in, JSON-RPC out, each turn the recording's next.

| the client asks for | and gets |
|---|---|
| initialize, account/read, model/list … | an answer, as from a program that needs no sign-in |
| thread/start, thread/resume, thread/fork | a thread at the recording's first turn, or where it was |
| thread/list, thread/read | the recording, and what has been played |
| turn/start | the next turn, in the recording's own time; while one runs: that one |
| turn/interrupt | the end of the turn |
| anything else | a refusal, with the text of the real program |

Where the recording has a request, the turn waits for the client's answer, and then continues as it was
recorded, whatever the answer; only a ``cancel`` ends the turn. Nothing is ever executed, so every
sandbox and approval policy that is asked for is confirmed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.harnesses.codex.playback.approvals import is_cancelled
from dragoman.harnesses.codex.playback.script import PlaybackScript
from dragoman.harnesses.codex.playback.shapes import turn_of
from dragoman.harnesses.codex.playback.threads import PlayedThread, opened, shown_thread
from dragoman.harnesses.codex.playback.turns import TurnWriter, made_up_id
from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.wire import jsonl

_INVALID: Final = -32600
_NOTHING_TO_SAY: Final = frozenset(
    ("thread/name/set", "thread/archive", "thread/unarchive", "thread/settings/update",
     "thread/backgroundTerminals/clean", "thread/metadata/update", "account/logout")
)  # fmt: skip
_EMPTY_LISTS: Final = frozenset(
    ("skills/list", "mcpServerStatus/list", "collaborationMode/list", "experimentalFeature/list",
     "app/list", "plugin/list", "hooks/list")
)  # fmt: skip
Params: TypeAlias = dict[str, Any]


class _Refused(Exception):
    """The request cannot be answered; the sentence explains why."""


class Server:
    """One connection with one client."""

    def __init__(self, timed: Sequence[TimedMessage]) -> None:
        self._script = PlaybackScript(timed)
        self._threads: dict[str, PlayedThread] = {}
        self._out: list[bytes] = []
        self._is_greeted = False
        self._asked = 0

    # Lines in, lines out.

    def receive_line(self, line: bytes, now: float) -> None:
        try:
            said = as_dict(jsonl.loads(line))
        except jsonl.NotJson:
            return  # the real one passes over such lines, too
        method, request_id = as_str(said.get("method")), said.get("id")
        if method is None:
            self._answered(request_id, said.get("result"), now)
        elif request_id is not None:
            try:
                result, then = self._call(method, as_dict(said.get("params")), now)
            except _Refused as problem:
                error = {"code": _INVALID, "message": str(problem)}
                self._send({"id": request_id, "error": error})
                return
            self._send({"id": request_id, "result": result})
            if then is not None:
                then()

    def lines_to_send(self, now: float) -> list[bytes]:
        for thread in self._threads.values():
            self._play(thread, now)
        out, self._out = self._out, []
        return out

    def due_at(self) -> float | None:
        times = [
            thread.next_at
            for thread in self._threads.values()
            if thread.steps and thread.waits_for is None
        ]
        return min(times, default=None)

    # Turns.

    def _play(self, thread: PlayedThread, now: float) -> None:
        while thread.steps and thread.waits_for is None and thread.next_at <= now:
            step = thread.steps.popleft()
            if step.asks:
                request_id, self._asked = self._asked, self._asked + 1
                thread.waits_for = request_id
                self._status(thread, ["waitingOnApproval"], step.at_ms)
                self._send({"method": step.method, "id": request_id, "params": step.params})
                return
            self._notify(step.method, step.params, step.at_ms)
            if step.method == "turn/completed" and step.params["threadId"] == thread.id:
                thread.turn_id = None
            if thread.steps:
                thread.next_at = max(thread.next_at, now) + thread.steps[0].after
        if not thread.steps:
            thread.turn_id = None

    def _answered(self, request_id: Any, result: Any, now: float) -> None:
        for thread in self._threads.values():
            if thread.waits_for is not None and thread.waits_for == request_id:
                thread.waits_for = None
                resolved = {"threadId": thread.id, "requestId": request_id}
                self._notify("serverRequest/resolved", resolved, None)
                self._status(thread, [], None)
                if is_cancelled(result):
                    self._stop(thread)
                elif thread.steps:
                    thread.next_at = now + thread.steps[0].after

    def _stop(self, thread: PlayedThread) -> None:
        turn_id, thread.turn_id = thread.turn_id, None
        thread.steps.clear()
        thread.waits_for = None
        if turn_id is not None:
            self._notify("thread/status/changed", _idle(thread), None)
            ended = {"threadId": thread.id, "turn": turn_of(turn_id, "interrupted")}
            self._notify("turn/completed", ended, None)

    # Requests.

    def _call(self, method: str, params: Params, now: float) -> _Answer:
        if method == "initialize":
            return self._initialize(params)
        if not self._is_greeted:
            raise _Refused("Not initialized")
        if method in _NOTHING_TO_SAY:
            return {}, None
        if method in _EMPTY_LISTS:
            return {"data": [], "nextCursor": None}, None
        answer = _CALLS.get(method)
        if answer is None:
            raise _Refused(f"Invalid request: unknown variant `{method}`")
        return answer(self, params, now)

    def _initialize(self, params: Params) -> _Answer:
        if self._is_greeted:
            raise _Refused("Already initialized")
        self._is_greeted = True
        name = as_str(as_dict(params.get("clientInfo")).get("name")) or "client"
        agent = f"{name}/{self._script.release} (a recording) dragoman"
        home = {"codexHome": self._script.home, "platformFamily": "unix", "platformOs": "linux"}
        return {"userAgent": agent, **home}, None

    def _account(self, params: Params, now: float) -> _Answer:
        return {"account": None, "requiresOpenaiAuth": False}, None

    def _models(self, params: Params, now: float) -> _Answer:
        return {"data": [self._script.model()], "nextCursor": None}, None

    def _limits(self, params: Params, now: float) -> _Answer:
        return {"rateLimits": self._script.limits, "rateLimitsByLimitId": None}, None

    def _start(self, params: Params, now: float) -> _Answer:
        count = len(self._threads)
        thread_id = self._script.thread_id
        if count:
            thread_id = made_up_id(thread_id, "again", count)
        return self._open(self._made(thread_id, params), params, is_new=True)

    def _fork(self, params: Params, now: float) -> _Answer:
        asked = as_str(params.get("threadId")) or ""
        parent = self._find(asked)
        thread = self._made(made_up_id(asked, "fork", len(self._threads)), params)
        thread.played, thread.forked_from = parent.played if parent else 0, asked
        return self._open(thread, params, is_new=True)

    def _resume(self, params: Params, now: float) -> _Answer:
        asked = as_str(params.get("threadId")) or ""
        thread = self._find(asked) or self._made(asked, params)
        return self._open(thread, params, is_new=False)

    def _made(self, thread_id: str, params: Params) -> PlayedThread:
        cwd = as_str(params.get("cwd")) or self._script.cwd
        writer = TurnWriter(thread_id, self._script.own, cwd)
        thread = PlayedThread(thread_id, cwd, writer, ephemeral=params.get("ephemeral") is True)
        self._threads[thread_id] = thread
        return thread

    def _open(self, thread: PlayedThread, params: Params, *, is_new: bool) -> _Answer:
        shown = shown_thread(
            self._script, thread, turns=not is_new and params.get("excludeTurns") is not True
        )
        result = opened(shown, thread.cwd, params)
        if not is_new:
            return result, None
        return result, lambda: self._notify("thread/started", {"thread": shown}, None)

    def _list(self, params: Params, now: float) -> _Answer:
        known = self._threads.values()
        shown = [shown_thread(self._script, thread, turns=False) for thread in known]
        if self._script.thread_id not in self._threads:
            shown.append(shown_thread(self._script, None, turns=False))
        return {"data": shown, "nextCursor": None, "backwardsCursor": None}, None

    def _loaded(self, params: Params, now: float) -> _Answer:
        return {"data": list(self._threads), "nextCursor": None}, None

    def _read(self, params: Params, now: float) -> _Answer:
        thread = self._find(as_str(params.get("threadId")) or "")
        return {
            "thread": shown_thread(self._script, thread, turns=params.get("includeTurns") is True)
        }, None

    def _turn(self, params: Params, now: float) -> _Answer:
        thread = self._need(params)
        if thread.turn_id is not None:
            return {"turn": turn_of(thread.turn_id, "inProgress")}, None
        if thread.played >= len(self._script.turns):
            raise _Refused(f"the recording has no further turn: it has {len(self._script.turns)}")
        turn = self._script.turns[thread.played]
        thread.played += 1
        thread.turn_id = self._script.turn_id(thread.played, thread.id)
        thread.steps = deque(thread.writer.write(turn, thread.turn_id))
        thread.next_at = now + (thread.steps[0].after if thread.steps else 0.0)
        return {"turn": turn_of(thread.turn_id, "inProgress")}, None

    def _steer(self, params: Params, now: float) -> _Answer:
        thread = self._need(params)
        if thread.turn_id is None:
            raise _Refused("no active turn to steer")
        return {"turnId": thread.turn_id}, None

    def _interrupt(self, params: Params, now: float) -> _Answer:
        thread = self._need(params)
        return {}, lambda: self._stop(thread)

    def _unsubscribe(self, params: Params, now: float) -> _Answer:
        thread = self._threads.pop(as_str(params.get("threadId")) or "", None)
        return {"status": "unsubscribed" if thread else "notLoaded"}, None

    # Helpers.

    def _need(self, params: Params) -> PlayedThread:
        name = as_str(params.get("threadId")) or ""
        thread = self._threads.get(name)
        if thread is None:
            raise _Refused(f"thread not found: {name}")
        return thread

    def _find(self, thread_id: str) -> PlayedThread | None:
        """A thread in play; None for the recording itself. Anything else is not there."""
        thread = self._threads.get(thread_id)
        if thread is None and thread_id != self._script.thread_id:
            raise _Refused(f"no rollout found for thread id {thread_id}")
        return thread

    def _status(self, thread: PlayedThread, flags: list[str], at_ms: int | None) -> None:
        status = {"type": "active", "activeFlags": flags}
        self._notify("thread/status/changed", {"threadId": thread.id, "status": status}, at_ms)

    def _notify(self, method: str, params: Params, at_ms: int | None) -> None:
        moment = {"emittedAtMs": at_ms} if at_ms is not None else {}
        self._send({"method": method, "params": params, **moment})

    def _send(self, message: Params) -> None:
        self._out.append(msgspec.json.encode(message))


def _idle(thread: PlayedThread) -> Params:
    return {"threadId": thread.id, "status": {"type": "idle"}}


_Answer: TypeAlias = tuple[Params, Callable[[], None] | None]
_Call: TypeAlias = Callable[[Server, Params, float], _Answer]
_CALLS: Final[dict[str, _Call]] = {
    "account/read": Server._account,
    "account/rateLimits/read": Server._limits,
    "model/list": Server._models,
    "thread/start": Server._start,
    "thread/resume": Server._resume,
    "thread/fork": Server._fork,
    "thread/list": Server._list,
    "thread/loaded/list": Server._loaded,
    "thread/read": Server._read,
    "thread/unsubscribe": Server._unsubscribe,
    "turn/start": Server._turn,
    "turn/steer": Server._steer,
    "turn/interrupt": Server._interrupt,
}
