from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from dragoman.cli.signals import Interrupts, handling


def test_the_first_press_stops_the_turn_and_the_second_quits() -> None:
    said: list[str] = []
    presses = Interrupts(lambda: said.append("quit"))

    with presses.stopping(lambda: said.append("stop")):
        presses.press()
        presses.press()

    assert said == ["stop", "quit"]


def test_each_turn_has_a_first_press_of_its_own() -> None:
    said: list[str] = []
    presses = Interrupts(lambda: said.append("quit"))

    for _ in range(2):
        with presses.stopping(lambda: said.append("stop")):
            presses.press()
    presses.press()

    assert said == ["stop", "stop", "quit"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize(
    ("number", "word"), [(signal.SIGINT, "stop"), (signal.SIGTERM, "quit")], ids=["int", "term"]
)
def test_signals_are_heard_in_the_loop_and_handlers_put_back(number: int, word: str) -> None:
    before = signal.getsignal(number)

    async def run() -> list[str]:
        heard: asyncio.Queue[str] = asyncio.Queue()
        inside = signal.getsignal(number)
        presses = Interrupts(lambda: heard.put_nowait("quit"))
        with handling(presses), presses.stopping(lambda: heard.put_nowait("stop")):
            os.kill(os.getpid(), number)
            async with asyncio.timeout(5):
                found = [await heard.get()]
        assert signal.getsignal(number) == inside
        return found

    assert asyncio.run(run()) == [word]
    assert signal.getsignal(number) == before
