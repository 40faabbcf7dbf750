"""Convert chunks of one dialect to lines of one format, for a host's stdout hook or a pipe."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import cast

from dragoman import export
from dragoman.errors import UsageError
from dragoman.export.base import Exporter, Format, Include, Options
from dragoman.harnesses.contract.reading import Ending, Parser
from dragoman.model.messages import Message, ToolResult, TurnEnded
from dragoman.reading.formats import check_format
from dragoman.reading.open_turns import FORMATS, ClosingExporter
from dragoman.reading.read import has_own_lines, make_parser
from dragoman.reading.sources import as_bytes
from dragoman.wire.lines import DEFAULT_MAX_LINE, LineSplitter, LongLine

_INCLUDES = ("context", "deltas", "raw")


def make_exporter(
    to: str,
    include: Collection[str] = (),
    *,
    color: bool = False,
    width: int = 100,
    redact: bool | None = None,
    secrets: Collection[str] = (),
    pid: Callable[[], int | None] | None = None,
) -> tuple[Exporter, SourceLines]:
    """Return an exporter by name, and the buffer in which it looks up source lines.

    If ``redact`` is None, the format decides whether secrets are masked; ``secrets`` are values to
    mask regardless of what they look like. ``pid`` returns the agent's process id if it is live.
    """
    found = check_format(to)
    for name in include:
        if name not in _INCLUDES:
            raise UsageError(f"cannot include {name!r} (known: {', '.join(_INCLUDES)})")
    lines = SourceLines()
    wanted = frozenset(cast("Collection[Include]", include))
    options = Options(include=wanted, color=color, width=width, source_line=lines.get)
    if pid is not None:
        options = replace(options, pid=pid)
    masks = found.redacts if redact is None else redact
    exporter = _redacting(found, options, secrets) if masks else found.make(options)
    if to in FORMATS:
        exporter = ClosingExporter(exporter)
    lines.is_wanted = exporter.wants_lines
    return exporter, lines


def _redacting(made: Format, options: Options, secrets: Collection[str]) -> Exporter:
    # Redaction compiles many patterns, so it is imported only when requested.
    from dragoman.export.redact import redacting

    return redacting(made, options, secrets)


def final_messages(parser: Parser, to: str, ending: Ending) -> list[Message]:
    """End the stream and return what the parser held back, with ends of open turns if the format uses them."""
    parser.receive_eof(ending)
    left = parser.messages()
    found = export.find(to)
    if found is not None and not found.ends_open_turns:
        left = [message for message in left if not _closes_what_was_open(message)]
    return left


def _closes_what_was_open(message: Message) -> bool:
    return isinstance(message, TurnEnded) or (
        isinstance(message, ToolResult) and message.status == "abandoned"
    )


class SourceLines:
    """The source lines that messages may still refer to: the current batch, and those a parser holds."""

    def __init__(self) -> None:
        self.is_wanted = False
        self.parser: Parser | None = None
        """The parser whose messages refer to the lines. Some parsers refer to lines of another source."""
        self._lines: dict[int, bytes] = {}
        self._count = 0
        self._keep = 64

    def add(self, line: bytes) -> None:
        self._count += 1
        self._lines[self._count] = line

    def get(self, number: int) -> bytes | None:
        return self._lines.get(number) if has_own_lines(self.parser) else None

    def forget(self) -> None:
        """Drop lines after a batch was exported. A parser can only hold on to the last few."""
        while len(self._lines) > self._keep:
            del self._lines[next(iter(self._lines))]


class Mapper:
    """Converts a stream incrementally.

    ``push`` takes chunks cut anywhere and returns complete lines, each with its newline; ``flush``
    returns the rest. The content of the stream never makes either of them raise.
    """

    def __init__(
        self,
        to: str,
        *,
        dialect: str | None = None,
        include: Collection[str] = (),
        max_line: int = DEFAULT_MAX_LINE,
    ) -> None:
        self._exporter, self._lines = make_exporter(to, include)
        self._to = to
        self._lines.parser = self._parser = make_parser(dialect)
        self._splitter = LineSplitter(max_line)

    def push(self, chunk: bytes | str) -> list[str]:
        """Take the next chunk and return the converted lines that it completes."""
        data = as_bytes(chunk) if isinstance(chunk, str) else chunk
        return self._convert(self._splitter.receive(data))

    def flush(self) -> list[str]:
        """End the stream and return everything that was held back or left open."""
        lines = self._convert(self._splitter.finish())
        left = final_messages(self._parser, self._to, "left")
        out = self._exporter.export(left) + self._exporter.finish()
        return lines + _lines(out)

    def _convert(self, lines: list[bytes | LongLine]) -> list[str]:
        for line in lines:
            if self._lines.is_wanted:
                self._lines.add(line if isinstance(line, bytes) else b"")
            if isinstance(line, bytes):
                self._parser.receive_line(line)
            else:
                self._parser.receive_long_line(line)
        out = self._exporter.export(self._parser.messages())
        self._lines.forget()
        return _lines(out)


def _lines(out: bytes) -> list[str]:
    if not out:
        return []
    text = out.decode(errors="replace")
    parts = text.split("\n")
    last = parts.pop()
    return [f"{part}\n" for part in parts] + ([last] if last else [])
