"""The loop of ``dragoman chat``: prompts, turns and slash commands.

A line typed during a turn is sent to the agent at once (it *steers* the turn). Piped lines wait for the
end of the turn, except ``/steer`` and ``/interrupt``.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import TYPE_CHECKING, Final

from dragoman.cli.chat.lines import Lines
from dragoman.cli.live import diffs
from dragoman.cli.live import status as live_status
from dragoman.cli.live.cells import hung, wrap
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.live import LiveView
from dragoman.cli.live.loop import beside, show_turn
from dragoman.cli.run_options import AgentOptions
from dragoman.cli.signals import Interrupts
from dragoman.errors import AgentError, DragomanError
from dragoman.model.messages import Diff, Message, Prompt, TurnEnded, UsageReport
from dragoman.rendering import render

if TYPE_CHECKING:
    from dragoman.client.opening import Agent, Session

HELP: Final = {
    "/steer TEXT": "send a message to the running turn; so does typing it",
    "/interrupt": "stop the turn and its commands; so does Ctrl-C",
    "/interrupt keep": "stop the turn, but leave its commands running",
    "/stop": "stop the session's running commands",
    "/diff": "show what the last turn changed",
    "/usage": "show the tokens of this session",
    "/model NAME": "switch the model, from the next prompt on",
    "/compact": "replace the conversation with a summary",
    "/review": "review the uncommitted changes",
    "/fork": "continue in a copy of this session",
    "/new": "start a new session",
    "/resume ID": "resume another session",
    "/quit": "quit; so do Ctrl-D and pressing Ctrl-C twice",
}


class ChatLoop:
    def __init__(
        self,
        agent: Agent,
        session: Session,
        options: AgentOptions,
        view: LiveView,
        presses: Interrupts,
    ) -> None:
        self._agent = agent
        self.session = session
        self._options = options
        self._view = view
        self._presses = presses
        self._ink = Ink(colour=view.colour)
        self._lines: Lines
        self._held: deque[str | None] = deque()
        """Lines that arrived during a turn and wait for its end."""
        self._begun: asyncio.Queue[AsyncIterable[Message]] = asyncio.Queue()
        """Turns that the agent started by itself, and that are not shown yet."""
        self._pending: list[str] = []
        """Messages sent to the current turn that are not part of its conversation yet."""
        self._model: str | None = None
        self._diff = ""
        self._usage: UsageReport | None = None
        self.last: TurnEnded | None = None
        self._commands: dict[str, Callable[[str], Awaitable[None]]] = {
            "/help": self._help,
            "/stop": self._stop_commands,
            "/diff": self._show_diff,
            "/usage": self._show_usage,
            "/model": self._set_model,
            "/compact": self._compact,
            "/review": self._review,
            "/fork": self._fork,
            "/new": self._new,
            "/resume": self._resume,
            "/steer": self._nothing_runs,
            "/interrupt": self._nothing_runs,
        }

    def status(self) -> str:
        """The status line below the input."""
        model = self._model or self.session.facts.model
        known = [model, self._options.access, f"{self.session.id[:8]}…", "/help"]
        return "  " + " · ".join(render.one_line(each, 60) for each in known if each)

    async def go_on(self, lines: Lines, prompt: str | None = None) -> None:
        """Run until the input ends or the user quits."""
        self._lines = lines
        self._watch(self.session)
        if prompt is not None:
            self._held.append(prompt)
        while (line := await self._next(lines)) is not None:
            word, _, rest = line.strip().partition(" ")
            if word in ("/quit", "/exit"):
                return
            try:
                if not word.startswith("/"):
                    await self._turn(self._run(line), lines)
                elif command := self._commands.get(word):
                    await command(rest.strip())
                else:
                    self._say(f"unknown command: {word} (/help lists the commands)", problem=True)
            except DragomanError as problem:
                self._say(str(problem), problem=True)
                if self._agent.state in ("failed", "stopped"):
                    raise

    def _watch(self, session: Session) -> None:
        def begun(turn: AsyncIterable[Message]) -> None:
            if session is self.session:
                self._begun.put_nowait(turn)

        session.observe_turns(begun)

    async def _next(self, lines: Lines) -> str | None:
        """The next line. A turn that the agent starts by itself is shown first."""
        while True:
            if not self._begun.empty():
                turn = self._begun.get_nowait()
            elif self._held:
                return self._held.popleft()
            else:
                lines.invite()
                turn = await self._wait(lines)
            if turn is not None:
                await self._turn(turn, lines)

    async def _wait(self, lines: Lines) -> AsyncIterable[Message] | None:
        """Wait for a line, which is then held, or for a turn."""

        def clear() -> None:
            if not lines.clear():
                self._say("press Ctrl-C again to quit")

        async with beside() as tasks:
            line = tasks.create_task(lines.next())
            turn = tasks.create_task(self._begun.get())
            with self._presses.stopping(clear):
                await asyncio.wait((line, turn), return_when=asyncio.FIRST_COMPLETED)
            line.cancel()
            turn.cancel()
            if line.done() and not line.cancelled():
                self._held.append(line.result())
            return turn.result() if turn.done() and not turn.cancelled() else None

    def _run(self, text: str) -> AsyncIterable[Message]:
        self._view.entered(text)
        return self.session.run(text, model=self._model, effort=self._options.effort)

    async def _turn(self, turn: AsyncIterable[Message], lines: Lines) -> None:
        async with beside() as tasks:
            listening = tasks.create_task(self._listen(lines))
            try:
                self.last = await show_turn(
                    turn, self.session, self._view, self._presses, self._show
                )
            finally:
                listening.cancel()
                self._give_back(lines)

    def _give_back(self, lines: Lines) -> None:
        """Give back the messages that the turn ended without reading."""
        unread, self._pending = self._pending, []
        lines.pending([])
        for text in reversed(unread):
            if lines.give_back(text):
                self._say(
                    "the turn ended before the agent read your last message; it is back in the input"
                )
            else:
                self._say(f"the turn ended before the agent read this: {text}", problem=True)

    async def _listen(self, lines: Lines) -> None:
        """Handle a line that was entered during a turn."""
        while True:
            line = await lines.next()
            word, _, rest = (line or "").strip().partition(" ")
            if word == "/interrupt":
                await self.session.interrupt(keep_commands=rest.strip() == "keep")
            elif word == "/steer":
                await self._steer(rest)
            elif line is not None and lines.is_person and not word.startswith("/"):
                await self._steer(line)
            elif word in ("/quit", "/exit"):
                self._held.append(line)
                await self.session.interrupt()
                return
            else:
                self._held.append(line)
                if line is None or not lines.is_person:
                    return
                self._say(f"{word}: runs when this turn has ended")

    async def _steer(self, text: str) -> None:
        self._pending.append(text)
        self._lines.pending(self._pending)
        try:
            await self.session.steer(text)
        except (AgentError, DragomanError) as problem:
            self._say(f"the agent did not accept it: {problem}", problem=True)
            if text in self._pending:
                self._pending.remove(text)
                self._lines.pending(self._pending)
                self._lines.give_back(text)

    def _taken_up(self, prompt: Prompt) -> None:
        """A prompt of the user is now part of the conversation."""
        for text in self._pending:
            if text.strip() in prompt.text:
                self._pending.remove(text)
                self._lines.pending(self._pending)
                return

    def _show(self, message: Message) -> None:
        match message:
            case Diff(unified=unified):
                self._diff = unified
            case UsageReport() if message.session_id == self.session.id:
                self._usage = message
            case Prompt() if message.session_id == self.session.id:
                self._taken_up(message)
            case _:
                pass
        self._view.show(message)

    def _say(self, words: str, *, problem: bool = False) -> None:
        rows = hung("! " if problem else "· ", words, self._view.width - 1)
        self._view.write_rows([self._ink(row, "red" if problem else "dim") for row in rows])

    # One method per slash command.

    async def _help(self, rest: str) -> None:
        room, wide = self._view.width - 1, max(map(len, HELP)) + 2
        shown: list[str] = []
        for word, what in HELP.items():
            rows = [f"  {row}" for row in wrap(what, room - 2)]
            if room >= 2 * wide:  # wide enough for two columns
                rows = [" " * wide + row for row in wrap(what, room - wide)]
                shown.append(self._ink(f"{word:<{wide}}", "bold") + rows.pop(0)[wide:])
            else:
                shown.append(self._ink(word, "bold"))
            shown += rows
        self._view.write_rows(shown)

    async def _show_diff(self, rest: str) -> None:
        if not self._diff:
            self._say("no changes yet")
            return
        self._view.write_rows(diffs.unified(self._diff, self._ink, self._view.width - 1))

    async def _stop_commands(self, rest: str) -> None:
        for stopped in await self.session.stop_commands():
            self._say(f"stopped: {stopped.command}")
        self._say("no command is running")

    async def _show_usage(self, rest: str) -> None:
        if self._usage is None or self._usage.total is None:
            self._say("no tokens used yet")
            return
        full = live_status.context_used(self._usage)
        context = f" · context {full:.0f} % full" if full is not None else ""
        self._say(f"{render.spent(self._usage.total)}{context}")

    async def _set_model(self, rest: str) -> None:
        if rest:
            self._model = rest
        self._say(f"model: {self._model or self.session.facts.model or 'the default'}")

    async def _compact(self, rest: str) -> None:
        await self._turn(self.session.compact(), self._lines)

    async def _review(self, rest: str) -> None:
        await self._turn(self.session.review(), self._lines)

    async def _fork(self, rest: str) -> None:
        self._go_on_in(await self.session.fork())

    async def _new(self, rest: str) -> None:
        self._go_on_in(await self._options.start(self._agent))

    async def _resume(self, rest: str) -> None:
        if not rest:
            self._say("/resume needs a session: its id, an id prefix or its name", problem=True)
            return
        from dragoman.client.surveying import driven_names

        there, found = self._options.resuming(rest, last=False)
        if there.harness not in (None, self._options.harness or driven_names()[0].name):
            words = f"this is a session of {there.harness}; run `dragoman chat --resume {found}`"
            self._say(words, problem=True)
            return
        self._go_on_in(await self._options.start(self._agent, resume=found))

    async def _nothing_runs(self, rest: str) -> None:
        self._say("no turn is running")

    def _go_on_in(self, session: Session) -> None:
        self.session = session
        self._watch(session)
        self._usage, self._diff = None, ""
        self._say(f"session {session.id}")
