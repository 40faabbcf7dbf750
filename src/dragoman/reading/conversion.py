"""Convert one source to a stream or a file: the implementation of ``dragoman convert``."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import BinaryIO, TextIO, cast

from dragoman import export
from dragoman.errors import UnreadableSource, UsageError, reason_of
from dragoman.export.base import Format, Masked
from dragoman.harnesses import dialects, limits
from dragoman.harnesses.contract.reading import Dialect, Limit
from dragoman.model.messages import Malformed, Message, Unknown
from dragoman.reading.mapper import final_messages, make_exporter
from dragoman.reading.open_turns import ClosingExporter
from dragoman.reading.read import damage, feed, make_parser
from dragoman.reading.sniffing import SniffingParser
from dragoman.reading.sources import Damage, Line, Source, batches, ending_of
from dragoman.wire.lines import DEFAULT_MAX_LINE, LongLine

_BINARY_HEAD = 4096
_KEPT = (Unknown, Malformed)


def all_dialects() -> list[Dialect]:
    return dialects()


def all_formats() -> tuple[Format, ...]:
    return export.FORMATS


def all_limits() -> list[Limit]:
    return limits()


def open_source(name: str) -> Source:
    """Return standard input for ``-``, otherwise the path, after checking that it can be a recording."""
    if name == "-":
        # ``sys.stdin`` is None if the shell closed it.
        if cast("TextIO | None", sys.stdin) is None:
            raise UnreadableSource("standard input", "it is closed")
        return sys.stdin.buffer
    path = Path(name).expanduser()
    try:
        if path.is_dir():
            raise UnreadableSource(name, "it is a directory")
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(_BINARY_HEAD)
            if _is_binary(head):
                raise UnreadableSource(name, "it is a binary file, not lines of JSON")
    except OSError as problem:
        raise UnreadableSource(name, problem.strerror or str(problem)) from problem
    return path


def _is_binary(head: bytes) -> bool:
    """Whether the first bytes are neither text nor compressed nor UTF-16."""
    known = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"\xfe\xff")
    return not head.startswith(known) and head.count(b"\0") > len(head) // 10


class Conversion:
    """A conversion in progress."""

    def __init__(
        self,
        source: Source,
        *,
        to: str,
        dialect: str | None = None,
        include: Collection[str] = (),
        max_line: int | None = None,
        follow: bool = False,
        color: bool = False,
        width: int = 100,
        redact: bool | None = None,
        secrets: Collection[str] = (),
    ) -> None:
        self._exporter, self._source_lines = make_exporter(
            to, include, color=color, width=width, redact=redact, secrets=secrets
        )
        self._to = to
        self._parser = make_parser(dialect)
        self._source = source
        self._max_line = max_line or DEFAULT_MAX_LINE
        self._follow = follow
        self._named = dialect
        self._source_lines.parser = self._parser
        self._longest = 0
        """The length of the longest line over the limit."""
        self._damage: Damage | None = None
        self.lines = 0
        self.has_understood = False
        """Whether any line became more than an ``unknown`` or ``malformed`` message."""
        self.was_stopped = False
        """Whether the user stopped the conversion before its end."""

    @property
    def dialect(self) -> str | None:
        """The dialect of the source, if known."""
        found = self._parser.dialect if isinstance(self._parser, SniffingParser) else None
        return self._named or (found.name if found else None)

    @property
    def masked(self) -> Sequence[Masked] | None:
        """The secrets masked so far, or None if masking is off."""
        from dragoman.export.redact import Redacting

        exporter = self._exporter
        if isinstance(exporter, ClosingExporter):
            exporter = exporter.exporter
        return exporter.redactor.masked if isinstance(exporter, Redacting) else None

    def problem(self, name: str) -> str | None:
        """Return why the output for ``name`` is empty of content, as a sentence, or None if it is not."""
        if not self.lines or self.has_understood:
            return None
        if self._damage is not None:
            return f"{name} could not be read to its end: {self._damage.problem}"
        if self._longest:
            return (
                f"a line of {name} has {self._longest:,} bytes, and the limit is {self._max_line:,} "
                f"({self._max_line / (1 << 20):.3g} MiB), so only its beginning and end were kept; "
                "use --max-line to raise the limit"
            )
        if self.dialect is None:
            return (
                f"no line of {name} is in a known dialect; "
                "run `dragoman dialects` to list them, or use --from to name one"
            )
        return (
            f"no line of {name} could be read as {self.dialect}; "
            "run `dragoman convert --audit` for details"
        )

    def to_stream(self, stream: BinaryIO) -> None:
        """Write to a stream, flushing each piece as soon as it is ready."""
        with _interrupt_handler(self._follow) as patience:
            for piece in self._pieces():
                if piece:
                    stream.write(piece)
                stream.flush()
                if patience.is_over:
                    break
            stream.write(self._end())
            stream.flush()
        self.was_stopped = patience.is_lost

    def to_file(self, name: str) -> None:
        """Write to a file atomically. With ``follow``, the file grows in place instead."""
        path = Path(name)
        try:
            if self._follow or path.is_char_device() or path.is_fifo():
                with path.open("wb") as stream:
                    self.to_stream(stream)
                return
            handle, temporary = tempfile.mkstemp(dir=path.parent or ".", prefix=f".{path.name}.")
        except OSError as problem:
            raise UsageError(f"cannot write {name}: {reason_of(problem)}") from None
        try:
            with os.fdopen(handle, "wb") as stream:
                self.to_stream(stream)
            if self.was_stopped:
                return
            _same_mode(path, temporary)
            os.replace(temporary, path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)

    def _pieces(self) -> Iterator[bytes]:
        for batch in batches(self._source, max_line=self._max_line, follow=self._follow):
            self._feed(batch)
            piece = self._exporter.export(self._messages_so_far())
            if batch and isinstance(batch[-1], Damage):
                piece += self._exporter.export([damage(batch[-1])])
            self._source_lines.forget()
            yield piece

    def _feed(self, batch: list[Line]) -> None:
        if self._source_lines.is_wanted:
            for line in batch:
                self._source_lines.add(line if isinstance(line, bytes) else b"")
        if not self.has_understood:  # afterwards there is nothing to explain
            for line in batch:
                if isinstance(line, Damage):
                    self._damage = line
                elif isinstance(line, LongLine):
                    self._longest = max(self._longest, line.length)
        feed(self._parser, batch)
        self.lines += len(batch)

    def _end(self) -> bytes:
        left = self._understood(final_messages(self._parser, self._to, ending_of(self._source)))
        return self._exporter.export(left) + self._exporter.finish()

    def _messages_so_far(self) -> list[Message]:
        return self._understood(self._parser.messages())

    def _understood(self, messages: list[Message]) -> list[Message]:
        if not self.has_understood:
            self.has_understood = any(not isinstance(each, _KEPT) for each in messages)
        return messages


def _same_mode(path: Path, temporary: str) -> None:
    """Copy the permissions of the file being replaced, or use those of a newly created file."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(temporary, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~mask)


class _InterruptHandler:
    """Decides on Ctrl-C whether to stop, and when.

    With ``follow``, the first Ctrl-C stops after everything read so far is written. Without it, the
    first one is ignored: in a pipe the agent receives it too and still has output to write. The
    second always stops immediately.
    """

    def __init__(self, follow: bool) -> None:
        self._follow = follow
        self._presses = 0

    @property
    def is_over(self) -> bool:
        return self._presses >= (1 if self._follow else 2)

    @property
    def is_lost(self) -> bool:
        return self._presses >= 2

    def pressed(self, _signal: int, _frame: FrameType | None) -> None:
        self._presses += 1
        if self.is_lost:
            raise KeyboardInterrupt


@contextmanager
def _interrupt_handler(follow: bool) -> Generator[_InterruptHandler]:
    patience = _InterruptHandler(follow)
    if threading.current_thread() is not threading.main_thread():
        yield patience
        return
    before = signal.signal(signal.SIGINT, patience.pressed)
    try:
        yield patience
    except KeyboardInterrupt:
        if not patience.is_lost:
            raise
    finally:
        signal.signal(signal.SIGINT, before)
