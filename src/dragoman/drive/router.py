"""Answers what an agent asks of us: approvals at the desk, calls of our own tools with the toolbox.

Both are worked on beside the reader; nothing here waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from dragoman.drive.approvals.grants import Grants
from dragoman.drive.approvals.policy import Decision
from dragoman.drive.approvals.queue import ApprovalQueue
from dragoman.drive.tools.calls import ToolCalls
from dragoman.drive.tools.toolbox import Toolbox
from dragoman.harnesses.contract.conversation import ToolRequest
from dragoman.model.intents import AnswerTool, Intent
from dragoman.model.messages import ApprovalRequested, ApprovalSettled, Message, TurnEnded

_NO_TOOLS = Toolbox()


class _RoutedSession(Protocol):
    @property
    def toolbox(self) -> Toolbox: ...

    @property
    def cwd(self) -> str | None: ...

    @property
    def grants(self) -> Grants: ...


class _RoutedAgent(Protocol):
    def submit(self, intent: Intent) -> None: ...


class RequestRouter:
    """One for each agent."""

    def __init__(self, queue: ApprovalQueue, calls: ToolCalls, *, in_answer: bool = False) -> None:
        """``in_answer``: the agent takes a word to the model in the answer itself."""
        self.queue = queue
        self._in_answer = in_answer
        self._calls = calls

    def on_message(self, message: Message, session: _RoutedSession, agent: _RoutedAgent) -> None:
        """A message has come: is there anything to decide, or nothing any more?"""
        match message:
            case ApprovalRequested():
                self._consider(message, session, agent)
            case ApprovalSettled():
                self.queue.withdraw(message.approval_id, session_id=message.session_id)
            case TurnEnded() if message.session_id is not None:
                self._calls.cancel(message.session_id)
                self.queue.withdraw_session(message.session_id)
            case _:
                pass

    def _consider(
        self, request: ApprovalRequested, session: _RoutedSession, agent: _RoutedAgent
    ) -> None:
        grants, cwd = session.grants, session.cwd

        def deliver(decision: Decision) -> None:
            for intent in grants.take(request, decision, cwd).intents(request, self._in_answer):
                agent.submit(intent)

        self.queue.submit(request, deliver, cwd=cwd, granted=grants.covers(request, cwd))

    def refuse(self, request: ApprovalRequested, agent: _RoutedAgent) -> None:
        """A request in a session that is not open here: no one can decide it."""
        for intent in Decision(word="deny", by="no one to ask").intents(request, self._in_answer):
            agent.submit(intent)

    def run_tool(
        self, request: ToolRequest, sessions: Mapping[str, _RoutedSession], agent: _RoutedAgent
    ) -> None:
        """The model calls a tool of ours; one that is not there is answered, too."""

        def deliver(answer: AnswerTool) -> None:
            agent.submit(answer)

        session = sessions.get(request.session_id)
        toolbox = session.toolbox if session is not None else _NO_TOOLS
        self._calls.submit(request, toolbox, deliver)

    def forget(self, session_id: str) -> None:
        """The process of this session is gone: what it has asked needs no answer."""
        self.queue.withdraw_session(session_id)
        self._calls.cancel(session_id)

    def forget_all(self) -> None:
        """The agent is gone: its requests need no answer."""
        self.queue.withdraw_all()
        self._calls.cancel_all()
