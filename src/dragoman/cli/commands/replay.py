"""``dragoman replay``: plays a recorded session for a person or for a program.

On a terminal it uses the same view as ``run``. Elsewhere it prints the plain transcript at once. With
``--as`` it acts as the agent: the program that started it receives the recording, line by line.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from dragoman.cli import completing
from dragoman.cli import lazy_click as click
from dragoman.cli.archive_options import session_path
from dragoman.cli.streams import standard_output
from dragoman.errors import DragomanError

if TYPE_CHECKING:
    from dragoman.cli.live.keys import Key
    from dragoman.cli.live.live import LiveView
    from dragoman.model.messages import Message
    from dragoman.replay.timing import TimedMessage

_FRAME_SECONDS: Final = 0.1
_ROLES: Final = ("app-server", "exec", "stream-json", "print", "serve", "acp")
_FASTEST, _SLOWEST = 512.0, 0.125
_HINT: Final = "space pauses, + and - change the speed, Ctrl-C quits"


@click.command(
    short_help="Play a recorded session, or serve it as a live agent.",
    context_settings={"ignore_unknown_options": True},
)
@click.argument(
    "source",
    metavar="[ID|FILE]",
    required=False,
    shell_complete=completing.sessions_and_files,
)
@click.option("--last", is_flag=True, help="Play the newest saved session.")
@click.option(
    "--speed",
    type=click.FloatRange(min=0),
    help="Speed factor; 0 skips all pauses.",
)
@click.option(
    "--max-pause",
    type=click.FloatRange(min=0),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Longest pause between messages.",
)
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only this turn.")
@click.option("--as", "role", type=click.Choice(_ROLES), help="Act as the agent.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="")
def replay(
    source: str | None,
    last: bool,
    speed: float | None,
    max_pause: float,
    turn: int | None,
    role: str | None,
    words: tuple[str, ...],
) -> int:
    """Play a session again: a recording, a session file, the id or name of a saved session, or --last.

    On a terminal, messages appear with their original timing. Into a pipe or a file, the plain
    transcript is written at once. With --as, the session is served on standard input and output like a
    live agent; further arguments, which a client passes to the agent's program, are ignored.

    \b
    dragoman replay --last --speed 10
    dragoman replay recording.jsonl --turn 2 --speed 0
    dragoman replay session.jsonl --as app-server
    """
    from dragoman.reading.read import read
    from dragoman.replay.timing import only_turn, timed_messages

    if last and source is not None and role is not None:
        source, words = None, (source, *words)  # the client's own arguments came first
    if role is None:
        # Unknown options are accepted for --as only.
        for each in (source or "", *words):
            if each.startswith("-") and each != "-":
                raise click.NoSuchOption(each)
    if (source is None) != last:
        raise click.UsageError("what should be replayed? Give an ID, a FILE or --last.")
    if words and role is None:
        raise click.UsageError(f"unexpected argument {words[0]!r}: further arguments need --as.")
    path = session_path(source)
    messages: Iterable[Message] = _understood(read(path), path)
    if turn is not None:
        messages = only_turn(messages, turn)
    if role is not None:
        streams = role in ("app-server", "stream-json", "serve", "acp")
        pace = 1.0 if speed is None else speed
        return _be(
            role,
            list(timed_messages(messages, speed=pace, max_pause=max_pause, stream=streams)),
            words,
        )

    from dragoman.cli.live.live import view_for
    from dragoman.cli.live.loop import run_async

    view = view_for(standard_output())
    if speed is None:
        speed = 1.0 if view.animate else 0.0
    # The player applies the speed, so that keys can change it.
    timed = timed_messages(messages, max_pause=float("inf"), stream=view.animate and speed > 0)
    player = Player(view, speed, max_pause)
    return run_async(lambda: player.play(timed))


def _understood(messages: Iterable[Message], path: str) -> Iterator[Message]:
    """The messages. Raises at the end if every line was unknown or malformed."""
    from dragoman.model.messages import Malformed, Unknown

    lines, understood = 0, False
    for message in messages:
        lines += 1
        understood = understood or not isinstance(message, Malformed | Unknown)
        yield message
    if lines and not understood:
        raise DragomanError(
            f"no line of {path} is in a known dialect; `dragoman convert --audit` lists them"
        )


def _be(role: str, timed: list[TimedMessage], words: tuple[str, ...]) -> int:
    from dragoman.replay.serving import ends_after_a_turn, playback_for, run, serve

    out = standard_output().buffer
    playback = playback_for(timed, role)
    if "--version" in words:
        out.write(f"{playback.version_line}\n".encode())
        return 0
    if playback.http is not None:
        from dragoman.replay.http_serving import serve_http

        return serve_http(playback.serve(timed), playback.http, out)
    if ends_after_a_turn(role):
        return run(timed, out, role=role)
    return serve(timed, sys.stdin.fileno(), out, role)


class Player:
    """Shows timed messages on a view, and handles the keyboard meanwhile."""

    def __init__(self, view: LiveView, speed: float, max_pause: float) -> None:
        self._view = view
        self.speed = speed
        self._max_pause = max_pause
        self._is_paused = False

    async def play(self, timed: Iterable[TimedMessage]) -> int:
        from dragoman.cli.live.keys import keyboard_of
        from dragoman.cli.live.loop import live_screen

        keyboard = keyboard_of() if self._view.animate else None
        with live_screen(self._view):
            if keyboard is None:
                await self._show(timed)
            else:
                self._view.hint(_HINT)
                listening = keyboard.listening(lost=self._view.lose)
                with listening, keyboard.sent_to(self.press):
                    await self._show(timed)
        return 0

    async def _show(self, timed: Iterable[TimedMessage]) -> None:
        for after, message in timed:
            await self.wait(after)
            self._view.show(message)

    async def wait(self, seconds: float) -> None:
        """Wait for this much of the recording's time."""
        left = min(seconds, self._max_pause * self.speed)
        while (self.speed and left > 0) or self._is_paused:
            step = _FRAME_SECONDS
            if not self._is_paused:
                step = min(step, left / self.speed)
                left -= step * self.speed
            await asyncio.sleep(step)

    def press(self, key: Key) -> None:
        """Handle a key: pause, faster, slower."""
        for character in key.text:
            if character == " ":
                self._is_paused = not self._is_paused
                self._view.footer(["paused; press space to continue"] if self._is_paused else [])
            elif character in "+=" and self.speed:
                self.speed = min(_FASTEST, self.speed * 2)
            elif character in "-_" and self.speed:
                self.speed = max(_SLOWEST, self.speed / 2)
        if key.text and not self._is_paused:
            self._view.hint(f"{self.speed:g}x speed; {_HINT}")
