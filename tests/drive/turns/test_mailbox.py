from __future__ import annotations

import asyncio
import errno
import tempfile
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.drive.turns import mailbox as module
from dragoman.drive.turns.mailbox import Mailbox
from dragoman.model.messages import Delta, Message, Text, ToolCall


def run(main: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(10):
            await main

    asyncio.run(bounded())


def text(number: int, size: int = 0) -> Text:
    return Text(text=f"{number} " + "x" * size, line=number)


def delta(number: int) -> Delta:
    return Delta(of="text", text="…", line=number)


async def drain(box: Mailbox) -> list[Message]:
    box.close()
    return [message async for message in box]


def test_messages_come_out_in_order() -> None:
    async def main() -> None:
        box = Mailbox()
        sent: list[Message] = [text(1), delta(2), text(3)]
        for message in sent:
            box.put(message)

        assert len(box) == 3
        assert await box.get() is sent[0]
        assert await drain(box) == sent[1:]
        assert await box.get() is None

    run(main())


def test_who_waits_is_woken() -> None:
    async def main() -> None:
        box = Mailbox()
        loop = asyncio.get_running_loop()
        loop.call_soon(box.put, text(1))
        assert await box.get() == text(1)
        loop.call_soon(box.close)
        assert await box.get() is None

    run(main())


def test_who_waited_and_was_cancelled_loses_nothing() -> None:
    async def main() -> None:
        box = Mailbox()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await box.get()
        box.put(text(1))
        assert await box.get() == text(1)

    run(main())


def test_the_error_comes_after_the_last_message() -> None:
    async def main() -> None:
        box = Mailbox()
        box.put(text(1))
        box.close(ConnectionError("gone"))
        box.close()
        box.put(text(2))
        assert await box.get() == text(1)
        for _ in range(2):
            with pytest.raises(ConnectionError, match="gone"):
                await box.get()

    run(main())


def test_beyond_its_size_deltas_are_dropped_and_the_rest_is_spilled() -> None:
    async def main() -> None:
        box = Mailbox(max_messages=2)
        for number in range(1, 7):
            box.put(text(number))
            box.put(delta(number))

        assert (box.dropped, box.spilled, box.unspilled) == (5, 5, 0)
        assert len(box) == 7
        kept = await drain(box)
        assert kept == [text(1), delta(1), *map(text, range(2, 7))]
        assert box._file._file is None

    run(main())


def test_size_is_in_bytes_as_well() -> None:
    async def main() -> None:
        box = Mailbox(max_bytes=10_000)
        call = ToolCall(
            call_id="1", tool="Write", native_tool="write", input={"content": ["x" * 20_000]}
        )
        box.put(call)
        box.put(text(1))
        assert box.spilled == 1
        assert await drain(box) == [call, text(1)]

    run(main())


def test_a_message_longer_than_a_bite_comes_back_whole() -> None:
    async def main() -> None:
        box = Mailbox(max_messages=1)
        sent = [text(1), text(2, 3_000_000), text(3), text(4, 300_000), text(5)]
        for message in sent:
            box.put(message)
        assert box.spilled == 4
        assert await drain(box) == sent

    run(main())


class Full:
    """A disk with room for half a message."""

    def seek(self, place: int) -> None:
        self.writes = 0

    def write(self, data: memoryview) -> int:
        self.writes += 1
        if self.writes > 1:
            raise OSError(errno.ENOSPC, "no space left on device")
        return len(data) // 2

    def close(self) -> None:
        return None


def test_a_full_disk_costs_memory_and_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        box = Mailbox(max_messages=2)
        sent = [text(number) for number in range(10)]
        for message in sent[:4]:
            box.put(message)
        real = box._file._file
        monkeypatch.setattr(box._file, "_file", Full())
        for message in sent[4:8]:
            box.put(message)
        box.put(delta(8))
        monkeypatch.setattr(box._file, "_file", real)

        assert (box.spilled, box.unspilled, box.dropped) == (2, 4, 1)
        assert len(box) == 8
        got = [await box.get() for _ in range(5)]
        box.put(sent[8])
        box.put(sent[9])
        assert [*got, *await drain(box)] == sent

    run(main())


def test_no_temporary_file_at_all_costs_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: object) -> None:
        raise PermissionError(errno.EACCES, "no temporary directory")

    async def main() -> None:
        monkeypatch.setattr(module.tempfile, "TemporaryFile", refuse)
        box = Mailbox(max_messages=1)
        for number in range(5):
            box.put(text(number))
        assert box.unspilled == 4
        assert await drain(box) == [text(number) for number in range(5)]

    run(main())


def test_a_message_that_is_no_json_stays_in_memory() -> None:
    async def main() -> None:
        box = Mailbox(max_messages=1)
        sent = [text(1), Text(text="half a character \ud800"), text(3)]
        for message in sent:
            box.put(message)
        assert await drain(box) == sent

    run(main())


def test_who_is_not_interested_any_more_leaves_no_file() -> None:
    box = Mailbox(max_messages=1)
    for number in range(5):
        box.put(text(number))
    file = box._file._file
    assert isinstance(file.name, int), f"it has no name in {tempfile.gettempdir()}"
    box.discard()

    assert file.closed
    assert len(box) == 0


steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 300)),
        st.tuples(st.just("delta"), st.just(0)),
        st.tuples(st.just("get"), st.just(0)),
        st.tuples(st.just("fail"), st.booleans()),
    ),
    max_size=80,
)


@given(steps, st.integers(1, 5), st.integers(200, 1500))
def test_nothing_is_lost_but_deltas_and_order_is_kept(
    steps: list[tuple[str, int]], max_messages: int, max_bytes: int
) -> None:
    async def main() -> None:
        box = Mailbox(max_messages=max_messages, max_bytes=max_bytes)
        write = box._file.write
        sent: list[Message] = []
        got: list[Message | None] = []
        for number, (step, value) in enumerate(steps):
            if step == "fail":
                box._file.write = (lambda message: False) if value else write  # pyright: ignore[reportUnknownLambdaType]
            elif step == "get":
                if len(box):
                    got.append(await box.get())
            else:
                message = delta(number) if step == "delta" else text(number, value)
                dropped = box.dropped
                box.put(message)
                if box.dropped == dropped:
                    sent.append(message)
                else:
                    assert isinstance(message, Delta)
            assert len(box) == len(sent) - len(got)
            if not box.unspilled:
                assert len(box._ready) <= max(max_messages, 1) or box.spilled
        assert [*got, *await drain(box)] == sent

    asyncio.run(main())
