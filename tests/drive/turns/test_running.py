import asyncio
import pickle

import pytest

from dragoman.drive.turns.running import Result, RunningTurn
from dragoman.errors import (
    ProcessExited,
    ResponseError,
    Stalled,
    TurnFailed,
    TurnInterrupted,
    TurnTimeout,
)
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Delta,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
)


def _failed(kind: str, *, retryable: bool = False, native: str | None = None) -> Result:
    error = TurnError(kind=kind, message="why", retryable=retryable, native=native)
    return Result(session_id="s", turn_id="t", outcome="failed", text="", error=error)


def test_a_completed_turn_is_its_own_check() -> None:
    result = Result(session_id="s", turn_id="t", outcome="completed", text="yes")
    assert result.check() is result


@pytest.mark.parametrize(
    ("result", "kind", "retryable"),
    [
        (_failed("stall_timeout", native="model"), Stalled, True),
        (_failed("turn_timeout"), TurnTimeout, True),
        (_failed("port_exit"), ProcessExited, True),
        (_failed("response_error"), ResponseError, False),
        (_failed("turn_failed"), TurnFailed, False),
        (_failed("turn_failed", retryable=True), TurnFailed, True),
        (
            Result(session_id="s", turn_id="t", outcome="interrupted", text=""),
            TurnInterrupted,
            False,
        ),
    ],
)
def test_every_other_outcome_is_an_exception_with_facts(
    result: Result, kind: type[Exception], retryable: bool
) -> None:
    with pytest.raises(kind) as caught:
        result.check()
    error = result.exception()
    assert type(caught.value) is kind
    assert error.retryable is retryable
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.kind) == (kind, str(error), error.kind)


def test_the_reason_of_a_stall_is_a_fact() -> None:
    error = _failed("stall_timeout", native="person").exception()
    assert isinstance(error, Stalled)
    assert error.reason == "person"


def _story_of(*messages: object) -> RunningTurn:
    async def begin(turn: RunningTurn) -> str | None:
        for message in messages:
            turn.on_message(message, own=True)  # pyright: ignore[reportArgumentType]
        return "t"

    return RunningTurn(begin)


def _ended() -> TurnEnded:
    return TurnEnded(session_id="s", turn_id="t", outcome="completed")


def test_the_last_word_is_the_answer_unless_one_is_named_as_such() -> None:
    async def story() -> tuple[str, str]:
        plain = _story_of(Text(session_id="s", text="1"), Text(session_id="s", text="2"), _ended())
        named = _story_of(
            Text(session_id="s", text="1", phase="final_answer"),
            Text(session_id="s", text="2", phase="commentary"),
            Text(session_id="child", text="3"),
            _ended(),
        )
        return (await plain).text, (await named).text

    assert asyncio.run(story()) == ("2", "1")


def test_a_turn_that_could_not_be_begun_says_so_to_everybody_who_asks() -> None:
    async def story() -> None:
        async def begin(turn: RunningTurn) -> str | None:
            raise ResponseError("no")

        turn = RunningTurn(begin)
        for _ in range(2):
            with pytest.raises(ResponseError, match="no"):
                await turn

    asyncio.run(story())


def test_its_pulse_knows_what_runs_and_who_is_asked() -> None:
    async def story() -> None:
        call = ToolCall(call_id="c", tool="Bash", native_tool="exec", input={"command": "make"})
        turn = _story_of(
            call,
            Delta(of="output", message_id="c", text="compiling\n"),
            ApprovalRequested(approval_id="a", kind="command"),
        )
        await turn.begin()
        pulse = turn.fresh_pulse(gone=False)
        assert [(tool.what, tool.last_output) for tool in pulse.tools] == [("make", "compiling\n")]
        assert pulse.asked == 1
        turn.on_message(ToolResult(call_id="c", status="abandoned"), own=True)
        turn.on_message(ApprovalSettled(approval_id="a", decision="allow"), own=True)
        pulse = turn.fresh_pulse(gone=False)
        assert (pulse.tools, pulse.asked, turn.abandoned) == ([], 0, [call])

    asyncio.run(story())
