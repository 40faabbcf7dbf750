from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import msgspec
import pytest

from dragoman.drive.approvals.policy import Decision, Policy, allow_all, ask_always, deny_all
from dragoman.drive.approvals.queue import ApprovalQueue, checked_seconds, elsewhere
from dragoman.drive.approvals.rules import Rules, rule
from dragoman.errors import UsageError
from dragoman.model.messages import ApprovalRequested, Notice

T = TypeVar("T")


def _run(work: Callable[[], Awaitable[T]]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(10):
            return await work()

    return asyncio.run(bounded())


def _request(
    approval_id: str = "a", session_id: str | None = "s", **detail: Any
) -> ApprovalRequested:
    return ApprovalRequested(
        session_id=session_id,
        turn_id="t",
        approval_id=approval_id,
        kind="command",
        detail={"command": "make", **detail},
    )


class _Watched:
    """A desk, and what it said."""

    def __init__(self, desk: ApprovalQueue, notices: list[Notice]) -> None:
        self.desk = desk
        self.notices = notices

    async def decision(self, request: ApprovalRequested | None = None) -> Decision:
        done: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self.desk.submit(request or _request(), done.set_result)
        return await done


@asynccontextmanager
async def _desk(policy: Policy = ask_always, **options: Any) -> AsyncGenerator[_Watched]:
    notices: list[Notice] = []
    async with ApprovalQueue(policy, on_notice=notices.append, **options) as desk:
        yield _Watched(desk, notices)


def _decide(policy: Policy = ask_always, **options: Any) -> tuple[Decision, list[str]]:
    async def work() -> tuple[Decision, list[str]]:
        async with _desk(policy, **options) as watched:
            decision = await watched.decision()
            assert watched.desk.pending() == []
            return decision, [notice.text for notice in watched.notices]

    return _run(work)


async def _slowly_no(request: ApprovalRequested) -> str:
    await asyncio.sleep(0)
    return "deny"


_POLICIES: list[tuple[Policy, Decision]] = [
    (allow_all, Decision(word="allow")),
    (deny_all, Decision(word="deny")),
    (_slowly_no, Decision(word="deny")),
    (lambda request: "allow_for_session", Decision(word="allow_for_session")),
    (lambda request: _slowly_no(request), Decision(word="deny")),
    (Rules([rule("cancel", kind="command")]), Decision(word="cancel", by="rule 1")),
]


@pytest.mark.parametrize(
    ("policy", "decision"),
    _POLICIES,
    ids=["allow_all", "deny_all", "async", "a word", "lambda around async", "rules"],
)
def test_a_policy_of_any_sort_decides(policy: Policy, decision: Decision) -> None:
    assert _decide(policy) == (decision, [])


def _raising(request: ApprovalRequested) -> str:
    raise LookupError(f"no rule for {request.kind}")


_FAILING: list[tuple[Callable[[ApprovalRequested], Any], str]] = [
    (_raising, "the policy failed with LookupError: no rule for command; taken as deny"),
    (lambda request: "yes", "the policy: unknown decision 'yes'; taken as deny"),
    (lambda request: 1, "the policy: a int is not a decision; taken as deny"),
]


@pytest.mark.parametrize(
    ("policy", "words"),
    _FAILING,
    ids=["raises", "unknown word", "wrong type"],
)
def test_a_policy_that_fails_denies_and_says_so(policy: Policy, words: str) -> None:
    decision, [notice] = _decide(policy, ask=allow_all)

    assert decision.word == "deny"
    assert notice.startswith(f"approval a: {words}")


def _yes(request: ApprovalRequested) -> str:
    return "allow"


@pytest.mark.parametrize("policy", [allow_all, _yes, Rules([], default="allow")])
@pytest.mark.parametrize(
    "request_",
    [
        ApprovalRequested(approval_id="a", kind="command"),
        ApprovalRequested(approval_id="a", kind="command", detail={"command": " "}),
        ApprovalRequested(approval_id="a", kind="command", detail={"command": ["ls"]}),
        ApprovalRequested(approval_id="a", kind="command", command="ls", argv=[]),
        ApprovalRequested(approval_id="a", kind="command", argv=[""], detail={"command": "ls"}),
        ApprovalRequested(approval_id="a", kind="edit"),
        ApprovalRequested(approval_id="a", kind="edit", detail={"changes": [{"path": None}]}),
        ApprovalRequested(approval_id="a", kind="permissions", summary="please"),
        ApprovalRequested(approval_id="a", kind="tool"),
    ],
)
def test_a_request_that_cannot_be_read_is_denied_whatever_the_policy_and_people_say(
    policy: Policy, request_: ApprovalRequested
) -> None:
    async def work() -> tuple[Decision, list[str]]:
        async with _desk(policy, ask=allow_all) as watched:
            decision = await watched.decision(request_)
            return decision, [notice.text for notice in watched.notices]

    decision, [notice] = _run(work)

    assert decision == Decision(word="deny", by="unreadable request")
    assert notice.startswith("approval a: the request cannot be read: it does not say")


def test_the_agent_cannot_say_which_directory_is_the_session_s_own() -> None:
    rules = Rules([rule("allow", command="ls")])
    claimed = _request(command="ls", workspace="/evil", cwd="/evil")

    async def work() -> list[Decision]:
        async with _desk(rules) as watched:
            got: list[Decision] = []
            for number, cwd in enumerate((None, "/w", "/evil")):
                request = msgspec.structs.replace(claimed, approval_id=str(number))
                done = asyncio.Event()

                def deliver(decision: Decision, done: asyncio.Event = done) -> None:
                    got.append(decision)
                    done.set()

                watched.desk.submit(request, deliver, cwd=cwd)
                await done.wait()
            return got

    assert [each.word for each in _run(work)] == ["deny", "deny", "allow"]


def test_with_nobody_to_ask_the_answer_is_no() -> None:
    assert _decide() == (Decision(word="deny", by="no one to ask"), [])


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ("allow", Decision(word="allow", by="person")),
        (True, Decision(word="allow", by="person")),
        (None, Decision(word="deny", by="person")),
        (
            Decision(word="deny", message="use make", by="ann"),
            Decision(word="deny", message="use make", by="ann"),
        ),
    ],
)
def test_a_person_is_asked_and_silence_is_no(said: Any, decision: Decision) -> None:
    async def later(request: ApprovalRequested) -> Any:
        return said

    def at_once(request: ApprovalRequested) -> Any:
        return said

    assert _decide(ask=at_once) == (decision, [])
    assert _decide(ask=later) == (decision, [])


def test_when_asking_fails_the_answer_is_no() -> None:
    decision, [notice] = _decide(ask=_raising)

    assert decision == Decision(word="deny", by="default")
    assert notice.startswith("approval a: asking failed with LookupError")


def test_when_nobody_answers_in_time_the_answer_is_no() -> None:
    release = threading.Event()

    def hangs(request: ApprovalRequested) -> str:
        release.wait(10)
        return "allow"

    for ask in (elsewhere, hangs):
        decision, [notice] = _decide(ask=ask, deadline_seconds=0.01)
        assert decision == Decision(word="deny", by="deadline")
        assert notice == "approval a: no one decided in time: denied"
    release.set()


def test_a_policy_that_hangs_is_bounded_too() -> None:
    decision, [notice] = _decide(elsewhere, deadline_seconds=0.01)

    assert decision.by == "deadline"
    assert notice == "approval a: the policy did not decide in time: denied"


def test_a_late_answer_is_no_answer() -> None:
    release = threading.Event()
    answered = threading.Event()

    def late(request: ApprovalRequested) -> str:
        release.wait(10)
        answered.set()
        return "allow"

    async def work() -> list[Decision]:
        delivered: list[Decision] = []
        async with _desk(ask=late, deadline_seconds=0.01) as watched:
            done = asyncio.Event()

            def deliver(decision: Decision) -> None:
                delivered.append(decision)
                done.set()

            watched.desk.submit(_request(), deliver)
            await done.wait()
            release.set()
            assert await asyncio.to_thread(answered.wait, 5)
            await asyncio.sleep(0)
        return delivered

    assert _run(work) == [Decision(word="deny", by="deadline")]


def test_somebody_may_decide_from_elsewhere() -> None:
    async def work() -> None:
        asked = asyncio.Event()

        async def ask(request: ApprovalRequested) -> None:
            asked.set()
            await elsewhere(request)

        async with _desk(ask=ask, deadline_seconds=60) as watched:
            desk, got = watched.desk, list[Decision]()
            request = _request(command="ls")
            desk.submit(request, got.append, cwd="/w")
            await asked.wait()
            [pending] = desk.pending()
            assert pending.asking
            assert pending.request.detail == {"command": "ls", "cwd": "/w", "workspace": "/w"}
            assert 50 < (pending.seconds_left or 0) <= 60

            assert desk.decide("a", Decision(word="allow"), session_id="other") is False
            assert desk.decide("a", "allow_for_session", by="ann") is True
            assert desk.decide("a", "deny") is False

            assert got == [Decision(word="allow_for_session", by="ann")]
            assert desk.pending() == []

    _run(work)


def test_two_sessions_may_use_the_same_id() -> None:
    async def work() -> None:
        async with _desk(ask=elsewhere, deadline_seconds=None) as watched:
            desk, one, two = watched.desk, list[Decision](), list[Decision]()
            desk.submit(_request("a", "s1"), one.append)
            desk.submit(_request("a", "s2"), two.append)

            assert desk.decide("a", "allow") is False
            assert desk.decide("a", "allow", session_id="s2") is True
            assert (one, [decision.word for decision in two]) == ([], ["allow"])
            assert [each.seconds_left for each in desk.pending()] == [None]

    _run(work)


def test_an_unknown_word_from_elsewhere_is_a_no() -> None:
    async def work() -> None:
        async with _desk(ask=elsewhere) as watched:
            got: list[Decision] = []
            watched.desk.submit(_request(), got.append)

            assert watched.desk.decide("a", "yep") is True
            assert [decision.word for decision in got] == ["deny"]
            assert "unknown decision 'yep'" in watched.notices[0].text

    _run(work)


def test_what_is_settled_without_us_is_not_asked_any_more() -> None:
    asked, stopped = asyncio.Event(), asyncio.Event()

    async def asking(request: ApprovalRequested) -> str:
        asked.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            stopped.set()
        return "allow"

    async def work() -> None:
        async with _desk(ask=asking) as watched:
            desk, got = watched.desk, list[Decision]()
            desk.submit(_request(), got.append)
            await asked.wait()

            assert desk.withdraw("a") is True
            assert desk.withdraw("a") is False
            await stopped.wait()
            assert (got, desk.pending()) == ([], [])

            desk.submit(_request(), got.append)
            desk.withdraw_all()
            assert (got, desk.pending()) == ([], [])

    _run(work)


def test_when_a_turn_ends_its_sessions_requests_are_withdrawn() -> None:
    async def work() -> None:
        async with _desk(ask=elsewhere) as watched:
            desk, got = watched.desk, list[Decision]()
            for session_id in ("s1", "s2"):
                desk.submit(_request("a", session_id), got.append)

            desk.withdraw_session("s1")

            assert [each.request.session_id for each in desk.pending()] == ["s2"]
            assert got == []

    _run(work)


def test_who_hears_of_trouble_may_come_later() -> None:
    async def work() -> list[str]:
        heard: list[Notice] = []
        async with _desk(_raising) as watched:
            watched.desk.report_to(heard.append)
            await watched.decision()
            assert watched.notices == []
        return [notice.level for notice in heard]

    assert _run(work) == ["error"]


def test_a_request_asked_again_takes_the_place_of_the_first() -> None:
    async def work() -> None:
        async with _desk(ask=elsewhere) as watched:
            first, second = list[Decision](), list[Decision]()
            watched.desk.submit(_request(), first.append)
            watched.desk.submit(_request(), second.append)

            assert watched.desk.decide("a", "allow") is True
            assert (len(first), len(second)) == (0, 1)

    _run(work)


def test_a_desk_that_closes_denies_what_is_open_and_what_comes_after() -> None:
    async def work() -> list[Decision]:
        got: list[Decision] = []
        async with _desk(ask=elsewhere) as watched:
            watched.desk.submit(_request(), got.append)
            await asyncio.sleep(0)
        watched.desk.submit(_request(), got.append)
        return got

    assert _run(work) == [Decision(word="deny", by="closed")] * 2


def test_two_hundred_at_once_are_asked_at_once() -> None:
    everybody = threading.Barrier(200)

    def ask(request: ApprovalRequested) -> str:
        everybody.wait(10)
        return "allow"

    async def work() -> list[Decision]:
        async with _desk(ask=ask) as watched, asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(watched.decision(_request(str(number)))) for number in range(200)
            ]
        return [task.result() for task in tasks]

    assert _run(work) == [Decision(word="allow", by="person")] * 200


def test_a_listener_that_fails_does_not_stop_the_desk(caplog: pytest.LogCaptureFixture) -> None:
    def broken(anything: object) -> None:
        raise OSError("gone")

    async def work() -> Decision:
        async with ApprovalQueue(_raising, on_notice=broken) as desk:
            desk.submit(_request("a"), broken)
            done: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
            desk.submit(_request("b"), done.set_result)
            return await done

    assert _run(work).word == "deny"
    assert "a decision could not be delivered" in caplog.text
    assert "a notice could not be emitted" in caplog.text


async def _cancels_itself(request: ApprovalRequested) -> str:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return "allow"


async def _raises_cancelled(request: ApprovalRequested) -> str:
    raise asyncio.CancelledError


async def _exits(request: ApprovalRequested) -> str:
    raise SystemExit(3)


async def _interrupts(request: ApprovalRequested) -> str:
    raise KeyboardInterrupt


async def _closes(request: ApprovalRequested) -> str:
    raise GeneratorExit


class _Odd(BaseException):
    def __str__(self) -> str:
        raise _Odd


async def _odd(request: ApprovalRequested) -> str:
    raise _Odd


class _Never:
    """Equal to everything, and to nothing."""

    def __eq__(self, other: object) -> bool:
        raise _Odd

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, request: ApprovalRequested) -> Any:
        return self

    def __bool__(self) -> bool:
        raise _Odd

    def __repr__(self) -> str:
        raise _Odd


def _given(**facts: Any) -> Callable[[ApprovalRequested], Any]:
    return lambda request: Decision(**facts)


_BREAKING: dict[str, Callable[[ApprovalRequested], Any]] = {
    "cancels itself": _cancels_itself,
    "raises CancelledError": _raises_cancelled,
    "exits": _exits,
    "interrupts": _interrupts,
    "closes": _closes,
    "raises what cannot be shown": _odd,
    "is and returns what cannot be compared": _Never(),
    "takes no arguments": lambda: "allow",  # type: ignore[dict-item]
    "an odd word": _given(word=_Never()),
    "a list for a word": _given(word=["allow"]),
    "answers that are none": _given(word="allow", answers=7),
    "answers to a command": _given(word="allow", answers={"q": ["x"]}),
    "content that is none": _given(word="allow", content="yes"),
    "content for a command": _given(word="allow", content={"x": 1}),
    "a message that is none": _given(word="allow", message=_Never()),
    "a name that is none": _given(word="allow", by=3),
    "answered": _given(word="answered"),
    "a future that was cancelled": lambda request: _cancelled_future(),
    "a generator": lambda request: (word for word in ("allow",)),
}


async def _cancelled_future() -> Any:
    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    future.cancel()
    return await future


@pytest.mark.parametrize("policy", _BREAKING.values(), ids=_BREAKING)
def test_whatever_goes_wrong_inside_a_policy_is_a_denial(policy: Policy) -> None:
    decision, [notice] = _decide(policy, ask=allow_all)

    assert decision.word == "deny"
    assert notice.startswith("approval a: the policy")


@pytest.mark.parametrize("ask", _BREAKING.values(), ids=_BREAKING)
def test_whatever_goes_wrong_in_asking_is_a_denial(ask: Any) -> None:
    decision, [notice] = _decide(ask=ask)

    assert decision.word == "deny"
    assert notice.startswith("approval a: ")


def test_a_policy_that_will_not_be_cancelled_is_left_behind() -> None:
    stop = threading.Event()

    async def stays(request: ApprovalRequested) -> str:
        while not stop.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue
        return "allow"

    async def work() -> Decision:
        async with _desk(stays, deadline_seconds=0.01) as watched:
            decision = await watched.decision()
        stop.set()
        return decision

    assert _run(work) == Decision(word="deny", by="deadline")


@pytest.mark.parametrize("seconds", ["5", b"5", True, float("nan"), [5], {}])
def test_a_deadline_that_is_no_number_is_refused_before_anything_is_asked(seconds: Any) -> None:
    with pytest.raises(UsageError, match="ask_seconds must be a number of seconds"):
        ApprovalQueue(deadline_seconds=seconds)


@pytest.mark.parametrize(
    ("seconds", "checked"), [(None, None), (float("inf"), None), (3, 3), (-1, 0)]
)
def test_a_deadline_of_any_number(seconds: float | None, checked: float | None) -> None:
    assert checked_seconds(seconds) == checked


def test_a_decision_that_does_not_fit_is_a_denial_with_a_notice() -> None:
    questions = [{"id": "q", "question": "Which?", "options": [{"label": "Red"}]}]
    form = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    question = ApprovalRequested(
        session_id="s", approval_id="a", kind="question", detail={"questions": questions}
    )
    elicitation = ApprovalRequested(session_id="s", approval_id="a", kind="elicitation", form=form)
    verdicts: list[tuple[ApprovalRequested, Any, str]] = [
        (question, "allow", "a question is answered"),
        (question, Decision(word="answered"), "a question is answered"),
        (question, Decision(word="answered", answers={"q": ["Blue"]}), "must be one of Red"),
        (elicitation, "allow", "n is required"),
        (elicitation, Decision(word="allow", content={"n": "x"}), "n must be a whole number"),
    ]

    async def work() -> None:
        for request, verdict, said in verdicts:
            async with _desk(lambda request, verdict=verdict: verdict) as watched:
                assert (await watched.decision(request)).word == "deny"
                assert said in watched.notices[0].text
            ask: Policy = lambda request, verdict=verdict: verdict  # noqa: E731
            async with _desk(ask=ask) as watched:
                assert (await watched.decision(request)).word == "deny"
                assert said in watched.notices[0].text

    _run(work)
