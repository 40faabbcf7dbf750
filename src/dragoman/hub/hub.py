"""The hub: live sessions of any harness, stored first and then delivered to their readers.

``async with Hub(data_dir, roots=[…]) as hub``. Interfaces start sessions, send them prompts, decide their
requests, and read their entries from a cursor. An entry is stored before any reader gets it, so that
a hub that was killed continues where it was: what was shown is never lost, and sessions stay usable.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import msgspec

from dragoman.client.connection import Connection
from dragoman.client.remembered import RememberedRule, RememberedRules
from dragoman.drive.approvals.queue import ApprovalQueue
from dragoman.drive.process.peers import Address, Peer, Peers
from dragoman.drive.process.reaper import reaper
from dragoman.drive.process.session_commands import RunningCommand
from dragoman.drive.tasks import Tasks
from dragoman.errors import DragomanError
from dragoman.harnesses.contract.capabilities import Choice
from dragoman.harnesses.contract.harness import Harness
from dragoman.hub.agent import AgentConnection, AgentConnections, session_transport
from dragoman.hub.approvals import HubApprovals
from dragoman.hub.idempotency import Keys
from dragoman.hub.journal import HubJournal
from dragoman.hub.live.partial import Partial
from dragoman.hub.live.readers import ListReader, Reader
from dragoman.hub.live.registry import LiveRegistry
from dragoman.hub.live.state import LiveState
from dragoman.hub.policy import HubPolicy, Judged
from dragoman.hub.recovery import recover
from dragoman.hub.roots import inside, real_paths
from dragoman.hub.saved import SavedSessionActions
from dragoman.hub.sessions import SessionActions
from dragoman.hub.shapes import (
    Delivery,
    Entry,
    Forbidden,
    Gap,
    HarnessInfo,
    InProgress,
    KeyUsedDifferently,
    LiveSession,
    PendingApproval,
    SessionArchived,
    SessionChanged,
    SessionState,
    SoFar,
    Steered,
    Transient,
    UnfitDecision,
    UnknownSession,
)
from dragoman.hub.stored_lines import replay
from dragoman.model.answers import Model
from dragoman.store.live.checking import verify

__all__ = [
    "Choice",
    "Delivery",
    "Entry",
    "Forbidden",
    "Gap",
    "HarnessInfo",
    "Hub",
    "InProgress",
    "Judged",
    "KeyUsedDifferently",
    "ListReader",
    "LiveSession",
    "Partial",
    "Peer",
    "PendingApproval",
    "Reader",
    "RememberedRule",
    "RunningCommand",
    "SessionArchived",
    "SessionChanged",
    "SessionState",
    "SoFar",
    "Steered",
    "Transient",
    "UnfitDecision",
    "UnknownSession",
]


class Hub:
    """All methods are called in the thread of the event loop that it was entered in."""

    _connecting: asyncio.Task[None] | None = None
    """Starts the default agent."""

    def __init__(
        self,
        data_dir: str | os.PathLike[str],
        *,
        connection: Connection | None = None,
        roots: Iterable[str | os.PathLike[str]] = (),
        policy_path: str | os.PathLike[str] | None = None,
        harness: str | None = None,
        waits: bool = True,
    ) -> None:
        """Agents work only inside ``roots``. The policy leaves to a person what it does not decide.

        Entering it starts the default agent, and ``waits`` until it is ready or has failed;
        :meth:`connected` waits as well.
        """
        self._folder = Path(data_dir)
        self._how = connection or Connection()
        self.roots = real_paths(roots)
        self._policy = HubPolicy(policy_path, self._how.policy)
        self._harness = harness
        self._waits = waits
        self._peers = Peers()
        self._stack = AsyncExitStack()
        self._noting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Held while a prompt is noted, by the session's id."""

    async def __aenter__(self) -> Hub:
        async with AsyncExitStack() as stack:
            self._registry = registry = LiveRegistry(self._folder)
            stack.callback(registry.close)
            recover(registry)
            await registry.stored()
            tasks = await stack.enter_async_context(Tasks())
            self._keys = Keys(registry)
            self._approvals = HubApprovals(registry, self._queues, self._how.ask_seconds)
            self._journals: list[HubJournal] = []
            stack.callback(self._end_journals)
            self._agents = AgentConnections(
                self._harness, lambda harness, default: self._connection(harness, tasks, default)
            )
            stack.push_async_callback(self._agents.close)
            self._remembered = [
                RememberedRules.of(each.harness, self._how.env) for each in self._agents.all()
            ]
            self._sessions = SessionActions(registry, self._agents, tasks)
            self.saved = SavedSessionActions(registry, self._agents, self._sessions, self.roots)
            registry.failed.append(self._sessions.interrupt_all)
            self._connecting = tasks.create_task(self._connect_default())
            if self._waits:
                await self.connected()
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _connect_default(self) -> None:
        with suppress(DragomanError):  # stored sessions can be read without an agent
            await self._agents.default.get()

    async def connected(self, seconds: float | None = None) -> None:
        """Wait until the default agent is ready or has failed, but not longer than this."""
        if self._connecting is not None:
            await asyncio.wait((self._connecting,), timeout=seconds)

    def _connection(self, harness: Harness, tasks: Tasks, default: bool) -> AgentConnection:
        """How an agent of this harness is reached; only the default one by the program that was named."""
        names = harness.program.key_names if harness.program is not None else ()
        how = self._how if default else replace(self._how, command=None, api_key=None)
        wanted = self._how.wanted_transport if default else None
        journal = HubJournal(self._registry, harness.name, how.keys(names).values())
        self._journals.append(journal)
        how = replace(
            how,
            transport=session_transport(harness, wanted),
            mode=None,
            ask=self._approvals.ask,
            policy=self._policy,
            journal=journal,
        )
        return AgentConnection(harness, how, tasks, self._registry.publish)

    def _queues(self) -> list[ApprovalQueue]:
        """The open approvals of each agent."""
        agents = [each.agent for each in self._agents.all()]
        return [agent.approvals for agent in agents if agent is not None]

    def _end_journals(self) -> None:
        for journal in self._journals:
            journal.end()

    # What there is.

    @property
    def note(self) -> str | None:
        """What became of a store that was damaged when it was opened, as a sentence."""
        return self._registry.store.note

    def harnesses(self) -> list[HarnessInfo]:
        """The agent programs that can be driven, the default one first."""
        return [each.info() for each in self._agents.all()]

    async def models(self, harness: str | None = None) -> list[Model]:
        """The models that a harness offers."""
        return await (await self._agents.of(harness).get()).models()

    def sessions(self) -> list[LiveSession]:
        """All of them, the newest first; archived ones, too."""
        found = [live.shown for live in self._registry.lives.values()]
        return sorted(found, key=lambda info: info.updated_at, reverse=True)

    def get(self, session_id: str) -> LiveSession:
        return self._registry.get(session_id).shown

    def allowed(self, path: str | os.PathLike[str]) -> str:
        """The path with all links followed. Raises :class:`Forbidden` outside of the roots."""
        return inside(path, self.roots)

    def peer(self, client: Address, server: Address) -> Peer:
        """Who connected from ``client`` to a server of ours. Looks at all processes: call it in a thread."""
        return self._peers.find(client, server, reaper.known)

    # What can be done.

    async def start(
        self,
        *,
        cwd: str | os.PathLike[str],
        prompt: str | None = None,
        images: Sequence[str] = (),
        model: str | None = None,
        effort: str | None = None,
        access: str | None = None,
        asking: Any = None,
        sandbox: str | None = None,
        approvals: Any = None,
        idempotency_key: str | None = None,
        resume: str | None = None,
        title: str | None = None,
        harness: str | None = None,
    ) -> LiveSession:
        """Start a session, or resume one. The same key with the same request starts no second one.

        ``access`` is a level or one of the harness's own values, ``asking`` one of its approval modes;
        ``sandbox`` and ``approvals`` are other names for the two. Without a ``title`` it is called
        after its first prompt.
        """
        path = self.allowed(cwd)
        connection = self._agents.of(harness)
        native = connection.access(access if access is not None else sandbox)
        modes = connection.asking(asking if asking is not None else approvals)
        facts = (path, prompt, images, model, effort, native, modes, resume)
        is_default = connection is self._agents.default
        request = msgspec.json.encode(facts if is_default else (*facts, connection.harness.name))

        async def begin() -> LiveState:
            known = self._registry.find(resume) if resume is not None else None
            if known is None:
                how: dict[str, Any] = {"access": native, "asking": modes, "title": title}
                how["harness"] = connection.harness.name
                known = await self._sessions.start(cwd=path, model=model, resume=resume, **how)
            return known

        async with self._keys.session(idempotency_key, request, begin) as (live, is_first):
            if prompt is not None and is_first:
                # The session exists: it reports that the turn could not be started.
                with suppress(DragomanError):
                    await self._begin_turn(live, prompt, images=images, model=model, effort=effort)
            await self._registry.stored()
        return live.info

    async def run(
        self,
        session_id: str,
        text: str,
        *,
        images: Sequence[str] = (),
        model: str | None = None,
        effort: str | None = None,
        access: str | None = None,
        asking: Any = None,
        sandbox: str | None = None,
        approvals: Any = None,
        idempotency_key: str | None = None,
    ) -> str | None:
        """Begin a turn and come back at once with its id; during a turn it is a word to that turn.

        Another access, or other approvals, hold from this turn on, and cannot change during one. The same
        key with the same request begins no second turn.
        """
        live = self._registry.get(session_id)
        how: dict[str, Any] = {"images": images, "model": model, "effort": effort}
        access, asking = self._changed(live, access or sandbox, asking or approvals)
        request = msgspec.json.encode(
            (session_id, text, {**how, "sandbox": access, "approvals": asking})
        )
        how |= {"access": access, "asking": asking}

        async def begin(key: str | None) -> str | None:
            return await self._begin_turn(live, text, key=key, **how)

        return await self._keys.turn(idempotency_key, request, begin)

    async def once(
        self, key: str | None, request: bytes, make: Callable[[], Awaitable[str]]
    ) -> str:
        """Make something that is no session and no turn of ours; the same key with the same request makes it once."""
        return await self._keys.once(key, request, make)

    def _changed(self, live: LiveState, access: str | None, asking: Any) -> tuple[str | None, Any]:
        """Another authority for a session, as its harness names it."""
        if access is None and asking is None:
            return None, None
        connection = self._agents.of(live.info.harness)
        return (
            connection.access(access) if access is not None else None,
            connection.asking(asking) if asking is not None else None,
        )

    async def _begin_turn(
        self,
        live: LiveState,
        text: str,
        *,
        key: str | None = None,
        images: Sequence[str],
        **how: Any,
    ) -> str | None:
        """Note the prompt, then give it to the agent: should we be killed, it is not forgotten."""
        accepted = self._registry.accepted
        note = accepted.put(live.id, text, images, key=key, seq=live.seq)
        async with self._noting.setdefault(live.id, asyncio.Lock()):
            await self._registry.stored()
        try:
            turn_id = await self._sessions.run(live, text, images=images, **how)
        except DragomanError:
            accepted.drop(note)
            raise
        accepted.name(note, turn_id)
        await self._registry.stored()
        return turn_id

    async def steer(self, session_id: str, text: str, *, images: Sequence[str] = ()) -> None:
        """Send text to the running turn. Raises ``ProtocolError`` if there is none.

        It is among the session's ``steered`` until the agent takes it up.
        """
        await self._sessions.steer(self._registry.get(session_id), text, images)

    async def take_back(self, session_id: str, steered_id: str) -> bool:
        """Let go of something steered that came back. False: it is gone. Raises ``ProtocolError`` while it is pending."""
        is_gone = self._sessions.take_back(self._registry.get(session_id), steered_id)
        await self._registry.stored()
        return is_gone

    async def interrupt(
        self, session_id: str, *, keep_commands: bool = False
    ) -> list[RunningCommand]:
        """Stop the turn and, unless they are kept, its commands; which were stopped."""
        async with self._noting.setdefault(session_id, asyncio.Lock()):
            pass  # a turn that is just being accepted is interrupted, too
        live = self._registry.get(session_id)
        stopped = await self._sessions.interrupt(live, keep_commands=keep_commands)
        await self._registry.stored()
        return stopped

    def commands(self, session_id: str) -> list[RunningCommand]:
        """The commands that a session has running, during a turn or after it."""
        return self._sessions.commands(self._registry.get(session_id))

    async def stop_commands(self, session_id: str) -> list[RunningCommand]:
        """Stop the running commands of a session and return them. A turn continues."""
        stopped = await self._sessions.stop_commands(self._registry.get(session_id))
        await self._registry.stored()
        return stopped

    async def fork(self, session_id: str) -> LiveSession:
        """Start a session with the history of this one."""
        live = await self._sessions.fork(self._registry.get(session_id))
        await self._registry.stored()
        return live.shown

    async def rename(self, session_id: str, name: str) -> None:
        await self._sessions.rename(self._registry.get(session_id), name)
        await self._registry.stored()

    async def archive(self, session_id: str, *, archived: bool = True) -> None:
        await self._sessions.archive(self._registry.get(session_id), archived=archived)
        await self._registry.stored()

    async def stop(self, session_id: str, *, keep_commands: bool = False) -> list[RunningCommand]:
        """End its turn and its commands, and unload it; the next :meth:`run` resumes it.

        Returns the commands that were stopped.
        """
        live = self._registry.get(session_id)
        stopped = await self._sessions.stop(live, keep_commands=keep_commands)
        await self._registry.stored()
        return stopped

    # Approvals.

    def approvals(self, session_id: str | None = None) -> list[PendingApproval]:
        """What waits for a person, oldest first."""
        return self._approvals.waiting(session_id)

    def decide(
        self,
        approval_id: str,
        decision: str,
        *,
        session_id: str,
        message: str | None = None,
        answers: dict[str, list[str]] | None = None,
        content: dict[str, Any] | None = None,
    ) -> bool:
        """False: it is not open any more. Raises :class:`UnfitDecision` if that is no answer to it."""
        said: dict[str, Any] = {"message": message, "answers": answers, "content": content}
        return self._approvals.decide(approval_id, decision, session_id=session_id, **said)

    def past_requests(self, *, limit: int = 200) -> list[Entry]:
        """What agents have asked, the newest first."""
        return self._registry.store.reading.requests(limit)

    def policy_text(self) -> str:
        return self._policy.text()

    def check_policy(self, text: str, *, limit: int = 200) -> list[Judged]:
        """What these rules would have decided about past requests. Raises ``BadPolicy``, a ``UsageError``."""
        past = self.past_requests(limit=limit)
        known = {
            live.id: live.info.cwd
            for each in past
            if (live := self._registry.lives.get(each.session_id))
        }
        return self._policy.judge(text, past, known)

    def save_policy(self, text: str) -> None:
        """Put rules in force. Raises ``BadPolicy``, a ``UsageError``, and then nothing has changed."""
        self._policy.save(text)

    def remembered(self) -> list[RememberedRule]:
        """What the agent itself has written down as always allowed."""
        return [rule for rules in self._remembered for rule in rules.rules()]

    def forget(self, rule_id: str) -> bool:
        """Take such a rule out of the agent's file. False: there is none of this id (any more)."""
        return any(rules.remove(rule_id) for rules in self._remembered)

    # Reading.

    def entries(self, session_id: str, *, after: int = 0, limit: int = 500) -> list[Entry]:
        live = self._registry.get(session_id)
        return self._registry.store.reading.entries(live.number, live.id, after=after, limit=limit)

    def before(self, session_id: str, *, seq: int, limit: int = 500) -> list[Entry]:
        """The last entries before this one, oldest first."""
        live = self._registry.get(session_id)
        return self._registry.store.reading.before(live.number, live.id, seq=seq, limit=limit)

    def subscribe(self, session_id: str, *, after: int = 0) -> Reader:
        """First the stored entries behind the cursor, then live ones. Close it, or drop it."""
        return self._registry.subscribe(session_id, after)

    def subscribe_all(self) -> ListReader:
        return self._registry.subscribe_all()

    def verify(self) -> list[str]:
        """What is wrong with the store, in sentences. May take a while, and be called in a thread."""
        self._registry.store.writer.flush()
        return verify(self._registry.store.path, replay)
