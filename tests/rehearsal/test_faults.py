from __future__ import annotations

from dragoman.rehearsal.faults import Attempt
from dragoman.rehearsal.script import Drop, Garbage, Http, Say, Step


def test_faults_that_end_an_attempt_take_their_turns() -> None:
    overloaded, lost, answer = Http(503, times=2), Drop(times=1), Say("at last")
    steps: list[Step] = [overloaded, lost, answer]

    met = [Attempt(number).of(steps) for number in range(4)]

    assert met == [[overloaded, answer], [overloaded, answer], [lost, answer], [answer]]


def test_a_fault_without_times_is_met_by_every_attempt() -> None:
    steps: list[Step] = [Http(500), Http(429)]

    assert [Attempt(number).of(steps) for number in (0, 9)] == [[Http(500)], [Http(500)]]


def test_garbage_ends_no_attempt() -> None:
    steps: list[Step] = [Garbage(times=1), Drop(times=1), Say("x")]

    assert Attempt(0).of(steps) == steps
    assert Attempt(1).of(steps) == [Say("x")]
