"""A chat with an agent: prompts, turns, and the words that begin with a slash.

What a person types while the agent works is said to the agent at once (it is *steered*). What a script
says waits for its turn, but for ``/steer`` and ``/interrupt``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import TYPE_CHECKING, Final

from dragoman.cli import live_diffs, live_status
from dragoman.cli.chat_lines import Lines
from dragoman.cli.live import LiveView
from dragoman.cli.live_ink import Ink
from dragoman.cli.live_loop import beside, play
from dragoman.cli.run_options import AgentOptions
from dragoman.cli.signals import Presses
from dragoman.errors import AgentError, DragomanError
from dragoman.export import render
from dragoman.model.messages import Diff, Message, TurnEnded, UsageReport

if TYPE_CHECKING:
    from dragoman.crew.connecting import Agent, Session

HELP: Final = {
    "/steer TEXT": "say something to the agent while it works; so does typing it",
    "/interrupt": "stop the turn; so does Ctrl-C",
    "/stop": "end the commands that the agent has left running",
    "/diff": "what the last turn changed",
    "/usage": "the tokens of this session",
    "/model NAME": "use another model from the next prompt on",
    "/compact": "replace the conversation so far by a summary",
    "/review": "have the uncommitted changes reviewed",
    "/fork": "go on in a copy of this session",
    "/new": "begin a new session",
    "/resume ID": "go on with another session",
    "/quit": "leave; so do Ctrl-D and Ctrl-C twice",
}


class Talk:
    def __init__(
        self,
        agent: Agent,
        session: Session,
        options: AgentOptions,
        view: LiveView,
        presses: Presses,
    ) -> None:
        self._agent = agent
        self.session = session
        self._options = options
        self._view = view
        self._presses = presses
        self._ink = Ink(colour=view.colour)
        self._lines: Lines
        self._held: deque[str | None] = deque()
        """Lines that came too early."""
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
        """The line below what is typed."""
        model = self._model or self.session.facts.model
        known = [model, self._options.sandbox, f"{self.session.id[:8]}…", "/help"]
        return "  " + " · ".join(render.one_line(each, 60) for each in known if each)

    async def go_on(self, lines: Lines, prompt: str | None = None) -> None:
        """Until there is nothing more to say."""
        self._lines = lines
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
                    self._say(f"there is no {word}; /help lists what there is", problem=True)
            except DragomanError as problem:
                self._say(str(problem), problem=True)
                if self._agent.state in ("failed", "stopped"):
                    raise

    async def _next(self, lines: Lines) -> str | None:
        if self._held:
            return self._held.popleft()

        def clear() -> None:
            if not lines.clear():
                self._say("Ctrl-C again quits")

        with self._presses.stopping(clear):
            return await lines.next()

    def _run(self, text: str) -> AsyncIterable[Message]:
        return self.session.run(text, model=self._model, effort=self._options.effort)

    async def _turn(self, turn: AsyncIterable[Message], lines: Lines) -> None:
        async with beside() as tasks:
            listening = tasks.create_task(self._listen(lines))
            try:
                self.last = await play(turn, self.session, self._view, self._presses, self._show)
            finally:
                listening.cancel()

    async def _listen(self, lines: Lines) -> None:
        """What is said while a turn is under way."""
        while True:
            line = await lines.next()
            word, _, rest = (line or "").strip().partition(" ")
            if word == "/interrupt":
                await self.session.interrupt()
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
                self._say(f"{word}: when this turn is over")

    async def _steer(self, text: str) -> None:
        try:
            await self.session.steer(text)
        except (AgentError, DragomanError) as problem:
            self._say(f"not said: {problem}", problem=True)

    def _show(self, message: Message) -> None:
        match message:
            case Diff(unified=unified):
                self._diff = unified
            case UsageReport() if message.session_id == self.session.id:
                self._usage = message
            case _:
                pass
        self._view.show(message)

    def _say(self, words: str, *, problem: bool = False) -> None:
        lines = render.harmless(words).split("\n")
        mark = "! " if problem else "· "
        self._view.say([self._ink(mark + line, "red" if problem else "dim") for line in lines])

    # One method for each word.

    async def _help(self, rest: str) -> None:
        wide = max(map(len, HELP))
        self._view.say(
            [f"{self._ink(f'{word:<{wide}}', 'bold')}  {what}" for word, what in HELP.items()]
        )

    async def _show_diff(self, rest: str) -> None:
        if not self._diff:
            self._say("nothing has been changed yet")
            return
        self._view.say(live_diffs.unified(self._diff, self._ink, self._view.width - 1))

    async def _stop_commands(self, rest: str) -> None:
        await self.session.stop_commands()
        self._say("no command is left running")

    async def _show_usage(self, rest: str) -> None:
        if self._usage is None or self._usage.total is None:
            self._say("no tokens have been spent yet")
            return
        full = live_status.context_used(self._usage)
        context = f" · context {full:.0f} % full" if full is not None else ""
        self._say(f"{render.spent(self._usage.total)}{context}")

    async def _set_model(self, rest: str) -> None:
        if rest:
            self._model = rest
        self._say(f"model: {self._model or self.session.facts.model or 'as the agent likes'}")

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
            self._say("/resume needs the id of a session", problem=True)
            return
        self._go_on_in(await self._options.start(self._agent, resume=rest))

    async def _nothing_runs(self, rest: str) -> None:
        self._say("nothing is under way")

    def _go_on_in(self, session: Session) -> None:
        self.session = session
        self._usage, self._diff = None, ""
        self._say(f"session {session.id}")
