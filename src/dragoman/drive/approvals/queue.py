"""The queue of open approvals: each is decided by the policy, by a person, or by the deadline.

:meth:`ApprovalQueue.submit` returns immediately. Each request is decided exactly once, in a task of its own,
so a slow policy never delays the reader. Every failure (a policy that raises, a person who does not answer,
an unknown word) is a ``deny`` and a notice. The queue sends nothing itself: it passes the decision to the
``deliver`` callback of the request.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.drive.approvals.policy import (
    DEADLINE_SECONDS,
    Decision,
    Policy,
    Reading,
    Verdict,
    allow_all,
    ask_always,
    deny_all,
    read_verdict,
)
from dragoman.drive.approvals.rules import WORKSPACE, Rules
from dragoman.drive.approvals.unreadable import problem_with
from dragoman.drive.calling import Outcome, call
from dragoman.drive.tasks import Tasks
from dragoman.errors import UsageError
from dragoman.model.fitting import unfit
from dragoman.model.messages import ApprovalRequested, Level, Notice

Ask: TypeAlias = Callable[[ApprovalRequested], Verdict | Awaitable[Verdict]]
"""Ask a person and return the answer. A synchronous function is called in a thread."""
Deliver: TypeAlias = Callable[[Decision], None]
OnNotice: TypeAlias = Callable[[Notice], None]

_OURS: Final = (allow_all, deny_all, ask_always)
_log = logging.getLogger(__name__)


async def elsewhere(request: ApprovalRequested) -> None:
    """For ``ApprovalQueue(ask=…)``: wait until :meth:`ApprovalQueue.decide` is called."""
    await asyncio.get_running_loop().create_future()


def checked_seconds(seconds: object) -> float | None:
    """Return how long a question may wait. Raises :class:`UsageError` for anything but a number."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or math.isnan(seconds):
        raise UsageError(
            f"ask_seconds must be a number of seconds, or None for no deadline; not {seconds!r}"
        )
    return None if math.isinf(seconds) and seconds > 0 else max(0.0, float(seconds))


class OpenApproval(msgspec.Struct, frozen=True, kw_only=True):
    """An open request."""

    request: ApprovalRequested
    asking: bool
    """Whether it waits for a person. If not, the policy has not returned yet."""
    seconds_left: float | None
    """Time left until it is denied; null: no deadline."""
    view: Any = None
    """How it is shown to people, if :meth:`ApprovalQueue.present` was called."""


class _OpenApproval:
    """One request in the queue."""

    def __init__(
        self,
        request: ApprovalRequested,
        deliver: Deliver,
        due_at: float | None,
        granted: Decision | None,
    ) -> None:
        self.request = request
        self.granted = granted
        self.deliver = deliver
        self.due_at = due_at
        self.asking = False
        self.view: object = None
        self.task: asyncio.Task[None] | None = None


class ApprovalQueue:
    """``async with ApprovalQueue(policy) as queue``: decides requests; on exit, denies those still open."""

    def __init__(
        self,
        policy: Policy = ask_always,
        *,
        ask: Ask | None = None,
        deadline_seconds: float | None = DEADLINE_SECONDS,
        on_notice: OnNotice | None = None,
    ) -> None:
        """Without ``ask``, requests that the policy leaves open are denied.

        The deadline starts at submission and includes the policy's time; None means no deadline.
        Raises :class:`UsageError` if it is not a number of seconds. ``on_notice`` receives the problems.
        """
        if not callable(policy):
            raise UsageError(f"policy must be a function or a policy file; not {policy!r}")
        if ask is not None and not callable(ask):
            raise UsageError(f"ask must be a function or None; not {ask!r}")
        self._policy = policy
        self._ask = ask
        self._deadline_seconds = checked_seconds(deadline_seconds)
        self._on_notice = on_notice
        self._open: dict[tuple[str | None, str], _OpenApproval] = {}
        self._group: Tasks | None = None

    async def __aenter__(self) -> ApprovalQueue:
        self._group = await Tasks().__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        group, self._group = self._group, None
        for each in list(self._open.values()):
            self._settle(each, Decision(word="deny", by="closed"))
        if group is not None:
            await group.__aexit__(kind, error, trace)

    def submit(
        self,
        request: ApprovalRequested,
        deliver: Deliver,
        *,
        cwd: str | None = None,
        granted: Decision | None = None,
    ) -> None:
        """Add a request. ``deliver`` is called once with the decision, later, in the event loop's thread.

        ``cwd`` is the session's directory. It becomes ``detail["workspace"]``, and ``detail["cwd"]`` if the
        request names no directory. A request replaces an open one with the same id. ``granted`` is an earlier
        decision by a person: it applies if the policy leaves the request open, and no one is asked.
        """
        detail = {key: value for key, value in request.detail.items() if key != WORKSPACE}
        if cwd is not None:
            detail = {"cwd": request.cwd or cwd, **detail, WORKSPACE: cwd}
        request = msgspec.structs.replace(request, detail=detail)
        seconds = self._deadline_seconds
        due_at = None if seconds is None else asyncio.get_running_loop().time() + seconds
        if (earlier := self._open.get(_key(request))) is not None:
            self._remove(earlier)
        each = _OpenApproval(request, deliver, due_at, granted)
        self._open[_key(request)] = each
        if self._group is None:
            self._settle(each, Decision(word="deny", by="closed"))
        else:
            each.task = self._group.create_task(self._work(each))

    def report_to(self, on_notice: OnNotice) -> None:
        """Send the notices about problems to this callback from now on."""
        self._on_notice = on_notice

    def decide(
        self,
        approval_id: str,
        verdict: Verdict,
        *,
        session_id: str | None = None,
        by: str = "person",
    ) -> bool:
        """Decide from outside, such as from a web page. False if no such request is open."""
        each = self._find(approval_id, session_id)
        if each is None:
            return False
        self._settle(each, self._understood(each.request, read_verdict(verdict, by), by))
        return True

    def withdraw(self, approval_id: str, *, session_id: str | None = None) -> bool:
        """Drop a request that was settled elsewhere, and deliver nothing."""
        each = self._find(approval_id, session_id)
        if each is not None:
            self._remove(each)
        return each is not None

    def withdraw_session(self, session_id: str) -> None:
        """Drop the requests of a session whose turn has ended."""
        for each in [each for key, each in self._open.items() if key[0] == session_id]:
            self._remove(each)

    def withdraw_all(self) -> None:
        """Drop all requests: the agent is gone."""
        for each in list(self._open.values()):
            self._remove(each)

    def present(self, request: ApprovalRequested, view: object) -> None:
        """Note how a request is shown to people; it is kept here, as long as the request is open."""
        each = self._open.get(_key(request))
        if each is not None:
            each.view = view

    def pending(self) -> list[OpenApproval]:
        """The open requests, oldest first."""
        if not self._open:
            return []
        now = asyncio.get_running_loop().time()
        return [
            OpenApproval(
                request=each.request,
                asking=each.asking,
                seconds_left=None if each.due_at is None else max(0.0, each.due_at - now),
                view=each.view,
            )
            for each in self._open.values()
        ]

    def _find(self, approval_id: str, session_id: str | None) -> _OpenApproval | None:
        """Without a session id, find the request with this id if there is only one."""
        if session_id is not None:
            return self._open.get((session_id, approval_id))
        named = [each for key, each in self._open.items() if key[1] == approval_id]
        return named[0] if len(named) == 1 else None

    # One request.

    async def _work(self, each: _OpenApproval) -> None:
        try:
            with Outcome() as outcome:
                outcome.value = await self._decided(each)
            if outcome.problem is not None:  # a bug in the queue itself
                _log.error("an approval could not be decided", exc_info=outcome.error)
            self._settle(each, outcome.value or Decision(word="deny", by="default"))
        finally:
            # However this task ended, the agent gets an answer, unless the request was withdrawn.
            self._settle(each, Decision(word="deny", by="default"))

    async def _decided(self, each: _OpenApproval) -> Decision:
        try:
            async with asyncio.timeout_at(each.due_at):
                return await self._consider(each)
        except TimeoutError:
            text = "no one decided in time" if each.asking else "the policy did not decide in time"
            self._notify(each.request, "warning", f"{text}: denied")
            return Decision(word="deny", by="deadline")

    async def _consider(self, each: _OpenApproval) -> Decision:
        request = each.request
        if (problem := problem_with(request)) is not None:
            # Neither a policy nor a person could know what they would allow.
            self._notify(request, "error", f"the request cannot be read: {problem}; denied")
            return Decision(word="deny", by="unreadable request")
        decision = await self._policy_says(request)
        if decision is not None:
            return decision
        if each.granted is not None:
            return each.granted
        if self._ask is None:
            return Decision(word="deny", by="no one to ask")
        each.asking = True
        outcome = await call(self._ask, request)
        if outcome.problem is not None:
            self._notify(request, "error", f"asking failed with {outcome.problem}; taken as deny")
            return Decision(word="deny", by="default")
        return self._understood(request, read_verdict(outcome.value, "person"), "person")

    async def _policy_says(self, request: ApprovalRequested) -> Decision | None:
        policy = self._policy
        if isinstance(policy, Rules) or any(policy is ours for ours in _OURS):
            # The built-in policies never block, so they need no thread.
            with Outcome() as outcome:
                outcome.value = policy(request)
        else:
            outcome = await call(policy, request)
        if outcome.problem is not None:
            self._notify(
                request, "error", f"the policy failed with {outcome.problem}; taken as deny"
            )
            return Decision(word="deny", by="default")
        reading = read_verdict(outcome.value, "policy")
        if reading.problem is not None:
            self._notify(request, "error", f"the policy: {reading.problem}")
        return self._fitting(request, reading.decision, "the policy")

    def _understood(self, request: ApprovalRequested, reading: Reading, by: str) -> Decision:
        """A person's answer as a decision. No answer is a denial."""
        if reading.problem is not None:
            self._notify(request, "error", f"the answer: {reading.problem}")
        decision = self._fitting(request, reading.decision, "the answer")
        return decision or Decision(word="deny", by=by)

    def _fitting(
        self, request: ApprovalRequested, decision: Decision | None, whose: str
    ) -> Decision | None:
        """The decision, or a denial if it does not fit the request: the agent would never get an answer."""
        if decision is None:
            return None
        wrong = unfit(request, decision.word, decision.answers, decision.content)
        if wrong is None:
            return decision
        self._notify(request, "error", f"{whose}: {wrong}; taken as deny")
        return Decision(word="deny", by=decision.by)

    def _settle(self, each: _OpenApproval, decision: Decision) -> None:
        if not self._remove(each):
            return
        with Outcome() as outcome:
            each.deliver(decision)
        if outcome.error is not None:
            _log.error("a decision could not be delivered", exc_info=outcome.error)

    def _remove(self, each: _OpenApproval) -> bool:
        """Remove it from the queue; False if it was gone already."""
        key = _key(each.request)
        if self._open.get(key) is not each:
            return False
        del self._open[key]
        if each.task is not None and each.task is not asyncio.current_task():
            each.task.cancel()
        return True

    def _notify(self, request: ApprovalRequested, level: Level, text: str) -> None:
        what = f"approval {request.approval_id}: {text}"
        _log.log(logging.ERROR if level == "error" else logging.WARNING, "%s", what)
        if self._on_notice is None:
            return
        notice = Notice(
            session_id=request.session_id, turn_id=request.turn_id, level=level, text=what
        )
        with Outcome() as outcome:
            self._on_notice(notice)
        if outcome.error is not None:
            _log.error("a notice could not be emitted", exc_info=outcome.error)


def _key(request: ApprovalRequested) -> tuple[str | None, str]:
    return request.session_id, request.approval_id
