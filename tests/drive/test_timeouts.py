import pytest

from dragoman.drive.timeouts import Pulse, RunningTool, Timeouts, explain, judge

_LIMITS = Timeouts(turn=100, stall=10)


def _pulse(**known: object) -> Pulse:
    return Pulse(began_at=0, heard_at=0, **known)  # pyright: ignore[reportArgumentType]


def test_a_turn_that_speaks_goes_on() -> None:
    assert judge(Pulse(began_at=0, heard_at=45), _LIMITS, 50) is None


def test_silence_is_a_stall_that_names_the_model() -> None:
    verdict = judge(_pulse(), _LIMITS, 10)
    assert verdict is not None
    assert (verdict.kind, verdict.reason) == ("stall_timeout", "model")
    assert verdict.text == "no activity for 10 seconds: waiting for the model"


def test_a_running_tool_is_no_stall_unless_told() -> None:
    running = _pulse(tools=[RunningTool("Bash", "sleep 99", "line 1\nline 2\n", (4711,))])
    assert judge(running, _LIMITS, 50) is None
    verdict = judge(running, Timeouts(stall=10, tools_may_stall=False), 50)
    assert verdict is not None
    assert verdict.reason == "tool"
    assert "Bash is running 'sleep 99' (pid 4711), last output: 'line 2'" in verdict.text


def test_a_person_who_is_asked_is_no_stall_unless_told() -> None:
    assert judge(_pulse(asked=2), _LIMITS, 50) is None
    verdict = judge(_pulse(asked=2), Timeouts(stall=10, people_may_stall=False), 50)
    assert verdict is not None
    assert verdict.text.endswith("waiting for a person to answer 2 questions")


@pytest.mark.parametrize("stall", [None, 0, -1])
def test_stalls_can_be_left_out(stall: float | None) -> None:
    assert judge(_pulse(), Timeouts(turn=None, stall=stall), 1e9) is None


def test_the_whole_turn_has_a_limit_whatever_runs() -> None:
    verdict = judge(_pulse(tools=[RunningTool("Bash", "make")]), _LIMITS, 100)
    assert verdict is not None
    assert verdict.kind == "turn_timeout"
    assert verdict.text.startswith("the turn took longer than 100 seconds: Bash is running 'make'")


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ({"gone": True, "asked": 1}, "process"),
        ({"deaf": True}, "transport"),
        ({"deaf": True, "asked": 1}, "person"),
        ({}, "model"),
    ],
)
def test_the_reason_is_the_nearest_one(known: dict[str, object], reason: str) -> None:
    assert explain(_pulse(**known))[0] == reason
