"""Read lines from files, pipes, chunks or lists; compressed or not, in any Unicode encoding.

Lines come in batches of what is available without waiting, so that files are read fast and pipes
promptly. Damage in a compressed source is reported in place, after the lines that could be read.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator
from io import BufferedReader
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias, cast

from dragoman.errors import UnreadableSource
from dragoman.reading.compression import MAGIC, Damage, decompressed
from dragoman.reading.growing import GrowingFile
from dragoman.reading.regular import open_regular
from dragoman.reading.writers import may_grow
from dragoman.wire.lines import DEFAULT_MAX_LINE, LineSplitter, LongLine, shortened

if TYPE_CHECKING:
    from dragoman.harnesses.contract.reading import Ending

CHUNK: Final = 1 << 20
BATCH: Final = 1 << 16
"""How many bytes of lines are read before their messages are passed on; sized for the CPU cache."""
STEP: Final = 64
"""How many lines of a plain file are read before their messages are passed on."""
BOMS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_FOLLOW_SECONDS: Final = 0.2
_GONE_SECONDS: Final = 3.0
"""How long a followed file may be missing while it is moved or compressed."""
_TERMINALS: Final = ("/dev/null", "/dev/tty", "/dev/pts/", "/dev/console", os.devnull)
_REASONS: Final = {
    errno.ENOENT: "no such file",
    errno.EACCES: "permission denied",
    errno.EISDIR: "it is a directory",
}

Source: TypeAlias = (
    str | os.PathLike[str] | IO[bytes] | IO[str] | bytes | Iterable[bytes] | Iterable[str]
)


Line: TypeAlias = bytes | LongLine | Damage


def batches(
    source: Source, *, max_line: int = DEFAULT_MAX_LINE, follow: bool = False
) -> Iterator[list[Line]]:
    """Yield the lines of a source in batches. Raises ``UnreadableSource`` if it cannot be opened.

    A string or a path names a file; a file object may be binary or text; an iterable of ``bytes``
    is read as chunks cut anywhere, one of ``str`` as lines. With ``follow``, a named file is read
    as it grows, until it is deleted or replaced.
    """
    if isinstance(source, str | os.PathLike):
        yield from _of_path(os.fspath(source), max_line, follow=follow)
    elif isinstance(source, bytes):
        yield from _split(decompressed(iter([source])), max_line)
    elif hasattr(source, "read"):
        yield from _split(decompressed(_chunks(cast("IO[Any]", source))), max_line)
    else:
        yield from _of_iterable(cast("Iterable[bytes] | Iterable[str]", source), max_line)


def open_plain(source: Source, max_line: int = DEFAULT_MAX_LINE) -> BufferedReader | None:
    """Open a source that is a plain file with no line too long; None if it is anything else.

    Such a file can be iterated line by line. That takes half the time of collecting its lines in lists,
    because each line takes the place in memory of the one before it. Raises ``UnreadableSource``.
    """
    if not isinstance(source, str | os.PathLike):
        return None
    path = os.fspath(source)
    try:
        state = os.stat(path)
        if not stat.S_ISREG(state.st_mode) or state.st_size > max_line:
            return None
        file = open_regular(path, buffering=CHUNK, state=state)
    except OSError as problem:
        raise unreadable(path, problem) from problem
    if is_plain(file):
        return file
    file.close()
    return None


def is_plain(file: BufferedReader) -> bool:
    """Whether a regular file is UTF-8 and not compressed. Goes back to its beginning."""
    file.seek(0)
    head = file.read(4)  # ``peek`` would copy the whole buffer
    file.seek(0)
    return not head.startswith((*MAGIC, *BOMS))


def as_bytes(text: str) -> bytes:
    """Encode text, including lone surrogates, which UTF-8 rejects by default."""
    return text.encode(errors="surrogatepass")


def ending_of(source: Source) -> Ending:
    """Return how a source ended that was read to its end."""
    if isinstance(source, str | os.PathLike) and may_grow(os.fspath(source)):
        return "growing"
    return "left"


def _of_path(path: str, max_line: int, *, follow: bool) -> Iterator[list[Line]]:
    with _open(path) as file:
        size = os.fstat(file.fileno()).st_size
        is_regular = _is_regular(file)
        if follow and is_regular:
            yield from _followed(path, max_line)
        elif is_regular and size <= max_line and is_plain(file):
            # No line can exceed the limit, so use ``readlines``, the fastest way to split.
            while batch := file.readlines(BATCH):
                yield cast("list[Line]", batch)
        else:
            yield from _split(decompressed(_chunks(file)), max_line)


def _open(path: str) -> BufferedReader:
    """Open a regular file, or a named pipe or terminal: ``/dev/stdin``, ``<(codex exec …)``."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISFIFO(mode) or (stat.S_ISCHR(mode) and _ends(path)):
            return cast("BufferedReader", open(path, "rb", buffering=CHUNK))
        return open_regular(path, buffering=CHUNK)
    except OSError as problem:
        raise unreadable(path, problem) from problem


def _ends(path: str) -> bool:
    """Whether this device has an end: a terminal or ``/dev/null``."""
    return os.path.realpath(path).startswith(_TERMINALS)


def _is_regular(file: BufferedReader) -> bool:
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def unreadable(path: str | os.PathLike[str], problem: OSError) -> UnreadableSource:
    """Convert an OS error to ``UnreadableSource`` with a readable reason."""
    reason = _REASONS.get(problem.errno or 0, problem.strerror or str(problem))
    return UnreadableSource(str(path), reason)


def _chunks(file: IO[Any]) -> Iterator[bytes]:
    """Yield what a file object returns, without waiting for a pipe to fill the buffer."""
    read = getattr(file, "read1", file.read)
    while chunk := read(CHUNK):
        yield as_bytes(chunk) if isinstance(chunk, str) else chunk


def _followed(path: str, max_line: int) -> Iterator[list[Line]]:
    """Yield the lines of a file that is being written. Reaching its end is not the end."""
    file = GrowingFile(path, max_line=max_line)
    gone_since: float | None = None
    try:
        while True:
            try:
                for batch in file.lines():
                    yield cast("list[Line]", batch)
                if file.is_replaced:
                    break
                gone_since = None
            except OSError:
                now = time.monotonic()
                gone_since = now if gone_since is None else gone_since
                if now - gone_since > _GONE_SECONDS:
                    break
            yield []  # signals that reading on would have to wait
            time.sleep(_FOLLOW_SECONDS)
    finally:
        file.close()
    if file.rest:
        yield [file.rest]


def _of_iterable(parts: Iterable[bytes] | Iterable[str], max_line: int) -> Iterator[list[Line]]:
    iterator = iter(parts)
    first = next(iterator, None)
    if first is None:
        return
    if isinstance(first, str):
        yield [as_bytes(first)]
        for line in cast("Iterator[str]", iterator):
            yield [as_bytes(line)]
    else:
        yield from _split(decompressed(_chain(first, cast("Iterator[bytes]", iterator))), max_line)


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _split(chunks: Iterator[bytes | Damage], max_line: int) -> Iterator[list[Line]]:
    splitter = LineSplitter(max_line)
    for chunk in chunks:
        if isinstance(chunk, Damage):
            rest = splitter.finish()
            yield [*(map(shortened, rest) if chunk.is_bomb else rest), chunk]
            return
        yield cast("list[Line]", splitter.receive(chunk))
    yield cast("list[Line]", splitter.finish())
