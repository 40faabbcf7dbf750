"""A model of everything between the writer and a connection: whatever is interleaved, each reader hears each
entry once and in order, and of what is being said each piece once, from its beginning on."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.hub.hub import Entry, Transient
from dragoman.hub.live import readers
from dragoman.model.messages import Delta, Text, encode
from dragoman.web.settings import Settings
from dragoman.web.streams import channels
from dragoman.web.streams.broadcasting import Broadcasts
from dragoman.web.streams.channels import Channel, Cursor
from support.page.fake_hub import AT, FakeHub
from support.page.web_stage import play

_HERE = Path(__file__).parent
_EVENT = re.compile(rb"(?:id: (\d+)\n)?(?:event: (\w+)\n)?(?:data: (.*)\n)?(?::\n)?\n")


class Hub(FakeHub):
    """What is said is first committed, then told, and there may be a while between all of these."""

    def __init__(self) -> None:
        super().__init__(_HERE)
        self.add("s1")
        self.said: deque[Entry | Transient] = deque()
        self.committed: deque[Entry | Transient] = deque()
        self.newest = 0
        self.pieces: dict[int, str] = {}
        """What was said in pieces after each entry."""

    def say(self, count: int, *, is_delta: bool) -> None:
        for _ in range(count):
            if is_delta:
                before = self.pieces.get(self.newest, "")
                piece = f"{before.count(' ')} "
                self.pieces[self.newest] = before + piece
                self.said.append(Transient(Delta(of="text", text=piece), self.newest))
                continue
            self.newest += 1
            message = Text(text=f"{self.newest}")
            self.said.append(Entry("s1", self.newest, AT, encode(message), message))

    def commit(self, count: int) -> None:
        for _ in range(min(count, len(self.said))):
            each = self.said.popleft()
            if isinstance(each, Entry):
                self._entries["s1"].append(each)
            self.committed.append(each)

    def tell_some(self, count: int) -> None:
        told = [self.committed.popleft() for _ in range(min(count, len(self.committed)))]
        seqs = [each.seq for each in told if isinstance(each, Entry)]
        session = self._lives["s1"]
        self._lives["s1"] = msgspec.structs.replace(
            session, last_seq=max([session.last_seq, *seqs])
        )
        self.put("s1", told)

    @property
    def stored(self) -> int:
        return len(self._entries["s1"])


class Client:
    """One that reads, goes, and comes back with what it had last."""

    def __init__(self, hub: Hub, *, exported: bool) -> None:
        self._hub = hub
        self.text: str | None = ""
        """What it has of what is being said; None: it knows that it has missed something."""
        self._encode = self._encoded if exported else None
        self._stack = AsyncExitStack()
        self._channel: Channel | None = None
        self._cursor: Cursor | None = None
        self.last = 0

    async def connect(self, broadcasts: Broadcasts) -> None:
        await self.leave()
        self._channel = await self._stack.enter_async_context(broadcasts.reading("s1"))
        self._cursor = Cursor(self._channel, self.last)
        self.text = ""  # a page that is opened again has nothing, either

    async def leave(self) -> None:
        await self._stack.aclose()
        self._cursor = None

    def look(self) -> bool:
        """Take what there is, and hold it against what it had; whether there was anything."""
        data = self._cursor.take(self._encode) if self._cursor is not None else b""
        for seq, kind, said in _EVENT.findall(data):
            if kind == b"entry":
                assert int(seq) == self.last + 1
                self.last += 1
                self.text = ""
            elif kind in (b"delta", b"partial"):
                text = msgspec.json.decode(said)["message"]["text"]
                self._hear(text if kind == b"partial" or self.text is None else self.text + text)
            elif kind == b"gap":
                assert msgspec.json.decode(said) == {"after": self.last}
                self.text = None
        return bool(data)

    def _hear(self, text: str) -> None:
        """All of it is there, from the beginning on, and nothing of it twice."""
        assert self._hub.pieces.get(self.last, "").startswith(text), text
        self.text = text

    def _heard_piece(self, text: str) -> None:
        """A format cannot take anything back, so after a gap it goes on in the middle."""
        whole = self._hub.pieces.get(self.last, "")
        assert self.text is not None
        if whole.startswith(self.text + text):
            self.text += text
        else:
            assert text in whole[len(self.text) :]
            self.text = whole[: whole.index(text, len(self.text)) + len(text)]

    def _encoded(self, heard: Sequence[Entry | Transient | None]) -> bytes:
        """A format that has a word for every third entry."""
        words: list[bytes] = []
        for each in heard:
            if isinstance(each, Entry):
                assert each.seq == self.last + 1
                self.last = each.seq
                self.text = ""
                words += [b"data: a word\n\n"] if not each.seq % 3 else []
            elif each is not None:
                assert each.after == self.last
                message = each.message
                assert isinstance(message, Delta)
                self._heard_piece(message.text)
        return b"".join(words)


Step = tuple[str, int]
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(("entries", "deltas", "commit", "tell", "turn", "beat", "drop"))
        | st.sampled_from(("burst", "ahead of the news", "look", "reconnect", "leave", "ahead")),
        st.integers(1, 6),
    ),
    min_size=20,
    max_size=100,
)


async def _story(steps: list[Step], keep: int) -> None:
    hub = Hub()
    clients = [Client(hub, exported=exported) for exported in (False, True)]
    async with Broadcasts(hub, Settings(keep=keep)).open() as broadcasts:

        def channel() -> Channel | None:
            return broadcasts._channels.get("s1")  # pyright: ignore[reportPrivateUsage]

        simple: dict[str, Callable[[int], Any]] = {
            "entries": lambda n: hub.say(n, is_delta=False),
            "deltas": lambda n: hub.say(n, is_delta=True),
            "commit": hub.commit,
            "tell": hub.tell_some,
            "look": lambda n: clients[n % 2].look(),
        }

        async def burst(count: int) -> None:
            """All is as it mostly is: what is said is stored, told and passed on."""
            hub.say(2 * count, is_delta=False)
            hub.commit(len(hub.said))
            hub.tell_some(len(hub.committed))
            for _ in range(count + 2):
                await asyncio.sleep(0)

        for client in clients:
            await client.connect(broadcasts)
        for what, number in steps:
            client, known = clients[number % 2], channel()
            if what in simple:
                simple[what](number)
            elif what == "burst":
                await burst(number)
            elif what == "ahead of the news":
                hub.say(number, is_delta=False)
                hub.commit(len(hub.said))
            elif what == "turn":
                for _ in range(number):
                    await asyncio.sleep(0)
            elif what == "reconnect":
                await client.connect(broadcasts)
            elif what == "leave":
                await client.leave()
            elif what == "ahead":  # it has read the store, which may not have been told yet
                client.last = hub.stored
                await client.connect(broadcasts)
            elif known is not None:
                known.beat() if what == "beat" else known.close()
        hub.commit(len(hub.said))
        hub.tell_some(len(hub.committed))
        for client in clients:
            await client.connect(broadcasts)
            while client.last < hub.newest:
                if not client.look():
                    await asyncio.sleep(0)
            for _ in range(10):
                await asyncio.sleep(0)
                client.look()
            assert client.text == hub.pieces.get(hub.newest, "")
            await client.leave()


@settings(max_examples=300)
@given(_STEPS, st.integers(1, 4))
def test_each_reader_hears_each_entry_once_and_in_order(steps: list[Step], keep: int) -> None:
    small = [
        patch.object(readers, "QUEUE", 5),
        patch.object(readers, "_PAGE", 3),
        patch.object(channels, "PAGE", 3),
    ]
    with small[0], small[1], small[2]:
        play(_story(steps, keep))
