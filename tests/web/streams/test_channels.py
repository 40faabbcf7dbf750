"""Positions, gaps and catching up: what every reader gets, however slow it is."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dragoman.hub.hub import Delivery, Entry, Gap, InProgress, SoFar, Transient
from dragoman.model.messages import Delta, Text, encode
from dragoman.web.streams.channels import Channel, Cursor
from support.page.fake_hub import AT, FakeHub
from support.page.web_stage import play

_ID = re.compile(rb"id: (\d+)\n")


class Store:
    """Entries in memory."""

    def __init__(self) -> None:
        self.kept: list[Entry] = []

    def entries(self, session_id: str, *, after: int = 0, limit: int = 500) -> list[Entry]:
        return self.kept[after : after + limit]

    def add(self, count: int = 1) -> list[Delivery]:
        new: list[Delivery] = []
        for _ in range(count):
            message = Text(text=f"{len(self.kept) + 1}")
            entry = Entry("s1", len(self.kept) + 1, AT, encode(message), message)
            self.kept.append(entry)
            new.append(entry)
        return new


def ids(data: bytes) -> list[int]:
    return [int(each) for each in _ID.findall(data)]


def delta(text: str = "x") -> Transient:
    return Transient(Delta(of="text", text=text), 0)


def test_readers_at_the_same_place_get_the_very_same_bytes() -> None:
    store = Store()
    channel = Channel("s1", store, last_seq=0, keep=8)
    first, second = Cursor(channel, 0), Cursor(channel, 0)
    channel.tell(store.add(3))

    data = first.take()

    assert ids(data) == [1, 2, 3]
    assert second.take() is data
    assert first.take() == b""


def test_a_reader_begins_in_the_store_and_goes_over_to_the_channel() -> None:
    store = Store()
    store.add(1200)
    channel = Channel("s1", store, last_seq=1200, keep=8)
    cursor = Cursor(channel, 100)
    read: list[int] = []
    while data := cursor.take():
        read += ids(data)

    assert read == list(range(101, 1201))
    channel.tell(store.add())
    assert ids(cursor.take()) == [1201]


def test_a_reader_that_is_a_little_late_is_served_from_what_is_kept() -> None:
    store = Store()
    channel = Channel("s1", store, last_seq=0, keep=8)
    channel.tell(store.add(5))
    cursor = Cursor(channel, 2)

    assert ids(cursor.take()) == [3, 4, 5]


def test_who_fell_behind_is_told_so_and_misses_only_deltas() -> None:
    store = Store()
    channel = Channel("s1", store, last_seq=0, keep=4)
    cursor = Cursor(channel, 0)
    channel.tell([*store.add(2), delta()])
    assert cursor.take().count(b"event: delta") == 1
    for _ in range(20):
        channel.tell([delta(), *store.add()])

    data = cursor.take()

    assert data.startswith(b'event: gap\ndata: {"after":2}\n\n')
    assert ids(data) == list(range(3, 23))
    assert b"delta" not in data
    assert cursor.take() == b""


def test_what_is_kept_is_bounded_in_bytes_and_so_is_what_is_sent_at_once() -> None:
    store = Store()
    channel = Channel("s1", store, last_seq=0, keep=1_000)
    cursor = Cursor(channel, 0)
    for _ in range(100):
        message = Text(text="x" * 100_000)
        entry = Entry("s1", len(store.kept) + 1, AT, encode(message), message)
        store.kept.append(entry)
        channel.tell([entry])
    assert channel.end - channel.start <= 40
    late = Cursor(channel, 70)
    read: list[int] = []
    while data := late.take():
        assert len(data) < 400_000
        read += ids(data)
    assert read == list(range(71, 101))
    assert cursor.take().startswith(b"event: gap")


def test_a_cursor_beyond_the_end_waits_for_what_is_new() -> None:
    store = Store()
    channel = Channel("s1", store, last_seq=0, keep=4)
    cursor = Cursor(channel, 1_000)

    assert cursor.take() == b""
    channel.tell(store.add())
    assert ids(cursor.take()) == [1]


def test_what_the_hub_tells_twice_is_told_once_and_its_gaps_are_told_on() -> None:
    store = Store()
    channel = Channel("s1", store, last_seq=0, keep=4)
    cursor = Cursor(channel, 0)
    told = store.add(2)
    channel.tell(told)
    channel.tell([Gap(from_seq=2), *told, *store.add()])

    data = cursor.take()

    assert ids(data) == [1, 2, 3]
    assert b"id: 2" in data.partition(b'event: gap\ndata: {"after":2}\n\n')[0]


def test_who_has_read_in_the_store_what_is_not_told_yet_hears_it_no_second_time() -> None:
    store = Store()
    channel = Channel("s1", store, last_seq=0, keep=4)
    early, ahead = Cursor(channel, 0), [*store.add(3)]
    cursor = Cursor(channel, 2)

    assert early.take() == cursor.take() == b""
    channel.tell(ahead[:1])
    assert (ids(early.take()), cursor.take()) == ([1], b"")
    channel.tell([delta(), *ahead[1:]])
    assert (ids(early.take()), ids(cursor.take())) == ([2, 3], [3])


def test_a_format_without_a_word_for_a_long_stretch_goes_on_behind_it() -> None:
    store = Store()
    channel = Channel("s1", store, last_seq=0, keep=1_000)
    cursor = Cursor(channel, 0)
    for _ in range(10):
        message = Text(text="x" * 100_000)
        entry = Entry("s1", len(store.kept) + 1, AT, encode(message), message)
        store.kept.append(entry)
        channel.tell([entry])

    def encode_last(heard: Sequence[Entry | Transient | None]) -> bytes:
        return b"".join(b"ten" for each in heard if isinstance(each, Entry) and each.seq == 10)

    assert cursor.take(encode_last) == b"ten"


def test_a_sign_of_life_is_not_an_event() -> None:
    channel = Channel("s1", Store(), last_seq=0, keep=4)
    cursor = Cursor(channel, 0)
    channel.beat()

    assert cursor.take() == b":\n\n"


def test_waiting_ends_with_news_or_with_the_channel() -> None:
    async def story() -> None:
        store = Store()
        channel = Channel("s1", store, last_seq=0, keep=4)
        async with asyncio.TaskGroup() as group:
            waiting = [group.create_task(Cursor(channel, 0).next()) for _ in range(3)]
            await asyncio.sleep(0)
            waiting[0].cancel()
            channel.tell(store.add())
            data = await waiting[1]
            assert data is not None
            assert ids(data) == [1]
            cursor = Cursor(channel, 1)
            last = group.create_task(cursor.next())
            await asyncio.sleep(0)
            channel.close()
            assert await last is None

    play(story())


@given(
    st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=60),
    st.integers(1, 6),
    st.integers(0, 12),
)
def test_every_entry_comes_once_and_in_order(
    steps: list[tuple[int, bool]], keep: int, after: int
) -> None:
    """Whatever is told, however much is kept, whenever the reader looks."""
    store = Store()
    store.add(after)
    channel = Channel("s1", store, last_seq=after, keep=keep)
    cursor = Cursor(channel, 0)
    read: list[int] = []
    for count, looks in steps:
        channel.tell([delta(), *store.add(count), delta()])
        if looks:
            read += ids(cursor.take())
    while data := cursor.take():
        read += ids(data)

    assert read == list(range(1, len(store.kept) + 1))


def test_the_fake_hub_is_one_that_a_channel_can_follow(tmp_path: Path) -> None:
    hub = FakeHub(tmp_path)
    hub.add("s1")
    hub.tell("s1", Text(text="a"))

    assert ids(Cursor(Channel("s1", hub, last_seq=1, keep=4), 0).take()) == [1]


def said(data: bytes) -> list[tuple[str, str]]:
    """Pieces and texts so far, in order."""
    found = re.findall(rb"event: (delta|partial)\ndata: (.*)\n", data)
    return [(kind.decode(), json.loads(each)["message"]["text"]) for kind, each in found]


def test_who_comes_in_the_middle_of_a_text_gets_it_from_its_beginning() -> None:
    store = Store()
    channel = Channel("s1", store, last_seq=0, keep=4)
    channel.tell([*store.add(2)])
    channel.tell([piece("Once "), piece("upon ")])
    late, early = Cursor(channel, 2), Cursor(channel, 0)
    channel.tell([piece("a time")])

    assert said(late.take() + late.take()) == [("partial", "Once upon "), ("delta", "a time")]
    assert said(early.take() + early.take()) == [("partial", "Once upon a time")]
    channel.tell(store.add())
    assert said(Cursor(channel, 2).take()) == []


def test_after_a_gap_it_is_given_from_its_beginning_too() -> None:
    store = Store()
    channel = Channel("s1", store, last_seq=0, keep=2)
    cursor = Cursor(channel, 0)
    for word in "abcdefgh":
        channel.tell([piece(word)])

    assert said(cursor.take() + cursor.take()) == [("partial", "abcdefgh")]


def test_the_beginning_that_the_hub_tells_is_passed_on_once() -> None:
    store = Store()
    channel = Channel("s1", store, last_seq=0, keep=8)
    first = Cursor(channel, 0)
    channel.tell([InProgress(things=[SoFar(Delta(of="text", text="Once ", message_id="m"))])])
    second = Cursor(channel, 0)
    channel.tell([piece("upon")])

    for cursor in (first, second):
        assert said(cursor.take() + cursor.take()) == [("partial", "Once "), ("delta", "upon")]


def piece(text: str) -> Transient:
    return Transient(Delta(of="text", text=text, message_id="m"), 0)
