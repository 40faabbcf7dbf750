"""What is typed on a terminal, key by key.

:class:`KeyReader` makes keys of bytes and touches nothing; :class:`Keyboard` switches a terminal so
that it hands over each key at once and prints none, and switches it back.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple, TypeAlias

_MARK_PASTES, _MARK_NONE = b"\x1b[?2004h", b"\x1b[?2004l"
_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[\x00-\x7f])")
_UNFINISHED: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)\Z")
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"
_NAMES: Final = {
    "\r": "enter",
    "\n": "enter",
    "\t": "tab",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x1b": "escape",
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1b[C": "right",
    "\x1b[D": "left",
    "\x1b[H": "home",
    "\x1b[F": "end",
    "\x1b[1~": "home",
    "\x1b[4~": "end",
    "\x1b[3~": "delete",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\x1bOC": "right",
    "\x1bOD": "left",
    "\x1bOH": "home",
    "\x1bOF": "end",
    "\x1b\r": "newline",
    "\x1b\n": "newline",
    "\x1bb": "word-left",
    "\x1bf": "word-right",
    "\x1b[1;5D": "word-left",
    "\x1b[1;5C": "word-right",
    "\x01": "home",
    "\x02": "left",
    "\x04": "end-of-file",
    "\x05": "end",
    "\x06": "right",
    "\x0b": "cut-after",
    "\x0e": "down",
    "\x10": "up",
    "\x15": "cut-before",
    "\x17": "cut-word",
}


class Key(NamedTuple):
    """A key by its name, or ``text``: something that was typed or pasted."""

    name: str
    text: str = ""


class KeyReader:
    """Bytes in, keys out; cut anywhere."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._pasted: str | None = None

    def feed(self, data: bytes) -> list[Key]:
        text = self._rest + self._decoder.decode(data)
        self._rest = ""
        keys: list[Key] = []
        while text:
            if self._pasted is not None:
                text = self._paste(text, keys)
                continue
            if text[0] != "\x1b":
                end = next((i for i, c in enumerate(text) if c < " " or c == "\x7f"), len(text))
                if end:
                    keys.append(Key("text", text[:end]))
                else:
                    end = 1
                    keys.append(Key(_NAMES.get(text[0], "unknown")))
                text = text[end:]
            elif text.startswith(_PASTE_BEGINS):
                self._pasted, text = "", text[len(_PASTE_BEGINS) :]
            elif _UNFINISHED.match(text):
                self._rest = text
                return keys
            else:
                found = _SEQUENCE.match(text)
                whole = found[0] if found else "\x1b"
                keys.append(Key(_NAMES.get(whole, "unknown")))
                text = text[len(whole) :]
        return keys

    def _paste(self, text: str, keys: list[Key]) -> str:
        """Take what is pasted; what follows it."""
        assert self._pasted is not None
        whole = self._pasted + text
        pasted, ended, rest = whole.partition(_PASTE_ENDS)
        if not ended:
            self._pasted = whole
            return ""
        self._pasted = None
        keys.append(Key("text", pasted.replace("\r\n", "\n").replace("\r", "\n")))
        return rest


Listener: TypeAlias = Callable[[Key], None]


class Keyboard:
    """A terminal's keys, for whoever listens last."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.echoes = True
        """Whether the terminal shows what is typed; a program in between may do that by itself."""
        self._reader = KeyReader()
        self._listeners: list[Listener] = []
        self._early: list[Key] | None = None
        """Keys that came before anybody listened, if they are to be kept."""
        self._lost: Callable[[], None] | None = None

    @contextmanager
    def sent_to(self, listener: Listener) -> Generator[None]:
        """All keys go to this listener for a while."""
        self._listeners.append(listener)
        early, self._early = self._early or (), None
        for key in early:
            listener(key)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    @contextmanager
    def listening(
        self,
        *,
        ahead: bool = False,
        marks: bool = True,
        lost: Callable[[], None] | None = None,
    ) -> Generator[None]:
        """Switch the terminal, and back again whatever happens.

        ``ahead``: what is typed before anybody listens is for the first who does. Otherwise it is
        dropped: a key that was pressed before a question was asked is no answer to it. ``marks``: have
        pastes marked, on terminals that obey such words. ``lost`` is called when the terminal has gone
        away; the listener hears an ``end-of-file`` before.
        """
        assert sys.platform != "win32"  # there is no such keyboard: see keyboard_of
        import termios
        import tty

        loop = asyncio.get_running_loop()
        self._early = [] if ahead else None
        self._lost = lost
        try:
            before: list[Any] = termios.tcgetattr(self._fd)
            tty.setcbreak(self._fd, termios.TCSANOW)
        except (OSError, termios.error):  # it has gone away before we listened
            self._read()
            yield
            return
        self.echoes = bool(before[3] & termios.ECHO)
        loop.add_reader(self._fd, self._read)
        self._tell(_MARK_PASTES if marks else b"")
        try:
            yield
        finally:
            self._tell(_MARK_NONE if marks else b"")
            loop.remove_reader(self._fd)
            # Not to wait for the output to drain: a lost connection never takes it.
            with suppress(OSError, termios.error):
                termios.tcsetattr(self._fd, termios.TCSANOW, before)

    def _tell(self, words: bytes) -> None:
        if not words or sys.platform == "win32":
            return
        with suppress(OSError), open(os.ttyname(self._fd), "wb", buffering=0) as terminal:
            terminal.write(words)

    def _read(self) -> None:
        try:
            data = os.read(self._fd, 4096)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # the terminal was closed
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._fd)
            keys = [Key("end-of-file")]
        else:
            keys = self._reader.feed(data)
        for key in keys:
            if self._listeners:
                self._listeners[-1](key)
            elif self._early is not None:
                self._early.append(key)
        # In this mode a terminal has nothing to read only when it is gone: Ctrl-D is a key.
        if not data and self._lost is not None:
            self._lost()


def keyboard_of(fd: int | None = None) -> Keyboard | None:
    """The keyboard of the terminal that we were started from, if there is one that can be read.

    It is there even if something else comes through standard input.
    """
    if sys.platform == "win32":
        return None
    import termios

    for candidate in (0 if fd is None else fd, None):
        try:
            opened = os.open("/dev/tty", os.O_RDONLY) if candidate is None else candidate
            termios.tcgetattr(opened)
        except (OSError, termios.error):
            continue
        return Keyboard(opened)
    return None
