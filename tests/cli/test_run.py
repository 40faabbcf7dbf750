from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.commands.run import run
from dragoman.cli.main import main
from dragoman.client import connecting
from dragoman.client.connection import Connection
from dragoman.errors import ProcessExited
from dragoman.model.intents import ServerFacts, SessionFacts
from dragoman.model.messages import (
    ApprovalRequested,
    Message,
    SessionStarted,
    Text,
    TurnEnded,
    TurnError,
    TurnStarted,
    encode,
)

ID = "s-1"
DONE = TurnEnded(session_id=ID, outcome="completed")


class FakeAgent:
    """Stands in for the driver: one session, whose turn says what the test wrote."""

    greeted = ServerFacts(version="1.2.3")

    def __init__(self, said: list[Message | Callable[[FakeAgent], Any]]) -> None:
        self.said = said
        self.how = Connection()
        self.started: dict[str, Any] = {}
        self.asked: dict[str, Any] = {}
        self.prompt = ""
        self.interrupted = asyncio.Event()
        self.closed = False
        self.state = "running"
        self.facts = self.greeted

    async def start(self, **options: Any) -> FakeSession:
        self.started = options
        return FakeSession(self)


class FakeSession:
    id = ID
    facts = SessionFacts(session_id=ID, model="m")

    def __init__(self, agent: FakeAgent) -> None:
        self._agent = agent

    def run(self, text: str, **asked: Any) -> AsyncIterator[Message]:
        self._agent.prompt, self._agent.asked = text, asked
        return self._messages()

    async def _messages(self) -> AsyncIterator[Message]:
        for each in self._agent.said:
            if callable(each):
                done = each(self._agent)
                if asyncio.iscoroutine(done):
                    await done
            else:
                yield each

    async def interrupt(self) -> None:
        self._agent.interrupted.set()


@pytest.fixture
def run_async(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, FakeAgent]]:
    """Runs ``dragoman run`` with an agent that says these messages."""

    def call(said: list[Any], *words: str) -> tuple[int, FakeAgent]:
        agent = FakeAgent(said)

        @asynccontextmanager
        async def open_connection(_: str | None, how: Connection) -> AsyncGenerator[FakeAgent]:
            agent.how = how
            try:
                yield agent
            finally:
                agent.closed = True

        monkeypatch.setattr(connecting, "open_connection", open_connection)
        return run.main(["fix it", *words], standalone_mode=False), agent

    return call


Perform = Callable[..., tuple[int, FakeAgent]]
WORK: list[Message] = [
    SessionStarted(session_id=ID, harness="fake"),
    TurnStarted(session_id=ID),
    Text(session_id=ID, text="Looking.", phase="commentary"),
    Text(session_id=ID, text="It works now.", phase="final_answer"),
    DONE,
]


def test_into_a_pipe_goes_the_transcript_and_nothing_else(
    run_async: Perform, capsys: pytest.CaptureFixture[str]
) -> None:
    code, agent = run_async(WORK)

    assert code == 0
    assert agent.prompt == "fix it"
    assert agent.closed
    shown = capsys.readouterr()
    assert shown.out == "fake\n\nLooking.\n\nIt works now.\n\n✓ completed\n"
    assert shown.err == ""


def test_any_export_can_be_streamed(
    run_async: Perform, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run_async(WORK, "--to", "messages")[0] == 0

    assert capfdbinary.readouterr().out == b"".join(encode(each) + b"\n" for each in WORK)


def test_quiet_leaves_the_answer(
    run_async: Perform, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run_async(WORK, "--quiet")[0] == 0

    assert capfdbinary.readouterr().out == b"It works now.\n"


OUTCOMES = {"completed": 0, "failed": 1, "interrupted": 130}


@pytest.mark.parametrize(("outcome", "code"), OUTCOMES.items())
def test_the_exit_code_tells_the_outcome(outcome: Any, code: int, run_async: Perform) -> None:
    assert run_async([TurnEnded(session_id=ID, outcome=outcome)])[0] == code


def test_why_it_failed_is_on_standard_error(
    run_async: Perform, capsys: pytest.CaptureFixture[str]
) -> None:
    error = TurnError("unauthorized", "sign in first", False)
    run_async([TurnEnded(session_id=ID, outcome="failed", error=error)], "--to", "messages")

    assert capsys.readouterr().err == "dragoman: sign in first\n"


def test_the_end_of_a_sub_agent_is_not_the_end(run_async: Perform) -> None:
    other = TurnEnded(session_id="other", outcome="failed")

    assert run_async([other, DONE])[0] == 0
    assert run_async([DONE, other])[0] == 0


def test_everything_asked_for_reaches_the_agent(run_async: Perform, tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object"}', encoding="utf-8")
    options = (
        f"--cwd {tmp_path} --model m --effort high --sandbox read-only --approvals never "
        f"--image a.png --image b.png --resume old --output-schema {schema} --yes "
        "--config model_verbosity=low --config a.b=[1,2] --command /bin/agent --ssh host "
        f"--journal {tmp_path / 'j'} --timeout 7 --ephemeral "
        "--profile deep --add-dir /data --add-dir /more"
    )
    _, agent = run_async([DONE], *options.split())

    assert agent.asked == {
        "images": ["a.png", "b.png"],
        "effort": "high",
        "output_schema": {"type": "object"},
    }
    assert agent.started == {
        "cwd": str(tmp_path),
        "model": "m",
        "access": "read-only",
        "asking": "never",
        "resume": "old",
        "ephemeral": True,
        "config": {"model_verbosity": "low", "a.b": [1, 2]},
        "profile": "deep",
        "add_dirs": ("/data", "/more"),
    }
    assert agent.how.command == "/bin/agent"
    assert agent.how.ssh == "host"
    assert agent.how.journal == str(tmp_path / "j")
    assert agent.how.transport is None
    assert agent.how.timeouts.turn == 7


def test_a_process_of_its_own_asks_nobody(run_async: Perform) -> None:
    _, agent = run_async([DONE], "--exec")

    assert agent.how.transport == "exec"
    assert agent.started["asking"] == "never"


def test_without_a_terminal_what_is_asked_for_is_denied(
    run_async: Perform, capsys: pytest.CaptureFixture[str]
) -> None:
    decided: list[str] = []

    async def ask(agent: FakeAgent) -> None:
        request = ApprovalRequested(approval_id="a", kind="command", summary="rm -rf /")
        ask: Any = agent.how.ask
        decided.append((await ask(request)).word)

    run_async([ask, DONE])

    assert decided == ["deny"]
    assert (
        "dragoman: denied command: rm -rf /; no one can answer: this is not a terminal"
        in capsys.readouterr().err
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_interrupts_the_turn(run_async: Perform) -> None:
    async def press(agent: FakeAgent) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        async with asyncio.timeout(5):
            await agent.interrupted.wait()

    code, agent = run_async([press, TurnEnded(session_id=ID, outcome="interrupted")])

    assert code == 130
    assert agent.closed


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_twice_quits(run_async: Perform) -> None:
    async def press_twice(agent: FakeAgent) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        async with asyncio.timeout(5):
            await agent.interrupted.wait()
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(5)

    code, agent = run_async([press_twice])

    assert code == 130
    assert agent.closed


def test_a_lost_agent_is_one_sentence(
    run_async: Perform, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(agent: FakeAgent) -> None:
        raise ProcessExited("the agent exited with status 7")

    with pytest.raises(ProcessExited, match="status 7"):
        run_async([Text(session_id=ID, text="Half a"), lost])

    assert "Half a" in capsys.readouterr().out


def test_the_prompt_may_come_from_standard_input(
    run_async: Perform, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = FakeAgent([DONE])

    @asynccontextmanager
    async def open_connection(*_: Any) -> AsyncGenerator[FakeAgent]:
        yield agent

    monkeypatch.setattr(connecting, "open_connection", open_connection)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("très bien\n".encode())))

    assert run.main(["-"], standalone_mode=False) == 0
    assert agent.prompt == "très bien\n"


WRONG = {
    "--to yaml": "there is no format 'yaml'",
    "--to messages --quiet": "use either --to or --quiet",
    "--cwd /not/there": "is not a directory",
    "--sandbox none": "unknown access 'none'; choose one of: read, write, full",
    "--harness claude --access workspace-write": "unknown access 'workspace-write'",
    "--config nonsense": "--config needs KEY=VALUE",
    "--output-schema /not/there": "cannot read the schema",
    "--yes --policy rules.toml": "use either --yes or --policy",
    "--timeout 0": "--timeout",
}


@pytest.mark.parametrize(("words", "reason"), WRONG.items(), ids=WRONG)
def test_a_wrong_request_is_explained_before_anything_is_started(
    words: str, reason: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dragoman.cli import main as program

    def open_connection(*_: Any) -> None:
        pytest.fail("an agent was started")

    monkeypatch.setattr(connecting, "open_connection", open_connection)
    monkeypatch.setitem(program.COMMANDS, "run", ("dragoman.cli.commands.run", "…"))

    assert main(["run", "hi", *words.split()]) == 2

    assert reason in capsys.readouterr().err


def test_a_schema_that_is_no_object_is_refused(tmp_path: Path, run_async: Perform) -> None:
    schema = tmp_path / "s.json"
    schema.write_text(json.dumps([1]), encoding="utf-8")

    with pytest.raises(Exception, match="it must be an object"):
        run_async([DONE], "--output-schema", str(schema))


SIGN_IN = {
    "not signed in": (ServerFacts(signed_in=False, needs_sign_in=True), True),
    "needs no sign-in": (ServerFacts(signed_in=False, needs_sign_in=False), False),
    "signed in": (ServerFacts(signed_in=True), False),
    "does not say": (ServerFacts(signed_in=None), False),
}


@pytest.mark.parametrize(("facts", "warned"), SIGN_IN.values(), ids=SIGN_IN)
@pytest.mark.parametrize("words", [(), ("--quiet",)], ids=["shown", "quiet"])
def test_it_is_said_before_the_first_turn_that_no_one_is_signed_in(
    facts: ServerFacts,
    warned: bool,
    words: tuple[str, ...],
    run_async: Perform,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(FakeAgent, "greeted", facts)
    run_async(WORK, *words)

    out, err = capfd.readouterr()
    said = "! No one is signed in" in (err if words else out.split("fake")[0])
    assert said == warned
