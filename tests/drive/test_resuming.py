import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dragoman.drive.restarting import Restarts
from dragoman.drive.resuming import given_up, wait_to_resume
from dragoman.errors import ProcessExited, ResponseError, Unsupported
from dragoman.model.intents import OpenSession
from dragoman.model.messages import Notice
from support.agents.pretending import FakeLink, Json, Server, running_agent

_SECONDS = 60
_QUICK = Restarts(at_most=2, pauses=(0.01,))


def test_a_session_that_cannot_be_resumed_is_lost_and_the_others_go_on(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.answers_with("here")
        async with asyncio.timeout(_SECONDS), running_agent(server, restarts=_QUICK) as agent:
            lost, kept = await agent.start(cwd=tmp_path), await agent.start(cwd=tmp_path)
            fleeting = await agent.start(cwd=tmp_path, ephemeral=True)
            sessions = (lost, kept, fleeting)
            for session in sessions:
                server.link.thread = session.id
                assert (await session.run("work")).text == "here"

            def resume(link: FakeLink, line: Json) -> None:
                if line["params"]["threadId"] == lost.id:
                    error = {"code": -32600, "message": "no rollout found"}
                    link.say({"id": line["id"], "error": error})
                else:
                    result = server.result(link, "thread/resume", line["params"])
                    link.say({"id": line["id"], "result": result})

            server.on["thread/resume"] = resume
            server.link.die()
            assert (await kept.run("again")).text == "here"
            with pytest.raises(ResponseError, match="no rollout found"):
                await lost.run("again")
            with pytest.raises(ProcessExited, match="in the memory of a process that is gone"):
                await fleeting.run("again")
            assert agent.sessions == [kept]
            assert agent.state == "running"
            told = {m.session_id: m.text for m in agent.notices if isinstance(m, Notice)}
            assert told.keys() >= {lost.id, fleeting.id}
            assert told[lost.id].startswith("a session could not be resumed after a restart")

    asyncio.run(story())


def test_a_session_that_was_never_asked_anything_is_begun_anew(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.answers_with("here")
        async with asyncio.timeout(_SECONDS), running_agent(server, restarts=_QUICK) as agent:
            session = await agent.start(cwd=tmp_path)
            before = session.id
            server.link.die()
            assert (await session.run("work")).text == "here"
            assert session.id != before
            assert "thread/resume" not in server.methods()
            server.link.die()  # by now it has a past
            assert (await session.run("work")).text == "here"
            assert "thread/resume" in server.methods()

    asyncio.run(story())


def test_giving_up_says_how_often_it_was_tried_and_why_it_failed() -> None:
    why = ProcessExited("the agent's process exited with status 3", exit_code=3, stderr="no disk")
    assert given_up(why, 0) is why
    error = given_up(why, 2)
    assert isinstance(error, ProcessExited)
    assert (error.exit_code, error.stderr) == (3, "no disk")
    assert str(error) == (
        "the agent was started again 2 times and did not stay: "
        "the agent's process exited with status 3 (no disk)"
    )
    assert "again once and" in str(given_up(Unsupported("greeting"), 1))


@pytest.mark.parametrize(
    ("resume", "pause", "expected"),
    [("s1", 0.01, ["it is too early: waiting 0 seconds"]), ("s1", 0.0, []), (None, 0.01, [])],
)
def test_a_session_that_cannot_be_resumed_yet_is_waited_for_with_the_reason(
    resume: str | None, pause: float, expected: list[str]
) -> None:
    said: list[str] = []
    pauses = {"s1": pause}
    plan = SimpleNamespace(resume_pause=pauses.__getitem__, resume_reason="it is too early")

    def publish(messages: list[Notice]) -> None:
        said.extend(each.text for each in messages)

    agent: Any = SimpleNamespace(plan=plan, publish=publish)
    asyncio.run(wait_to_resume(agent, OpenSession(cwd="/w", resume=resume)))

    assert said == expected
