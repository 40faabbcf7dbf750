from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from dragoman.drive.approvals.policy import Decision, Policy, allow_all, deny_all
from dragoman.drive.approvals.queue import ApprovalQueue, checked_seconds, elsewhere
from dragoman.drive.approvals.rules import Rules, rule
from dragoman.errors import UsageError
from dragoman.model.messages import ApprovalRequested, Notice
from support.agents.queues import decided, open_queue, request_for, run_bounded


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
    assert decided(policy) == (decision, [])


def _raising(request: ApprovalRequested) -> str:
    raise LookupError(f"no rule for {request.kind}")


_FAILING: list[tuple[Callable[[ApprovalRequested], Any], str]] = [
    (_raising, "the policy failed with LookupError: no rule for command; taken as deny"),
    (lambda request: "yes", "the policy: unknown decision 'yes'; taken as deny"),
    (lambda request: 1, "the policy: a value of type int is not a decision; taken as deny"),
]


@pytest.mark.parametrize(
    ("policy", "words"),
    _FAILING,
    ids=["raises", "unknown word", "wrong type"],
)
def test_a_policy_that_fails_denies_and_says_so(policy: Policy, words: str) -> None:
    decision, [notice] = decided(policy, ask=allow_all)

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
        async with open_queue(policy, ask=allow_all) as watched:
            decision = await watched.decision(request_)
            return decision, [notice.text for notice in watched.notices]

    decision, [notice] = run_bounded(work)

    assert decision == Decision(word="deny", by="unreadable request")
    assert notice.startswith("approval a: the request cannot be read: it does not say")


def test_the_agent_cannot_say_which_directory_is_the_session_s_own() -> None:
    rules = Rules([rule("allow", command="ls")])
    claimed = request_for(command="ls", workspace="/evil", cwd="/evil")

    async def work() -> list[Decision]:
        async with open_queue(rules) as watched:
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

    assert [each.word for each in run_bounded(work)] == ["deny", "deny", "allow"]


def test_with_nobody_to_ask_the_answer_is_no() -> None:
    assert decided() == (Decision(word="deny", by="no one to ask"), [])


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

    assert decided(ask=at_once) == (decision, [])
    assert decided(ask=later) == (decision, [])


def test_when_asking_fails_the_answer_is_no() -> None:
    decision, [notice] = decided(ask=_raising)

    assert decision == Decision(word="deny", by="default")
    assert notice.startswith("approval a: asking failed with LookupError")


def test_when_nobody_answers_in_time_the_answer_is_no() -> None:
    release = threading.Event()

    def hangs(request: ApprovalRequested) -> str:
        release.wait(10)
        return "allow"

    for ask in (elsewhere, hangs):
        decision, [notice] = decided(ask=ask, deadline_seconds=0.01)
        assert decision == Decision(word="deny", by="deadline")
        assert notice == "approval a: no one decided in time: denied"
    release.set()


def test_a_policy_that_hangs_is_bounded_too() -> None:
    decision, [notice] = decided(elsewhere, deadline_seconds=0.01)

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
        async with open_queue(ask=late, deadline_seconds=0.01) as watched:
            done = asyncio.Event()

            def deliver(decision: Decision) -> None:
                delivered.append(decision)
                done.set()

            watched.desk.submit(request_for(), deliver)
            await done.wait()
            release.set()
            assert await asyncio.to_thread(answered.wait, 5)
            await asyncio.sleep(0)
        return delivered

    assert run_bounded(work) == [Decision(word="deny", by="deadline")]


def test_somebody_may_decide_from_elsewhere() -> None:
    async def work() -> None:
        asked = asyncio.Event()

        async def ask(request: ApprovalRequested) -> None:
            asked.set()
            await elsewhere(request)

        async with open_queue(ask=ask, deadline_seconds=60) as watched:
            desk, got = watched.desk, list[Decision]()
            request = request_for(command="ls")
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

    run_bounded(work)


def test_two_sessions_may_use_the_same_id() -> None:
    async def work() -> None:
        async with open_queue(ask=elsewhere, deadline_seconds=None) as watched:
            desk, one, two = watched.desk, list[Decision](), list[Decision]()
            desk.submit(request_for("a", "s1"), one.append)
            desk.submit(request_for("a", "s2"), two.append)

            assert desk.decide("a", "allow") is False
            assert desk.decide("a", "allow", session_id="s2") is True
            assert (one, [decision.word for decision in two]) == ([], ["allow"])
            assert [each.seconds_left for each in desk.pending()] == [None]

    run_bounded(work)


def test_an_unknown_word_from_elsewhere_is_a_no() -> None:
    async def work() -> None:
        async with open_queue(ask=elsewhere) as watched:
            got: list[Decision] = []
            watched.desk.submit(request_for(), got.append)

            assert watched.desk.decide("a", "yep") is True
            assert [decision.word for decision in got] == ["deny"]
            assert "unknown decision 'yep'" in watched.notices[0].text

    run_bounded(work)


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
        async with open_queue(ask=asking) as watched:
            desk, got = watched.desk, list[Decision]()
            desk.submit(request_for(), got.append)
            await asked.wait()

            assert desk.withdraw("a") is True
            assert desk.withdraw("a") is False
            await stopped.wait()
            assert (got, desk.pending()) == ([], [])

            desk.submit(request_for(), got.append)
            desk.withdraw_all()
            assert (got, desk.pending()) == ([], [])

    run_bounded(work)


def test_when_a_turn_ends_its_sessions_requests_are_withdrawn() -> None:
    async def work() -> None:
        async with open_queue(ask=elsewhere) as watched:
            desk, got = watched.desk, list[Decision]()
            for session_id in ("s1", "s2"):
                desk.submit(request_for("a", session_id), got.append)

            desk.withdraw_session("s1")

            assert [each.request.session_id for each in desk.pending()] == ["s2"]
            assert got == []

    run_bounded(work)


def test_who_hears_of_trouble_may_come_later() -> None:
    async def work() -> list[str]:
        heard: list[Notice] = []
        async with open_queue(_raising) as watched:
            watched.desk.report_to(heard.append)
            await watched.decision()
            assert watched.notices == []
        return [notice.level for notice in heard]

    assert run_bounded(work) == ["error"]


def test_a_request_asked_again_takes_the_place_of_the_first() -> None:
    async def work() -> None:
        async with open_queue(ask=elsewhere) as watched:
            first, second = list[Decision](), list[Decision]()
            watched.desk.submit(request_for(), first.append)
            watched.desk.submit(request_for(), second.append)

            assert watched.desk.decide("a", "allow") is True
            assert (len(first), len(second)) == (0, 1)

    run_bounded(work)


def test_a_desk_that_closes_denies_what_is_open_and_what_comes_after() -> None:
    async def work() -> list[Decision]:
        got: list[Decision] = []
        async with open_queue(ask=elsewhere) as watched:
            watched.desk.submit(request_for(), got.append)
            await asyncio.sleep(0)
        watched.desk.submit(request_for(), got.append)
        return got

    assert run_bounded(work) == [Decision(word="deny", by="closed")] * 2


def test_two_hundred_at_once_are_asked_at_once() -> None:
    everybody = threading.Barrier(200)

    def ask(request: ApprovalRequested) -> str:
        everybody.wait(10)
        return "allow"

    async def work() -> list[Decision]:
        async with open_queue(ask=ask) as watched, asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(watched.decision(request_for(str(number))))
                for number in range(200)
            ]
        return [task.result() for task in tasks]

    assert run_bounded(work) == [Decision(word="allow", by="person")] * 200


def test_a_listener_that_fails_does_not_stop_the_desk(caplog: pytest.LogCaptureFixture) -> None:
    def broken(anything: object) -> None:
        raise OSError("gone")

    async def work() -> Decision:
        async with ApprovalQueue(_raising, on_notice=broken) as desk:
            desk.submit(request_for("a"), broken)
            done: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
            desk.submit(request_for("b"), done.set_result)
            return await done

    assert run_bounded(work).word == "deny"
    assert "a decision could not be delivered" in caplog.text
    assert "a notice could not be emitted" in caplog.text


@pytest.mark.parametrize("seconds", ["5", b"5", True, float("nan"), [5], {}])
def test_a_deadline_that_is_no_number_is_refused_before_anything_is_asked(seconds: Any) -> None:
    with pytest.raises(UsageError, match="ask_seconds must be a number of seconds"):
        ApprovalQueue(deadline_seconds=seconds)


@pytest.mark.parametrize("given", [{"policy": None}, {"policy": True}, {"ask": "yes"}])
def test_what_cannot_be_called_is_refused_before_anything_is_asked(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(given))} must be a function"):
        ApprovalQueue(**given)


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
            async with open_queue(lambda request, verdict=verdict: verdict) as watched:
                assert (await watched.decision(request)).word == "deny"
                assert said in watched.notices[0].text
            ask: Policy = lambda request, verdict=verdict: verdict  # noqa: E731
            async with open_queue(ask=ask) as watched:
                assert (await watched.decision(request)).word == "deny"
                assert said in watched.notices[0].text

    run_bounded(work)
