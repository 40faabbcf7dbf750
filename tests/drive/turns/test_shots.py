import asyncio
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dragoman.drive.links.link import Closed, Exit, Link, OpenLink, Receive
from dragoman.drive.tasks import Tasks
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.turns.one_shots import OneShotAgent
from dragoman.drive.turns.shots import ShotPlan
from dragoman.errors import AgentNotFound, Unsupported
from dragoman.harnesses import harness
from dragoman.harnesses.contract.transport import Launch, OneShot, Run, TurnTransport
from dragoman.model.intents import ServerFacts
from dragoman.model.usage import Usage
from dragoman.wire.lines import LongLine

_SECONDS = 60
_EXEC = harness("codex").transport("exec")
_FACTS = ServerFacts(version="0.166.0")
_CAPABILITIES = harness("codex").capabilities((0, 166, 0))


class Program:
    """Plays a process that answers one prompt, in memory."""

    def __init__(self, *lines: dict[str, Any], code: int | None = 0) -> None:
        self.lines = lines
        self.code = code
        """How it exits after its lines; None: it stays."""
        self.shots: list[OneShot] = []
        self.stopped = 0

    def plan(self, **options: Any) -> ShotPlan:
        assert isinstance(_EXEC, TurnTransport)
        make_run = _EXEC.make_run
        return ShotPlan(
            facts=_FACTS,
            capabilities=_CAPABILITIES,
            launch=self._launch,
            make_run=lambda shot, spent: make_run((0, 166, 0), shot, spent),
            open_link=lambda launch: self._open(),
            write_schema=self._schema,
            **options,
        )

    def _launch(self, shot: OneShot) -> Launch:
        self.shots.append(shot)
        return Launch(argv=("agent",))

    def _open(self) -> OpenLink:
        async def open_link(receive: Receive, closed: Closed) -> Link:
            link = FakeProcess(self, closed)
            loop = asyncio.get_running_loop()
            lines: list[bytes | LongLine] = [msgspec.json.encode(line) for line in self.lines]
            loop.call_soon(receive, lines)
            if self.code is not None:
                loop.call_soon(link.end, self.code)
            return link

        return open_link

    @contextmanager
    def _schema(self, schema: Mapping[str, Any]) -> Generator[str]:
        self.schema = "there"
        yield "/schema.json"
        self.schema = "gone"


class FakeProcess:
    def __init__(self, program: Program, closed: Closed) -> None:
        self._program = program
        self._closed = closed
        self.pid = None
        self.is_supervised = False
        self.exit: Exit | None = None
        self.stderr_tail = "it said why"

    def end(self, code: int) -> None:
        if self.exit is None:
            self.exit = Exit(code=code)
            self._closed()

    def send(self, lines: Iterable[bytes]) -> None:
        raise AssertionError("a process of one prompt is not spoken to")

    async def drained(self) -> None:
        return None

    async def stop(self) -> Exit:
        self._program.stopped += self.exit is None
        self.end(-15)
        assert self.exit is not None
        return self.exit


@asynccontextmanager
async def running(program: Program, **options: Any) -> AsyncGenerator[OneShotAgent]:
    async with asyncio.timeout(_SECONDS), Tasks() as tasks:
        agent = OneShotAgent(program.plan(**options), tasks)
        tasks.create_task(agent.watch())
        yield agent
        await agent.close()


_SAYS = (
    {"type": "thread.started", "thread_id": "t-1"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "yes"}},
)
_DONE = {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 2}}


def test_a_follow_up_resumes_what_the_first_process_began(tmp_path: Path) -> None:
    async def story() -> None:
        program = Program(*_SAYS, _DONE)
        async with running(program) as agent:
            session = await agent.start(cwd=tmp_path, model="m")
            assert (await session.run("one")).text == "yes"
            assert (await session.run("two", effort="high")).outcome == "completed"
            fork = await session.fork()
            await fork.run("three")
        first, second, third = program.shots
        assert (first.prompt, first.resume, first.model) == ("one", None, "m")
        assert (second.prompt, second.resume, second.effort) == ("two", "t-1", "high")
        assert (third.fork, third.resume) == ("t-1", None)

    asyncio.run(story())


def test_a_process_that_dies_without_an_end_still_ends_its_turn_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with running(Program(*_SAYS, code=-9)) as agent:
            result = await (await agent.start(cwd=tmp_path)).run("one")
            assert result.outcome == "failed"
            assert result.error is not None
            assert result.error.kind == "port_exit"
            ends = [m for m in result.messages if type(m).__name__ == "TurnEnded"]
            assert len(ends) == 1

    asyncio.run(story())


@pytest.mark.parametrize("method", ["receive_line", "messages", "receive_exit"])
def test_a_run_that_raises_ends_its_turn_once_and_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, method: str
) -> None:
    """A run may come from a plug-in."""
    plan = Program.plan

    def with_fault(self: Program, **options: Any) -> ShotPlan:
        made = plan(self, **options)

        def make_run(shot: OneShot, spent: Usage | None) -> Run:
            run = made.make_run(shot, spent)

            def fail(*words: Any, **more: Any) -> None:
                raise RuntimeError("broken run")

            monkeypatch.setattr(run, method, fail)
            return run

        return replace(made, make_run=make_run)

    monkeypatch.setattr(Program, "plan", with_fault)

    async def story() -> None:
        program = Program(*_SAYS, code=0 if method == "receive_exit" else None)
        async with running(program) as agent:
            session = await agent.start(cwd=tmp_path)
            for _ in range(2):
                result = await session.run("one")
                assert result.outcome == "failed"
                assert result.error is not None
                assert "RuntimeError: broken run" in result.error.message
                ends = [m for m in result.messages if type(m).__name__ == "TurnEnded"]
                assert len(ends) == 1
        assert program.stopped == (0 if method == "receive_exit" else 2)

    asyncio.run(story())
    assert "the run of an agent failed" in caplog.text


def test_a_process_that_stays_silent_is_ended(tmp_path: Path) -> None:
    async def story() -> None:
        program = Program(*_SAYS, code=None)
        async with running(program, timeouts=Timeouts(stall=0.1)) as agent:
            session = await agent.start(cwd=tmp_path)
            result = await session.run("one")
            assert result.error is not None
            assert (result.error.kind, result.error.native) == ("stall_timeout", "model")
        assert program.stopped == 1

    asyncio.run(story())


def test_an_interrupted_process_is_an_interrupted_turn(tmp_path: Path) -> None:
    async def story() -> None:
        program = Program(*_SAYS, code=None)
        async with running(program) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("one")
            await turn.begin()
            with pytest.raises(Unsupported, match="a second prompt while a turn is under way"):
                await session.run("two")
            await session.interrupt()
            assert (await turn).outcome == "interrupted"
            assert not session.running

    asyncio.run(story())


def test_a_schema_is_there_for_as_long_as_the_process(tmp_path: Path) -> None:
    async def story() -> None:
        program = Program(*_SAYS, _DONE)
        async with running(program) as agent:
            await (await agent.start(cwd=tmp_path)).run("one", output_schema={"type": "object"})
        assert program.shots[0].output_schema == "/schema.json"
        assert program.schema == "gone"

    asyncio.run(story())


def test_a_process_that_cannot_be_started_leaves_the_session_usable(tmp_path: Path) -> None:
    async def story() -> None:
        program = Program(*_SAYS, _DONE)
        is_there = False
        plan = program.plan()

        def open_link(launch: Launch) -> OpenLink:
            if not is_there:
                raise AgentNotFound("agent is not on this machine")
            return plan.open_link(launch)

        async with asyncio.timeout(_SECONDS), Tasks() as tasks:
            broken = ShotPlan(
                facts=_FACTS,
                capabilities=_CAPABILITIES,
                launch=plan.launch,
                make_run=plan.make_run,
                open_link=open_link,
                write_schema=plan.write_schema,
            )
            agent = OneShotAgent(broken, tasks)
            session = await agent.start(cwd=tmp_path)
            with pytest.raises(AgentNotFound):
                await session.run("one", output_schema={})
            assert program.schema == "gone"
            is_there = True
            assert (await session.run("two")).text == "yes"
            await agent.close()

    asyncio.run(story())
