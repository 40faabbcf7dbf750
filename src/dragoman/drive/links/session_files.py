"""Follows the files that an agent writes for a session, and hands their new rows over among the lines of its link.

A row that the agent had written before a line arrived is handed over before that line. While the agent is silent the
files are looked at as well, less and less often: a row may be written just after the line that it belongs to, and a
sub-agent may work for minutes of which the wire says nothing.
"""

from __future__ import annotations

import asyncio
import glob
import os
from collections.abc import Iterable, Mapping
from typing import Final

from dragoman.drive.links.link import Closed, Link, OpenLink, Receive
from dragoman.harnesses.contract.session_files import SessionFiles, row_line
from dragoman.wire.lines import LineSplitter, LongLine

_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 2.0
_GROWTH: Final = 1.2
"""How pauses grow while nothing is new."""
_MOST: Final = 1 << 24
"""How much of a file is read at once."""


def with_session_files(
    open_link: OpenLink, files: SessionFiles, env: Mapping[str, str], resumed: str | None
) -> OpenLink:
    """The same link, with the rows of the session's files among its lines.

    ``resumed`` is the session that is resumed: the content of its files is not new.
    """

    async def opened(receive: Receive, closed: Closed) -> Link:
        follower = _Follower(files, env, receive)
        if resumed is not None:
            follower.begin(resumed, is_new=False)

        def ended() -> None:
            follower.end()
            closed()

        return await open_link(follower.received, ended)

    return opened


class _Follower:
    """The files of one session, and the link they belong to."""

    def __init__(self, files: SessionFiles, env: Mapping[str, str], receive: Receive) -> None:
        self._files = files
        self._env = env
        self._receive = receive
        self._session_id: str | None = None
        self._own: list[str] = []
        self._open: dict[str, _OpenFile] = {}
        self._pause = _FIRST_PAUSE
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False

    def begin(self, session_id: str, *, is_new: bool) -> None:
        self._session_id = session_id
        if not is_new:
            for path in self._paths():
                self._open[path] = _OpenFile(path, at_end=True)

    def _paths(self) -> list[str]:
        """The session's files. Where its own are known, only those of its sub-agents are looked for."""
        session_id = self._session_id or ""
        if not self._own:
            self._own = _matching(self._files.pattern(self._env, session_id))
        agents = {self._files.agents(path, session_id) for path in self._own}
        return [*self._own, *(path for each in sorted(agents) for path in _matching(each))]

    def received(self, lines: list[bytes | LongLine]) -> None:
        if self._session_id is None:
            self._learn(lines)
        self._receive([*self._news(), *lines])
        if self._session_id is not None and not self._ended:
            self._wait(_FIRST_PAUSE)

    def end(self) -> None:
        """The link is closed: what the agent wrote last is handed over, and no more is awaited."""
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
        if news := self._news():
            self._receive(news)

    def _learn(self, lines: Iterable[bytes | LongLine]) -> None:
        found = (self._files.session_in(line) for line in lines if isinstance(line, bytes))
        session_id = next(filter(None, found), None)
        if session_id is not None:
            self.begin(session_id, is_new=True)

    def _wait(self, pause: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._pause = pause
        self._timer = asyncio.get_running_loop().call_later(pause, self._look)

    def _look(self) -> None:
        self._timer = None
        news = self._news()
        if news:
            self._receive(news)
        if not self._ended:
            longer = min(self._pause * _GROWTH, _LONGEST_PAUSE)
            self._wait(_FIRST_PAUSE if news else longer)

    def _news(self) -> list[bytes | LongLine]:
        if self._session_id is None:
            return []
        lines: list[bytes | LongLine] = []
        # A sub-agent's rows come before the end of the call that it works for.
        for path in reversed(self._paths()):
            file = self._open.get(path)
            if file is None:
                file = self._open[path] = _OpenFile(path)
            name = os.path.basename(path)
            rows = (row_line(self._session_id, name, row) for row in file.rows())
            lines += [line for line in rows if line is not None]
        return lines


class _OpenFile:
    """A file that grows, and how much of it was read."""

    def __init__(self, path: str, *, at_end: bool = False) -> None:
        self._path = path
        self._offset = _size(path) if at_end else 0
        self._lines = LineSplitter()

    def rows(self) -> list[bytes]:
        """The rows that are complete and new. A file that cannot be read has none."""
        rows: list[bytes] = []
        while self._offset < _size(self._path):
            try:
                with open(self._path, "rb") as file:
                    file.seek(self._offset)
                    chunk = file.read(_MOST)
            except OSError:
                break
            if not chunk:
                break
            self._offset += len(chunk)
            rows += [row for row in self._lines.receive(chunk) if isinstance(row, bytes) and row]
        return rows


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def seconds_to_resume(
    files: SessionFiles, env: Mapping[str, str], session_id: str, now: float
) -> float:
    """For how many seconds a session cannot be resumed yet."""
    names = [os.path.basename(path) for path in _matching(files.pattern(env, session_id))]
    return files.resume_pause(names, now)


def _matching(pattern: str) -> list[str]:
    return sorted(glob.iglob(os.path.expanduser(pattern)))
