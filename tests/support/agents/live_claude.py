"""A real Claude with one open session, for tests of its conversation: intents in, messages out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from dragoman.drive.links.exchange import Exchange
from dragoman.drive.process.child import open_process
from dragoman.harnesses import harness
from dragoman.harnesses.contract.conversation import ToolRequest
from dragoman.harnesses.contract.transport import SessionTransport
from dragoman.model import intents
from dragoman.model.messages import (
    ApprovalRequested,
    BaseMessage,
    Message,
    Text,
    ToolResult,
    TurnEnded,
)

SECONDS = 30
_Kind = TypeVar("_Kind", bound=BaseMessage)
_Result = TypeVar("_Result")

HELPER_IN_THE_BACKGROUND = """\
turns:
- - tool:
      name: Agent
      arguments:
        prompt: "HELPER: compute"
        description: Help
        subagent_type: general-purpose
        run_in_background: true
  - say: It is at work.
- when: HELPER
  steps: [{run: "until [ -e go ]; do sleep 0.05; done"}, {say: It is 7.}]
otherwise: The helper is done.
"""
"""A script: the agent delegates, and its helper reports once there is a file ``go``."""


class LiveClaude:
    """The exchange with one process, and everything that was emitted."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.tool_requests: list[ToolRequest] = []
        self.lines: list[tuple[str, bytes]] = []
        self.facts = intents.SessionFacts(session_id="")
        self.server: intents.ServerFacts | None = None
        self.is_lost = False
        self.exchange: Exchange = Exchange(
            transport().conversation(None, None),
            self._told,
            self._called,
            self._lost,
            journal=self,
        )
        self._news = asyncio.Event()
        self._read = 0

    # What the exchange calls.

    def _told(self, messages: list[Message]) -> None:
        self.messages += messages
        self._news.set()

    def _called(self, request: ToolRequest) -> None:
        self.tool_requests.append(request)
        self._news.set()

    def _lost(self, exchange: Exchange) -> None:
        self.is_lost = True
        self._news.set()

    def received(self, lines: Any) -> None:
        self.lines += [("recv", line) for line in lines]

    def sent(self, lines: Any) -> None:
        self.lines += [("send", line) for line in lines]

    # What a test calls.

    @property
    def session_id(self) -> str:
        return self.facts.session_id

    async def ask(self, intent: intents.Intent) -> Any:
        return await self.exchange.ask(intent, seconds=SECONDS)

    async def prompt(self, text: str, **options: Any) -> str:
        """Start a turn; its id."""
        return await self.ask(intents.StartTurn(session_id=self.session_id, text=text, **options))

    async def run(self, text: str, *, deny: str | None = None, **options: Any) -> TurnEnded:
        """A turn to its end. What is asked is allowed, unless its summary has the words of ``deny``."""
        await self.prompt(text, **options)
        while True:
            message = await self.until(BaseMessage)
            if isinstance(message, ApprovalRequested):
                is_denied = deny is not None and deny in message.summary
                await self.decide(message, "deny" if is_denied else "allow")
            elif isinstance(message, TurnEnded) and message.session_id == self.session_id:
                return message

    async def decide(self, request: ApprovalRequested, decision: str, **more: Any) -> None:
        await self.ask(
            intents.Decide(
                session_id=self.session_id,
                approval_id=request.approval_id,
                decision=decision,
                **more,
            )
        )

    async def until(self, kind: type[_Kind], where: Callable[[_Kind], bool] | None = None) -> _Kind:
        """The next message of this kind; those before it are passed over."""
        async with asyncio.timeout(SECONDS):
            while True:
                while self._read < len(self.messages):
                    message = self.messages[self._read]
                    self._read += 1
                    if isinstance(message, kind) and (where is None or where(message)):
                        return message
                await self._wait()

    async def until_called(self) -> ToolRequest:
        """The next call of a tool of ours."""
        async with asyncio.timeout(SECONDS):
            while not self.tool_requests:
                await self._wait()
        return self.tool_requests.pop(0)

    async def until_lost(self) -> None:
        async with asyncio.timeout(SECONDS):
            while not self.is_lost:
                await self._wait()

    async def _wait(self) -> None:
        self._news.clear()
        await self._news.wait()

    def texts(self) -> list[str]:
        own = [each for each in self.messages if each.session_id == self.session_id]
        return [each.text for each in own if isinstance(each, Text)]

    def results(self) -> list[ToolResult]:
        return [each for each in self.messages if isinstance(each, ToolResult)]


def transport() -> SessionTransport:
    found = harness("claude").transport("stream-json")
    assert isinstance(found, SessionTransport)
    return found


@asynccontextmanager
async def live_claude(
    program: str, env: dict[str, str], cwd: Path, **opening: Any
) -> AsyncGenerator[LiveClaude]:
    """A session in this directory; its process is gone at the end."""
    chosen: dict[str, Any] = {"access": "default", "asking": "on-request", **opening}
    intent = intents.OpenSession(cwd=str(cwd), **chosen)
    launch = transport().launch(program, None, intent)
    live = LiveClaude()
    try:
        await live.exchange.open(open_process(replace(launch, env={**launch.env, **env})))
        live.server = await live.ask(intents.Greet(client="test", client_version="1"))
        live.facts = await live.ask(intent)
        yield live
    finally:
        await live.exchange.close()


def play(story: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a story, with a bound."""

    async def bounded() -> _Result:
        async with asyncio.timeout(2 * SECONDS):
            return await story

    return asyncio.run(bounded())


def claude_below(pid: int) -> int:
    """The agent's own process: this one, or the child of our supervisor."""
    if "claude" in Path(f"/proc/{pid}/comm").read_text():
        return pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return next(
        int(each) for each in children if "claude" in Path(f"/proc/{each}/comm").read_text()
    )
