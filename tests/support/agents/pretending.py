"""An app-server that lives in memory: what the driver is tested against where no process is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from dragoman.drive.agent import Agent, AgentPlan
from dragoman.drive.approvals.policy import Policy, ask_always
from dragoman.drive.approvals.queue import ApprovalQueue
from dragoman.drive.links.link import Closed, Exit, Link, OpenLink, Receive
from dragoman.drive.restarting import Restarts
from dragoman.drive.router import RequestRouter
from dragoman.drive.tasks import Tasks
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.tools.calls import ToolCalls
from dragoman.drive.turns.watching import watch
from dragoman.harnesses import harness
from dragoman.harnesses.contract.transport import SessionTransport
from dragoman.model.intents import Greet

Json = dict[str, Any]
_CODEX = harness("codex")


async def eventually(holds: Callable[[], object]) -> None:
    """Wait until something is so; whoever calls bounds it."""
    while not holds():  # noqa: ASYNC110  what is waited for tells nobody
        await asyncio.sleep(0.01)


class Server:
    """Answers as Codex 0.166 does. A test says what it does with ``turn/start`` and the rest."""

    def __init__(self) -> None:
        self.asked: list[Json] = []
        """The requests, notifications and answers that came, in order."""
        self.links: list[FakeLink] = []
        self.on: dict[str, Callable[[FakeLink, Json], None]] = {}
        """By method: what is done instead of answering."""
        self.silent: set[str] = set()
        """Methods that are not answered at all."""
        self.threads = 0
        self.turns = 0

    @property
    def link(self) -> FakeLink:
        return self.links[-1]

    def methods(self) -> list[str]:
        return [line["method"] for line in self.asked if "method" in line]

    def open_link(self) -> OpenLink:
        async def open_link(receive: Receive, closed: Closed) -> Link:
            link = FakeLink(self, receive, closed)
            self.links.append(link)
            return link

        return open_link

    def hear(self, link: FakeLink, line: Json) -> None:
        self.asked.append(line)
        method = line.get("method")
        if method is None or "id" not in line or method in self.silent:
            return
        if method in self.on:
            self.on[method](link, line)
            return
        link.say({"id": line["id"], "result": self.result(link, method, line.get("params") or {})})
        if method == "turn/interrupt":
            self.end_turn(link, "interrupted")

    def result(self, link: FakeLink, method: str, params: Json) -> Json:
        match method:
            case "initialize":
                return {"userAgent": "pretend/0.166.0 (test)"}
            case "account/read":
                return {"account": None, "requiresOpenaiAuth": False}
            case "thread/start" | "thread/fork" | "thread/resume":
                self.threads += method != "thread/resume"
                link.thread = params.get("threadId", "") if method == "thread/resume" else ""
                link.thread = link.thread or f"thread-{self.threads}"
                kind = {"read-only": "readOnly", "danger-full-access": "dangerFullAccess"}
                return {
                    "thread": {"id": link.thread, "turns": []},
                    "model": "pretend-1",
                    "cwd": params.get("cwd"),
                    "approvalPolicy": params.get("approvalPolicy"),
                    "sandbox": {"type": kind.get(params.get("sandbox", ""), "workspaceWrite")},
                }
            case "turn/start":
                self.turns += 1
                link.turn = f"turn-{self.turns}"
                return {"turn": {"id": link.turn, "items": [], "status": "inProgress"}}
            case _:
                return {}

    # What a server tells.

    def begin_turn(self, link: FakeLink) -> None:
        turn: Json = {"id": link.turn, "items": [], "status": "inProgress"}
        link.note("turn/started", turn=turn)

    def say_text(self, link: FakeLink, text: str) -> None:
        item = {"type": "agentMessage", "id": f"msg-{text}", "text": text}
        link.note("item/completed", turnId=link.turn, item=item)

    def end_turn(self, link: FakeLink, status: str = "completed") -> None:
        link.note("turn/completed", turn={"id": link.turn, "items": [], "status": status})

    def answers_with(self, *texts: str) -> None:
        """Every turn says these and is completed."""

        def turn(link: FakeLink, line: Json) -> None:
            link.say({"id": line["id"], "result": self.result(link, "turn/start", line["params"])})
            self.begin_turn(link)
            for text in texts:
                self.say_text(link, text)
            self.end_turn(link)

        self.on["turn/start"] = turn

    def starts_turns(self, then: Callable[[FakeLink], None] = lambda link: None) -> None:
        """Every turn is begun and does this; somebody else must end it."""

        def turn(link: FakeLink, line: Json) -> None:
            link.say({"id": line["id"], "result": self.result(link, "turn/start", line["params"])})
            self.begin_turn(link)
            then(link)

        self.on["turn/start"] = turn


class FakeLink:
    """Our end and theirs, without anything between."""

    def __init__(self, server: Server, receive: Receive, closed: Closed) -> None:
        self._server = server
        self._receive = receive
        self._closed = closed
        self._loop = asyncio.get_running_loop()
        self.thread = ""
        self.turn = ""
        self.exit: Exit | None = None
        self.stderr_tail = ""
        self.pid: int | None = None
        self.is_supervised = False

    def send(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._loop.call_soon(self._server.hear, self, msgspec.json.decode(line))

    def say(self, line: Json) -> None:
        if self.exit is None:
            self._receive([msgspec.json.encode(line)])

    def note(self, method: str, **params: Any) -> None:
        self.say({"method": method, "params": {"threadId": self.thread, **params}})

    def die(self, code: int = -9) -> None:
        self.exit = Exit(code=code, reason="was killed")
        self._closed()

    async def drained(self) -> None:
        return None

    async def stop(self) -> Exit:
        if self.exit is None:
            self.exit = Exit(code=0, reason="exited with status 0")
            self._closed()
        return self.exit


class running_agent:
    """``async with running_agent(server) as agent``."""

    def __init__(
        self,
        server: Server,
        *,
        policy: Policy = ask_always,
        timeouts: Timeouts | None = None,
        restarts: Restarts | None = None,
    ) -> None:
        transport = _CODEX.transport("app-server")
        assert isinstance(transport, SessionTransport)
        plan = AgentPlan(
            greet=Greet(client="test", client_version="1"),
            open_link=lambda opening: server.open_link(),
            make_conversation=lambda: transport.conversation((0, 166, 0), lambda: 1_790_000_000),
            capabilities=lambda version: _CODEX.capabilities((0, 166, 0)),
            timeouts=timeouts or Timeouts(read=5),
            restarts=restarts or Restarts(at_most=0),
        )
        self._desk = ApprovalQueue(policy, deadline_seconds=5)
        self._calls = ToolCalls()
        self._tasks = Tasks()
        self._agent = Agent(plan, RequestRouter(self._desk, self._calls), self._tasks)

    async def __aenter__(self) -> Agent:
        await self._desk.__aenter__()
        await self._calls.__aenter__()
        await self._tasks.__aenter__()
        await self._agent.begin()
        self._tasks.create_task(watch(self._agent))
        return self._agent

    async def __aexit__(self, *problem: Any) -> None:
        await self._agent.close()
        await self._tasks.__aexit__(None, None, None)
        await self._calls.__aexit__(None, None, None)
        await self._desk.__aexit__(None, None, None)
