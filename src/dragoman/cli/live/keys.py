"""Reads keys from a terminal.

:class:`KeyReader` decodes bytes and has no side effects; :class:`Keyboard` puts a terminal into a mode
that delivers each key at once and without echo, and restores it.
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
    """A named key, or ``text`` that was typed or pasted."""

    name: str
    text: str = ""


class KeyReader:
    """Decodes bytes to keys; chunks may end anywhere."""

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
        """Consume pasted text; returns the bytes after it."""
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
    """The keys of a terminal, for the most recent listener."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.echoes = True
        """Whether something, such as a program in between, still echoes input."""
        self._reader = KeyReader()
        self._listeners: list[Listener] = []
        self._early: list[Key] | None = None
        """Keys that arrived before there was a listener, if they are kept."""
        self._lost: Callable[[], None] | None = None

    @contextmanager
    def sent_to(self, listener: Listener) -> Generator[None]:
        """Send all keys to this listener within the block."""
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
        """Switch the terminal to key input, and restore it in any case.

        ``ahead`` keeps keys that arrive before there is a listener, for the first one. By default they
        are dropped: a key pressed before a request appeared does not answer it. ``marks`` asks the
        terminal to mark pastes. ``lost`` is called when the terminal is gone, after the listener
        received ``end-of-file``.
        """
        assert sys.platform != "win32"  # keyboard_of never returns a keyboard on Windows
        import termios
        import tty

        loop = asyncio.get_running_loop()
        self._early = [] if ahead else None
        self._lost = lost
        try:
            before: list[Any] = termios.tcgetattr(self._fd)
            tty.setcbreak(self._fd, termios.TCSANOW)
        except (OSError, termios.error):  # the terminal was closed before this
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
            # TCSANOW: waiting for output to drain would hang on a lost connection.
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
        # In this mode an empty read means that the terminal is gone; Ctrl-D arrives as a key.
        if not data and self._lost is not None:
            self._lost()


def keyboard_of(fd: int | None = None) -> Keyboard | None:
    """The keyboard of the controlling terminal, if it can be read, even if standard input is a pipe."""
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
