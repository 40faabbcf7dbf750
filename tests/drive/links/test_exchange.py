import asyncio

import pytest

from dragoman.drive.links.exchange import REQUESTS_AT_ONCE
from dragoman.drive.timeouts import Timeouts
from dragoman.errors import ProcessExited, ResponseTimeout
from dragoman.model.intents import ListModels
from support.agents.pretending import FakeLink, Json, Server, running_agent

_SECONDS = 60


def test_an_overloaded_server_is_asked_again() -> None:
    async def story() -> None:
        server, refused = Server(), 0

        def busy(link: FakeLink, line: Json) -> None:
            nonlocal refused
            if refused < 2:
                refused += 1
                link.say({"id": line["id"], "error": {"code": -32001, "message": "overloaded"}})
            else:
                link.say({"id": line["id"], "result": {"data": [{"id": "m"}]}})

        server.on["model/list"] = busy
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            assert [each.id for each in await agent.models()] == ["m"]
            assert server.methods().count("model/list") == 3

    asyncio.run(story())


def test_no_more_than_a_few_requests_are_under_way() -> None:
    async def story() -> None:
        server, waiting = Server(), list[Json]()
        server.on["model/list"] = lambda link, line: waiting.append(line)
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            async with asyncio.TaskGroup() as tasks:
                asking = [tasks.create_task(agent.models()) for _ in range(100)]
                most = 0
                while not all(task.done() for task in asking):
                    await asyncio.sleep(0)
                    await asyncio.sleep(0)
                    most = max(most, len(waiting))
                    for line in waiting[:5]:
                        waiting.remove(line)
                        server.link.say({"id": line["id"], "result": {"data": []}})
            assert most == REQUESTS_AT_ONCE

    asyncio.run(story())


def test_a_request_that_nobody_answers_is_over_in_time() -> None:
    async def story() -> None:
        server = Server()
        server.silent.add("model/list")
        limits = Timeouts(read=0.05)
        async with asyncio.timeout(_SECONDS), running_agent(server, timeouts=limits) as agent:
            with pytest.raises(ResponseTimeout, match=r"did not answer list models within 0\.05"):
                await agent.models()

    asyncio.run(story())


def test_whoever_waits_hears_that_the_process_is_gone() -> None:
    async def story() -> None:
        server = Server()
        server.on["model/list"] = lambda link, line: link.die(-9)
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            with pytest.raises(ProcessExited, match="was killed") as caught:
                await agent.models()
            assert caught.value.exit_code == -9
            exchange = agent.exchange
            assert exchange is not None
            exchange.submit(ListModels())  # to nobody, and that is all
            with pytest.raises(ProcessExited):
                await agent.models()

    asyncio.run(story())


def test_words_of_an_old_answer_harm_nobody() -> None:
    async def story() -> None:
        server = Server()
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            server.link.say({"id": 4711, "result": {}})
            server.link.say({"id": 1, "result": {"userAgent": "again"}})
            server.answers_with("fine")
            assert agent.state == "running"

    asyncio.run(story())
