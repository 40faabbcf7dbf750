from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from dragoman.cli import archive_options
from dragoman.cli.chat.lines import TypedLines
from dragoman.cli.commands.chat import chat
from dragoman.cli.live.keys import Keyboard, KeyReader, Listener
from dragoman.cli.live.live import LiveView
from dragoman.client import connecting
from dragoman.drive.process.session_commands import RunningCommand
from dragoman.errors import ResponseError, UsageError
from dragoman.model.intents import ServerFacts, SessionFacts
from dragoman.model.messages import Diff, Message, Text, TurnEnded, UsageReport
from dragoman.model.usage import Usage


class FakeSession:
    """Answers each prompt with itself; ``wait`` goes on until it is steered or interrupted."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.id = name
        self.facts = SessionFacts(session_id=name, model="m1")
        self.log = log
        self.word = asyncio.Event()
        self.outcome: Any = "completed"

    async def run(self, text: str, **asked: Any) -> AsyncIterator[Message]:
        self.log.append(f"run {self.id} {text} {asked.get('model')}")
        if text == "refuse":
            raise ResponseError("not now")
        if text == "wait":
            async with asyncio.timeout(5):
                await self.word.wait()
        yield Diff(session_id=self.id, unified="--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n")
        yield UsageReport(session_id=self.id, total=Usage(100, 20, 0, 5))
        yield Text(session_id=self.id, text=f"You said {text}.")
        yield TurnEnded(session_id=self.id, outcome=self.outcome)

    def observe_turns(self, observer: Any) -> None: ...

    async def compact(self) -> AsyncIterator[Message]:
        self.log.append("compact")
        yield TurnEnded(session_id=self.id, outcome="completed")

    async def review(self) -> AsyncIterator[Message]:
        self.log.append("review")
        yield TurnEnded(session_id=self.id, outcome="completed")

    async def steer(self, text: str) -> None:
        self.log.append(f"steer {text}")
        self.word.set()

    async def interrupt(self, *, keep_commands: bool = False) -> list[RunningCommand]:
        self.log.append("interrupt, keep" if keep_commands else "interrupt")
        self.outcome = "interrupted"
        self.word.set()
        return []

    async def stop_commands(self) -> list[RunningCommand]:
        self.log.append("stop")
        return [RunningCommand(command="make serve", pid=7)]

    async def fork(self) -> FakeSession:
        return FakeSession("s-fork", self.log)


class FakeAgent:
    state = "running"
    facts = ServerFacts()

    def __init__(self) -> None:
        self.log: list[str] = []

    async def start(self, *, resume: str | None = None, **_: Any) -> FakeSession:
        return FakeSession(resume or "s-1", self.log)


ChatLoop = Callable[..., tuple[int, list[str], str]]


class FakeArchive:
    """The only session that is saved is called ``old``."""

    def __init__(self, *_: Any, **__: Any) -> None: ...
    def __enter__(self) -> FakeArchive:
        return self

    def __exit__(self, *_: Any) -> None: ...
    def get(self, name: str) -> Any:
        if name != "old":
            raise UsageError(f"there is no session {name!r}")
        return SimpleNamespace(id="old", harness=None)


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> ChatLoop:
    """Pipes lines into ``dragoman chat``: its exit code, what the agent was asked, what was shown."""

    def call(*lines: str, words: tuple[str, ...] = ()) -> tuple[int, list[str], str]:
        import io

        agent = FakeAgent()

        @asynccontextmanager
        async def open_connection(*_: Any) -> AsyncGenerator[FakeAgent]:
            yield agent

        monkeypatch.setattr(connecting, "open_connection", open_connection)
        monkeypatch.setattr(archive_options, "open_archive", FakeArchive)
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        code = chat.main(list(words), standalone_mode=False)
        return code, agent.log, capsys.readouterr().out

    return call


def test_each_line_of_a_script_waits_for_its_turn(talk: ChatLoop) -> None:
    code, log, shown = talk("one", "two")

    assert code == 0
    assert log == ["run s-1 one None", "run s-1 two None"]
    assert shown == "You said one.\n\n✓ completed\n\nYou said two.\n\n✓ completed\n"


def test_the_first_prompt_may_be_an_argument(talk: ChatLoop) -> None:
    assert talk("two", words=("one",))[1] == ["run s-1 one None", "run s-1 two None"]


def test_a_script_can_steer_and_interrupt_what_is_under_way(talk: ChatLoop) -> None:
    assert talk("wait", "/steer hurry up")[1] == ["run s-1 wait None", "steer hurry up"]

    code, log, _ = talk("wait", "/interrupt")

    assert code == 130
    assert log == ["run s-1 wait None", "interrupt"]


def test_words_with_a_slash(talk: ChatLoop) -> None:
    _, log, shown = talk(
        "one",
        "/diff",
        "/usage",
        "/model m2",
        "two",
        "/compact",
        "/review",
        "/stop",
        "/fork",
        "three",
        "/new",
        "/resume old",
        "four",
        "/steer nobody",
        "/dance",
        "/quit",
        "never",
    )

    assert log == [
        "run s-1 one None",
        "run s-1 two m2",
        "compact",
        "review",
        "stop",
        "run s-fork three m2",
        "run old four m2",
    ]
    assert "@@ -1 +1 @@\n-x\n+y\n" in shown
    assert "· 100 in (20 cached) · 5 out\n" in shown
    assert "· no turn is running\n" in shown
    assert "! unknown command: /dance (/help lists the commands)\n" in shown


def test_help_lists_everything(talk: ChatLoop) -> None:
    shown = talk("/help")[2]

    assert "/interrupt       stop the turn and its commands; so does Ctrl-C\n" in shown
    assert "/quit" in shown


def test_what_is_refused_is_told_and_the_chat_goes_on(talk: ChatLoop) -> None:
    code, log, shown = talk("refuse", "one", "/resume", "/resume other")

    assert code == 0
    assert log[-1] == "run s-1 one None"
    assert "! not now\n" in shown
    assert "! /resume needs a session: its id, an id prefix or its name\n" in shown
    assert "! there is no session 'other'\n" in shown


def test_an_empty_chat_is_no_failure(talk: ChatLoop) -> None:
    assert talk() == (0, [], "")


# At a terminal.


class Keys(Keyboard):
    def __init__(self) -> None:
        super().__init__(-1)
        self.listener: Listener | None = None

    @contextmanager
    def sent_to(self, listener: Listener) -> Generator[None]:
        self.listener = listener
        yield

    def press(self, data: bytes) -> None:
        assert self.listener is not None
        for key in KeyReader().feed(data):
            self.listener(key)


def test_what_is_typed_stands_below_and_is_a_line_when_entered(
    terminal: Callable[..., Any],
) -> None:
    screen = terminal(60)
    view = LiveView(screen, colour=False, width=60, animate=True)
    keys = Keys()

    async def run() -> list[str | None]:
        lines = TypedLines(keys, view, lambda: "  m1 · /help")
        with lines.open():
            keys.press(b"hel")
            assert screen.screen == "\n\u203a hel▏\n  m1 · /help"
            assert lines.clear()
            keys.press(b"one\r\r  \rtwo\r\x04")
            return [await lines.next() for _ in range(3)]

    assert asyncio.run(run()) == ["one", "two", None]
