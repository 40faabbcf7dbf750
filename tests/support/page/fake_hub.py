"""A hub without an agent: sessions and entries in memory, readers as the real hub has them."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from dragoman.drive.process.peers import Peers
from dragoman.errors import DragomanError, ProtocolError, UsageError
from dragoman.harnesses import harness
from dragoman.harnesses.contract.capabilities import resolve_access, resolve_asking
from dragoman.hub.hub import (
    Entry,
    Forbidden,
    HarnessInfo,
    Hub,
    Judged,
    KeyUsedDifferently,
    ListReader,
    LiveSession,
    Partial,
    PendingApproval,
    Reader,
    RememberedRule,
    RunningCommand,
    Transient,
    UnknownSession,
)
from dragoman.hub.saved import SavedSessionActions
from dragoman.model.answers import Model
from dragoman.model.messages import ApprovalRequested, Delta, Message, encode

AT = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class FakeSaved(SavedSessionActions):
    """The sessions of the agent's that only lie on the disk; it says ``no`` to whatever is asked, if that is set."""

    def __init__(self, hub: FakeHub) -> None:
        self._hub = hub
        self.no: DragomanError | None = None

    def _ask(self, *asked: Any) -> None:
        if self.no is not None:
            raise self.no
        self._hub.asked.append(asked)

    async def rename(self, session_id: str, name: str, *, harness: str | None = None) -> None:
        self._ask("rename saved", session_id, name)

    async def archive(
        self, session_id: str, *, archived: bool = True, harness: str | None = None
    ) -> None:
        self._ask("archive saved", session_id, archived)

    async def fork(
        self,
        session_id: str,
        *,
        cwd: str | os.PathLike[str],
        title: str | None = None,
        harness: str | None = None,
    ) -> LiveSession:
        path = self._hub.allowed(cwd)
        self._ask("fork saved", session_id, path)
        facts: dict[str, Any] = {"parent": session_id, "parent_seq": 0, "title": title}
        return self._hub.add(f"{session_id}-fork", cwd=path, created_at=datetime.now(UTC), **facts)


class FakeHub(Hub):
    """Does at once what it is asked, and remembers it in ``asked``."""

    def __init__(self, root: Path) -> None:
        self.roots = [root.resolve()]
        self._peers = Peers()
        self.asked: list[tuple[Any, ...]] = []
        self.running: list[RunningCommand] = []
        self.saved = self.disk = FakeSaved(self)
        self._lives: dict[str, LiveSession] = {}
        self._entries: dict[str, list[Entry]] = {}
        self._readers: dict[str, list[Reader]] = {}
        self._partials: dict[str, Partial] = {}
        self._list_readers: list[ListReader] = []
        self._pending: list[PendingApproval] = []
        self._by_key: dict[str, tuple[str, Any]] = {}
        self._policy = ""
        self.rules: list[RememberedRule] = []
        self.options: dict[str, Any] = {}
        """How the last turn was to be run."""
        self.reply: Sequence[Message] = ()
        """What is said when a turn begins."""

    # For the tests.

    def add(self, session_id: str = "s1", **facts: Any) -> LiveSession:
        known: dict[str, Any] = {
            "harness": "codex",
            "cwd": str(self.roots[0]),
            "created_at": AT,
            "updated_at": AT,
            "native_id": f"native-{session_id}",
            **facts,
        }
        self._entries.setdefault(session_id, [])
        return self._change(LiveSession(id=session_id, **known))

    def tell(self, session_id: str, *messages: Message) -> None:
        told: list[Entry | Transient] = []
        entries = self._entries[session_id]
        for message in messages:
            if isinstance(message, Delta):
                told.append(_passing(message, len(entries)))
                continue
            entry = Entry(session_id, len(entries) + 1, AT, encode(message), message)
            entries.append(entry)
            told.append(entry)
        if not told:
            return
        session = msgspec.structs.replace(self._lives[session_id], last_seq=len(entries))
        self._lives[session_id] = session
        self.put(session_id, told)

    def put(self, session_id: str, told: Sequence[Entry | Transient]) -> None:
        """Readers are told, and what they have been told is remembered for those who come later."""
        partial = self._partial(session_id)
        for each in told:
            if isinstance(each, Entry):
                partial.whole(each.message)
            elif isinstance(each.message, Delta):
                partial.add(each.message)
        for reader in self._readers.get(session_id, []):
            reader.put(told)

    def _partial(self, session_id: str) -> Partial:
        return self._partials.setdefault(session_id, Partial())

    def ask_person(self, request: ApprovalRequested, session_id: str = "s1") -> None:
        self._pending.append(
            PendingApproval(
                id=request.approval_id, session_id=session_id, request=request, asked_at=AT
            )
        )

    def change(self, session_id: str, **facts: Any) -> LiveSession:
        return self._change(msgspec.structs.replace(self._lives[session_id], **facts))

    def _change(self, session: LiveSession) -> LiveSession:
        self._lives[session.id] = session
        for reader in self._list_readers:
            reader.put(session)
        return session

    @property
    def reader_count(self) -> int:
        open_ones = [each for some in self._readers.values() for each in some if not each.is_closed]
        return len(open_ones)

    # As the hub.

    def harnesses(self) -> list[HarnessInfo]:
        offered = harness("codex").capabilities((0, 166, 0))
        facts = {"name": "codex", "title": "Codex", "version": "0.166.0", "state": "running"}
        return [HarnessInfo.offering(offered, **facts)]

    async def models(self, harness: str | None = None) -> list[Model]:
        return []

    def sessions(self) -> list[LiveSession]:
        return list(self._lives.values())

    def get(self, session_id: str) -> LiveSession:
        if session_id not in self._lives:
            raise UnknownSession(session_id)
        return self._lives[session_id]

    def allowed(self, path: str | os.PathLike[str]) -> str:
        if "\0" in os.fspath(path):
            raise Forbidden(os.fspath(path))
        real = Path(os.path.realpath(path))
        if not any(real.is_relative_to(root) for root in self.roots):
            raise Forbidden(os.fspath(path))
        return str(real)

    async def once(
        self, key: str | None, request: bytes, make: Callable[[], Awaitable[str]]
    ) -> str:
        return await make()

    async def start(
        self,
        *,
        cwd: str | os.PathLike[str],
        prompt: str | None = None,
        idempotency_key: str | None = None,
        **options: Any,
    ) -> LiveSession:
        self._check(options)
        request = (cwd, prompt, options)
        if idempotency_key is not None and idempotency_key in self._by_key:
            name, before = self._by_key[idempotency_key]
            if before != request:
                raise KeyUsedDifferently(idempotency_key)
            return self.get(name)
        name = f"s{len(self._lives) + 1}"
        if idempotency_key is not None:
            self._by_key[idempotency_key] = name, request
        self.asked.append(("start", str(cwd), prompt))
        self.options = {key: value for key, value in options.items() if value is not None}
        return self.add(name, title=prompt)

    def _check(self, options: dict[str, Any]) -> None:
        offered = harness("codex").capabilities((0, 166, 0))
        resolve_access(offered, options.get("access"))
        resolve_asking(offered, options.get("asking"))

    async def run(
        self,
        session_id: str,
        text: str,
        *,
        images: Sequence[str] = (),
        idempotency_key: str | None = None,
        **options: Any,
    ) -> str | None:
        self.get(session_id)
        self._check(options)
        if idempotency_key is not None:
            turn, before = self._by_key.setdefault(idempotency_key, ("", (session_id, text)))
            if before != (session_id, text):
                raise KeyUsedDifferently(idempotency_key)
            if turn:
                return turn
            self._by_key[idempotency_key] = "turn-1", before
        self.asked.append(("run", session_id, text, list(images)))
        self.options = {name: value for name, value in options.items() if value is not None}
        self.tell(session_id, *self.reply)
        return "turn-1"

    async def steer(self, session_id: str, text: str, *, images: Sequence[str] = ()) -> None:
        if self.get(session_id).state not in ("working", "waiting"):
            raise ProtocolError("no turn is under way")
        self.asked.append(("steer", session_id, text))

    async def take_back(self, session_id: str, steered_id: str) -> bool:
        known = self.get(session_id).steered
        self.change(session_id, steered=[each for each in known if each.id != steered_id])
        return any(each.id == steered_id for each in known)

    async def interrupt(
        self, session_id: str, *, keep_commands: bool = False
    ) -> list[RunningCommand]:
        self.get(session_id)
        self.asked.append(("interrupt", session_id, *(["keep"] if keep_commands else [])))
        return []

    def commands(self, session_id: str) -> list[RunningCommand]:
        self.get(session_id)
        return list(self.running)

    async def stop_commands(self, session_id: str) -> list[RunningCommand]:
        self.asked.append(("stop_commands", session_id))
        stopped, self.running = self.commands(session_id), []
        return stopped

    async def fork(self, session_id: str) -> LiveSession:
        return self.add(f"{session_id}-fork", parent=self.get(session_id).id)

    async def rename(self, session_id: str, name: str) -> None:
        self.change(session_id, title=name)

    async def archive(self, session_id: str, *, archived: bool = True) -> None:
        self.change(session_id, archived=archived)

    async def stop(self, session_id: str, *, keep_commands: bool = False) -> list[RunningCommand]:
        self.get(session_id)
        self.asked.append(("stop", session_id, *(["keep"] if keep_commands else [])))
        return []

    def approvals(self, session_id: str | None = None) -> list[PendingApproval]:
        return [each for each in self._pending if session_id in (None, each.session_id)]

    def decide(self, approval_id: str, decision: str, *, session_id: str, **more: Any) -> bool:
        found = [each for each in self.approvals(session_id) if each.id == approval_id]
        if not found:
            return False
        self._pending.remove(found[0])
        self.asked.append(("decide", approval_id, decision, more))
        return True

    def remembered(self) -> list[RememberedRule]:
        return list(self.rules)

    def forget(self, rule_id: str) -> bool:
        left = [each for each in self.rules if each.id != rule_id]
        found, self.rules = len(left) < len(self.rules), left
        return found

    def policy_text(self) -> str:
        return self._policy

    def check_policy(self, text: str, *, limit: int = 200) -> list[Judged]:
        if "!" in text:
            raise UsageError("this is no policy")
        request = ApprovalRequested(approval_id="a", kind="command", summary="make")
        return [Judged(session_id="s1", seq=4, request=request, decision="ask")]

    def save_policy(self, text: str) -> None:
        self.check_policy(text)
        self._policy = text

    def entries(self, session_id: str, *, after: int = 0, limit: int = 500) -> list[Entry]:
        self.get(session_id)
        return self._entries[session_id][after : after + limit]

    def before(self, session_id: str, *, seq: int, limit: int = 500) -> list[Entry]:
        self.get(session_id)
        end = max(0, seq - 1)
        entries = self._entries[session_id][:end]
        return entries[-limit:]

    def subscribe(self, session_id: str, *, after: int = 0) -> Reader:
        self.get(session_id)

        def read(seq: int, limit: int) -> list[Entry]:
            most = min(limit, self.get(session_id).last_seq - seq)
            return self.entries(session_id, after=seq, limit=most) if most > 0 else []

        reader = Reader(read, after, self._partial(session_id).snapshot)
        self._readers.setdefault(session_id, []).append(reader)
        return reader

    def subscribe_all(self) -> ListReader:
        reader = ListReader()
        self._list_readers.append(reader)
        return reader


def _passing(message: Delta, after: int) -> Transient:
    return Transient(message, after)
