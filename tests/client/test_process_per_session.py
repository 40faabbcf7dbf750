"""A harness with a process for each session: the same agent, and as much of it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.drive.approvals.policy import Decision
from dragoman.drive.restarting import Restarts
from dragoman.errors import AuthorityMismatch, ProcessExited, ResponseError, UsageError
from dragoman.harnesses import all_harnesses, broken_plugins, driven, harness, reload_plugins
from dragoman.model.intents import SessionFacts
from dragoman.model.messages import ApprovalRequested, Message, Notice
from support.toy.installing import Toy

SECONDS = 60


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    return folder


def test_a_plug_in_is_a_harness_like_any_other(toy: Toy) -> None:
    assert "toy" in [each.name for each in all_harnesses()]
    assert "toy" in [each.name for each in driven()]
    assert harness("toy").title == "Toy agent"
    assert broken_plugins() == ()


def test_a_plug_in_that_cannot_be_loaded_is_reported_and_left_out(toy: Toy) -> None:
    points = toy.site / "dragoman_toy-1.0.dist-info" / "entry_points.txt"
    points.write_text(
        "[dragoman.harnesses]\n"
        "gone = no_such_package:HARNESS\n"
        "odd = dragoman_toy:_CAPABILITIES\n"
        "toy = dragoman_toy:TOY\n"
        "twice = dragoman_toy:TOY\n"
    )
    reload_plugins()
    assert [each.name for each in all_harnesses()].count("toy") == 1
    assert [(each.name, each.problem.split(":")[0]) for each in broken_plugins()] == [
        ("gone", "ModuleNotFoundError"),
        ("odd", "it is no Harness"),
        ("twice", "there is already a harness 'toy'"),
    ]


def test_sessions_have_processes_of_their_own(toy: Toy, repo: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), dragoman.connect("toy") as agent:
            assert agent.facts is not None
            assert agent.facts.version == "1.2.3"
            assert agent.pid is None
            one, two = await agent.start(cwd=repo), await agent.start(cwd=repo, access="read")
            assert one.id != two.id
            assert (one.facts.access, two.facts.access) == ("touch", "look")
            assert len({worker.pid for worker in agent.workers}) == 2
            results = await asyncio.gather(one.run("one"), two.run("two"))
            assert [result.text for result in results] == ["You said: one", "You said: two"]
            assert [model.id for model in await agent.models()] == ["small", "large"]
            await one.close()
            assert agent.sessions == [two]
            assert len(agent.workers) == 1
            again = await agent.start(cwd=repo, resume=one.id)
            assert (again.id, again.facts.resumed) == (one.id, True)
            assert (await again.run("more")).text == "You said: more"
        assert agent.state == "stopped"
        assert agent.workers == []

    asyncio.run(story())


def test_approvals_and_interrupts_reach_the_right_process(toy: Toy, repo: Path) -> None:
    async def ask(request: ApprovalRequested) -> Decision:
        return Decision(word="allow" if request.command == "ls" else "deny", by="person")

    async def story() -> None:
        async with asyncio.timeout(SECONDS), dragoman.connect("toy", ask=ask) as agent:
            one, two = await agent.start(cwd=repo), await agent.start(cwd=repo)
            ran, refused = await asyncio.gather(one.run("run ls"), two.run("run rm"))
            assert (ran.text, refused.text) == ("Ran ls.", "Did not run rm.")
            turn = one.run("wait")
            await turn.begin()
            await one.interrupt()
            assert (await turn).outcome == "interrupted"
            assert (await two.run("still")).text == "You said: still"

    asyncio.run(story())


def test_a_lost_process_is_replaced_and_its_session_resumed(toy: Toy, repo: Path) -> None:
    async def story() -> None:
        restarts = Restarts(at_most=2, pauses=(0.01,))
        async with (
            asyncio.timeout(SECONDS),
            dragoman.connect("toy", restarts=restarts) as agent,
        ):
            one, two = await agent.start(cwd=repo), await agent.start(cwd=repo)
            before, other = one.id, two.worker.pid
            assert (await one.run("hello")).outcome == "completed"
            result = await one.run("crash")
            assert (result.outcome, result.error and result.error.kind) == ("failed", "port_exit")
            assert (await one.run("back")).text == "You said: back"
            assert one.id == before
            assert two.worker.pid == other

    asyncio.run(story())


def test_a_session_that_is_gone_is_refused_or_replaced(toy: Toy, repo: Path) -> None:
    async def story() -> None:
        heard: list[Message] = []
        async with asyncio.timeout(SECONDS), dragoman.connect("toy") as agent:
            agent.observe(heard.append)
            with pytest.raises(ResponseError, match="there is no session gone"):
                await agent.start(cwd=repo, resume="gone")
            assert agent.workers == []
            session = await agent.start(cwd=repo, resume="gone", or_new=True)
            assert session.id != "gone"
            assert (await session.run("hi")).outcome == "completed"
        notices = [each.text for each in heard if isinstance(each, Notice)]
        assert notices == ["session gone cannot be resumed; this is a new one"]

    asyncio.run(story())


def test_access_that_is_wider_than_requested_is_an_error(
    toy: Toy, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), dragoman.connect("toy") as agent:
            with pytest.raises(UsageError, match="choose one of: read, write, touch, look"):
                await agent.start(cwd=repo, access="full")
            with pytest.raises(AuthorityMismatch, match="requested access 'look'"):
                await agent.start(cwd=repo, access="read")
            assert agent.workers == []

    real = SessionFacts

    def wide(**facts: object) -> SessionFacts:
        return real(**{**facts, "access": "touch"})  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr("dragoman.model.intents.SessionFacts", wide)
    asyncio.run(story())


def test_a_transport_is_chosen_by_name(toy: Toy, repo: Path) -> None:
    async def story() -> None:
        with pytest.raises(UsageError, match="no transport 'exec'; known: lines"):
            async with dragoman.connect("toy", transport="exec"):
                pass
        async with dragoman.connect("toy", transport="lines") as agent:
            assert (await (await agent.start(cwd=repo)).run("hi")).text == "You said: hi"

    asyncio.run(story())


def test_the_driver_for_scripts(toy: Toy, repo: Path) -> None:
    assert dragoman.sync.run("toy", "hi", cwd=repo, access="read").text == "You said: hi"


def test_a_conversation_that_raises_ends_its_turn_and_not_the_agent(
    toy: Toy, repo: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    conversation = import_module("dragoman_toy.conversation").ToyConversation
    receive_line = conversation.receive_line

    def receive(self: Any, line: bytes) -> None:
        if b"You said: bad words" in line:
            raise RuntimeError("not a word a toy says")
        receive_line(self, line)

    monkeypatch.setattr(conversation, "receive_line", receive)

    async def story() -> None:
        quick = Restarts(at_most=2, pauses=(0.01,))
        async with asyncio.timeout(SECONDS), dragoman.connect("toy", restarts=quick) as agent:
            session = await agent.start(cwd=repo)
            pid = agent.workers[0].pid
            result = await session.run("bad words")
            assert result.outcome == "failed"
            assert (await session.run("good words")).text == "You said: good words"
            assert agent.workers[0].pid != pid

    asyncio.run(story())
    assert "the conversation with the agent failed" in caplog.text
    assert "RuntimeError: not a word a toy says" in caplog.text


@pytest.mark.parametrize("method", ["receive_eof", "messages", "end_turn", "answers"])
def test_no_method_of_a_conversation_that_raises_makes_a_turn_hang(
    toy: Toy, repo: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    conversation = import_module("dragoman_toy.conversation").ToyConversation

    def fail(self: Any, *words: Any) -> None:
        raise RuntimeError("broken toy")

    async def story() -> None:
        quick = Restarts(at_most=1, pauses=(0.01,))
        async with asyncio.timeout(SECONDS), dragoman.connect("toy", restarts=quick) as agent:
            session = await agent.start(cwd=repo)
            monkeypatch.setattr(conversation, method, fail)
            turn = session.run("crash" if method == "receive_eof" else "wait")
            if method == "end_turn":
                working = asyncio.ensure_future(turn)
                while turn.id is None:  # noqa: ASYNC110  it has begun
                    await asyncio.sleep(0.01)
                session.worker.end_turn(session, "failed")
                assert (await working).outcome == "failed"
                return
            with suppress(ProcessExited):  # or the prompt itself is refused
                assert (await turn).outcome == "failed"

    asyncio.run(story())
