"""Faults that the real program cannot be made to have: what it says is torn, doubled or no JSON at all."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from dragoman.client.connecting import connect
from dragoman.drive.restarting import Restarts
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.turns.running import Result
from dragoman.errors import AgentError, ProcessExited, ResponseTimeout
from dragoman.model.messages import Malformed, Message, Text, TurnEnded
from dragoman.rehearsal import Faults
from support.agents.faking import fake_run, fake_server, text
from support.agents.onlookers import eventually
from support.agents.stages import SECONDS

_FULL: dict[str, Any] = {"sandbox": "danger-full-access", "approvals": "never"}
_NO_RESTARTS = Restarts(at_most=0)
_DONE = {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}}
_SAID = {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "hello"}}


async def _run(program: str, repo: Path, mode: Any = "app-server", **options: Any) -> Result:
    how = {"restarts": _NO_RESTARTS, "timeouts": Timeouts(), **options}
    opened: Any = connect
    async with (
        asyncio.timeout(SECONDS),
        opened("codex", mode=mode, command=program, **how) as agent,
    ):
        session = await agent.start(cwd=repo, **_FULL)
        return await session.run("work")


def _texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages if isinstance(message, Text)]


def test_lines_that_are_no_json_are_messages_and_the_turn_goes_on(
    tmp_path: Path, repo: Path
) -> None:
    noise = 'thread panicked {\n\x00\x01\n{"method":\n[1,2\n\n"word"\nnull\n{}\n'
    faults = Faults(garbage="turn/started", garbage_text=noise)
    program = fake_server(tmp_path, [text(1, "hello")], faults)

    result = asyncio.run(_run(program, repo))

    assert (result.outcome, result.text) == ("completed", "hello")
    assert sum(isinstance(message, Malformed) for message in result.messages) >= 4


@pytest.mark.parametrize("line", ["turn/started", "item/completed", "turn/completed", '"id":4'])
def test_a_line_that_comes_twice_is_told_once(tmp_path: Path, repo: Path, line: str) -> None:
    program = fake_server(tmp_path, [text(1, "hello")], Faults(repeat=line))

    result = asyncio.run(_run(program, repo))

    assert (result.outcome, _texts(result.messages)) == ("completed", ["hello"])
    assert sum(isinstance(message, TurnEnded) for message in result.messages) == 1


def test_a_line_that_is_cut_off_by_the_end_is_kept_and_the_turn_has_failed(
    tmp_path: Path, repo: Path
) -> None:
    program = fake_server(tmp_path, [text(1, "hello")], Faults(torn="item/completed"))

    result = asyncio.run(_run(program, repo))

    assert result.outcome == "failed"
    assert isinstance(result.exception(), ProcessExited)
    assert result.exit_code == 101
    assert any(isinstance(message, Malformed) for message in result.messages)


@pytest.mark.parametrize(
    ("faults", "error"),
    [
        (Faults(crash=0, stderr=0, stderr_text="no licence\n"), ProcessExited),
        (Faults(crash="account", signal=signal.SIGSEGV), ProcessExited),
        (Faults(silence=0, ignore_term=True), ResponseTimeout),
    ],
    ids=["crashes at once", "crashes in the greeting", "says nothing"],
)
def test_an_agent_that_does_not_begin_is_an_error_within_its_bound(
    tmp_path: Path, repo: Path, faults: Faults, error: type[AgentError]
) -> None:
    program = fake_server(tmp_path, [], faults)
    # Only the silent one runs into the bound: the others must not, however slow the machine is.
    seconds = 0.5 if error is ResponseTimeout else 30

    with pytest.raises(error) as caught:
        asyncio.run(_run(program, repo, timeouts=Timeouts(read=seconds)))

    assert faults.stderr is None or caught.value.stderr == "no licence"


def test_an_agent_that_crashes_while_it_opens_a_session_is_an_error(
    tmp_path: Path, repo: Path
) -> None:
    program = fake_server(tmp_path, [], Faults(crash='"id":2', exit_code=3))

    with pytest.raises(ProcessExited, match="exited with status 3"):
        asyncio.run(_run(program, repo))


def test_an_agent_that_took_a_turn_up_and_said_nothing_of_it_has_failed_it(
    tmp_path: Path, repo: Path
) -> None:
    program = fake_server(tmp_path, [], Faults(crash='"id":5', exit_code=3))

    result = asyncio.run(_run(program, repo))

    assert result.error is not None
    assert (result.error.kind, result.exit_code) == ("port_exit", 3)


def test_an_agent_that_never_stays_is_given_up_with_the_last_reason(
    tmp_path: Path, repo: Path
) -> None:
    program = fake_server(tmp_path, [], Faults(crash="turn/started", exit_code=3))

    async def story() -> None:
        restarts = Restarts(at_most=2, pauses=(0.05,))
        opened = connect("codex", command=program, restarts=restarts)
        async with asyncio.timeout(SECONDS), opened as agent:
            session = await agent.start(cwd=repo, **_FULL)
            assert (await session.run("work")).outcome == "failed"
            # The recording has no answer to a resumption: the session is lost, not the agent.
            with pytest.raises(AgentError, match="thread/resume"):
                await session.run("again")
            for _ in range(2):
                other = await agent.start(cwd=repo, **_FULL)
                assert (await other.run("work")).outcome == "failed"
            await eventually(lambda: agent.state == "failed")
            with pytest.raises(ProcessExited, match="started again 2 times and did not stay"):
                await agent.start(cwd=repo)

    asyncio.run(story())


@pytest.mark.parametrize(
    ("faults", "said", "kind"),
    [
        (None, [_SAID], None),  # to 0.115 this is what Ctrl-C looks like: interrupted
        (Faults(torn="agent_message"), [_SAID, _DONE], "port_exit"),
        (Faults(silence="turn.started"), [_SAID, _DONE], "stall_timeout"),
        (Faults(crash="turn.started", exit_code=3), [], "port_exit"),
        (Faults(crash=0, stderr=0, stderr_text="no licence\n"), [], "response_error"),
    ],
    ids=["ends without an end", "torn", "hangs", "crashes", "does not begin"],
)
def test_a_process_of_one_prompt_that_does_not_end_well_fails_its_turn(
    tmp_path: Path, repo: Path, faults: Faults | None, said: list[Any], kind: str | None
) -> None:
    program = fake_run(tmp_path, said, faults)

    # Only the one that hangs runs into the limit.
    limits = Timeouts(stall=1 if kind == "stall_timeout" else 300)
    result = asyncio.run(_run(program, repo, "exec", timeouts=limits))

    assert result.outcome == ("failed" if kind else "interrupted")
    assert (result.error.kind if result.error else None) == kind
    assert sum(isinstance(message, TurnEnded) for message in result.messages) == 1
    if faults is not None and faults.stderr is not None:
        assert "no licence" in result.stderr
