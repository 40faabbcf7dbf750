import asyncio
from pathlib import Path
from typing import Any

from dragoman.drive.approvals.policy import Decision, Policy
from dragoman.model.messages import ApprovalRequested, ApprovalSettled, ToolResult
from support.agents.pretending import FakeLink, Server, running_agent

_SECONDS = 60


def _asks(server: Server, count: int = 1) -> None:
    def ask(link: FakeLink) -> None:
        for number in range(count):
            params = {
                "threadId": link.thread,
                "turnId": link.turn,
                "itemId": f"call-{number}",
                "command": f"touch {number}",
                "cwd": "/",
            }
            method = "item/commandExecution/requestApproval"
            link.say({"id": number, "method": method, "params": params})

    server.starts_turns(ask)


async def _answers(server: Server, count: int) -> dict[int, Any]:
    while True:
        told = {a["id"]: a["result"] for a in server.asked if "result" in a}
        if len(told) >= count:
            return told
        await asyncio.sleep(0.005)


def _decided_by(policy: Policy, tmp_path: Path, count: int = 1) -> tuple[dict[int, Any], list[str]]:
    async def story() -> tuple[dict[int, Any], list[str]]:
        server = Server()
        _asks(server, count)
        async with asyncio.timeout(_SECONDS), running_agent(server, policy=policy) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("work")
            await turn.begin()
            told = await _answers(server, count)
            server.end_turn(server.link)
            messages = [message async for message in turn]
            asked = [m.approval_id for m in messages if isinstance(m, ApprovalRequested)]
            settled = [m for m in messages if isinstance(m, ApprovalSettled)]
            assert sorted(asked) == sorted(m.approval_id for m in settled)
            return told, [m.decision for m in settled]

    return asyncio.run(story())


def test_a_policy_answers_in_the_servers_words(tmp_path: Path) -> None:
    told, settled = _decided_by(lambda request: "allow", tmp_path)
    assert told == {0: {"decision": "accept"}}
    assert settled == ["allow"]


def test_with_nobody_to_ask_it_is_denied(tmp_path: Path) -> None:
    told, settled = _decided_by(lambda request: None, tmp_path)
    assert told == {0: {"decision": "decline"}}
    assert settled == ["deny"]


def test_two_hundred_at_once_are_all_decided(tmp_path: Path) -> None:
    def even(request: ApprovalRequested) -> Decision:
        number = int(request.detail["command"].split()[-1])
        return Decision(word="allow" if number % 2 == 0 else "deny")

    told, settled = _decided_by(even, tmp_path, count=200)
    assert told == {n: {"decision": "decline" if n % 2 else "accept"} for n in range(200)}
    assert len(settled) == 200


def test_a_tool_of_ours_is_run_and_an_unknown_one_is_answered(tmp_path: Path) -> None:
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    async def story() -> None:
        server = Server()

        def call(link: FakeLink) -> None:
            for number, tool in enumerate(("add", "subtract")):
                params = {
                    "threadId": link.thread,
                    "turnId": link.turn,
                    "callId": f"call-{number}",
                    "tool": tool,
                    "arguments": {"a": 2, "b": 3},
                }
                link.say({"id": number, "method": "item/tool/call", "params": params})

        server.starts_turns(call)
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path, tools=[add])
            opened = next(line for line in server.asked if line.get("method") == "thread/start")
            assert [tool["name"] for tool in opened["params"]["dynamicTools"]] == ["add"]
            turn = session.run("work")
            await turn.begin()
            told = await _answers(server, 2)
            server.end_turn(server.link)
            assert told[0] == {
                "contentItems": [{"type": "inputText", "text": "5"}],
                "success": True,
            }
            assert told[1]["success"] is False
            assert "unsupported call: subtract" in told[1]["contentItems"][0]["text"]
            results = [m async for m in turn if isinstance(m, ToolResult)]
            assert sorted((r.call_id, r.is_error) for r in results) == [
                ("call-0", False),
                ("call-1", True),
            ]

    asyncio.run(story())


def test_a_question_is_withdrawn_when_its_turn_is_over(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        _asks(server)
        asked = asyncio.Event()

        async def slow(request: ApprovalRequested) -> str:
            asked.set()
            await asyncio.sleep(60)
            return "allow"

        async with asyncio.timeout(_SECONDS), running_agent(server, policy=slow) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("work")
            await turn.begin()
            await asked.wait()
            await session.interrupt()
            assert (await turn).outcome == "interrupted"
            assert not any("result" in line for line in server.asked)

    asyncio.run(story())
