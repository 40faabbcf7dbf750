from __future__ import annotations

import io
import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.errors import UnknownDialect, UnknownFormat, UnreadableSource, UsageError
from dragoman.export import FORMATS
from dragoman.reading.conversion import (
    Conversion,
    all_dialects,
    all_formats,
    all_limits,
    open_source,
)
from dragoman.reading.mapper import Mapper

EXEC = [
    b'{"type":"thread.started","thread_id":"s1"}\n',
    b'{"type":"turn.started"}\n',
    b'{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"hello"}}\n',
    b'{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}\n',
]
STREAM = b"".join(EXEC)


def converted(to: str, **options: object) -> bytes:
    mapper = Mapper(to, **options)  # pyright: ignore[reportArgumentType]
    return "".join(mapper.push(STREAM) + mapper.flush()).encode()


class Witness(io.BytesIO):
    """A stream that remembers what had been written whenever it was flushed."""

    def __init__(self) -> None:
        super().__init__()
        self.flushed: list[bytes] = []

    def flush(self) -> None:
        self.flushed.append(self.getvalue())


# To a stream.


@pytest.mark.parametrize("to", [each.name for each in FORMATS])
def test_a_stream_gets_what_a_mapper_gives(to: str) -> None:
    stream = io.BytesIO()
    work = Conversion(STREAM, to=to)

    work.to_stream(stream)

    assert stream.getvalue() == converted(to)
    assert (work.dialect, work.lines, work.was_stopped) == ("codex-exec", 4, False)


def test_each_piece_is_flushed_before_the_next_is_read() -> None:
    stream = Witness()
    seen: list[int] = []

    def chunks() -> Iterator[bytes]:
        for line in EXEC:
            yield line
            seen.append(stream.flushed[-1].count(b"\n"))

    Conversion(chunks(), to="messages").to_stream(stream)

    assert seen == [1, 2, 3, 5]
    assert stream.flushed[-1] == converted("messages")


def test_the_unified_format_has_its_source_lines_even_after_a_long_one() -> None:
    stream = io.BytesIO()
    source = b"".join([EXEC[0], b"x" * 500, b"\n", *EXEC[1:]])

    Conversion(source, to="unified", max_line=100).to_stream(stream)

    assert b'"_original":' + EXEC[2].rstrip() in stream.getvalue()


def test_a_stream_of_no_known_dialect_has_none() -> None:
    work = Conversion(b"hello\n", to="text")

    work.to_stream(io.BytesIO())

    assert (work.dialect, work.lines) == (None, 1)


def test_a_named_dialect_is_the_dialect() -> None:
    work = Conversion(b"", to="text", dialect="codex-proto")

    work.to_stream(io.BytesIO())

    assert (work.dialect, work.lines) == ("codex-proto", 0)


def test_a_wrong_request_fails_before_anything_is_read_or_written() -> None:
    with pytest.raises(UnknownFormat):
        Conversion(STREAM, to="yaml")
    with pytest.raises(UnknownDialect):
        Conversion(STREAM, to="text", dialect="codex-9")
    with pytest.raises(UsageError):
        Conversion(STREAM, to="text", include=["everything"])


# To a file.


def broken() -> Iterator[bytes]:
    yield EXEC[0]
    raise OSError("the disk is gone")


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.md"

    Conversion(STREAM, to="markdown").to_file(str(path))

    assert path.read_bytes() == converted("markdown")
    assert os.listdir(tmp_path) == ["out.md"]


def test_a_new_file_has_the_permissions_that_the_user_gives_new_files(tmp_path: Path) -> None:
    path = tmp_path / "out.md"
    before = os.umask(0o027)
    try:
        Conversion(STREAM, to="markdown").to_file(str(path))
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "out.md"
    path.write_bytes(b"old")
    path.chmod(0o604)

    Conversion(STREAM, to="markdown").to_file(str(path))

    assert path.read_bytes() == converted("markdown")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.parametrize("old", [None, b"old"], ids=["new file", "old file"])
def test_a_conversion_that_fails_leaves_everything_as_it_was(
    old: bytes | None, tmp_path: Path
) -> None:
    path = tmp_path / "out.md"
    if old is not None:
        path.write_bytes(old)

    with pytest.raises(OSError, match="the disk is gone"):
        Conversion(broken(), to="messages").to_file(str(path))

    assert [each.read_bytes() for each in tmp_path.iterdir()] == ([old] if old else [])


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old")
    seen: list[bytes] = []

    def chunks() -> Iterator[bytes]:
        for line in EXEC:
            yield line
            seen.append(path.read_bytes())

    Conversion(chunks(), to="messages").to_file(str(path))

    assert seen == [b"old"] * 4
    assert path.read_bytes() == converted("messages")


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    device = tmp_path / "device"  # a name of it that can be lost without harm
    device.symlink_to(os.devnull)

    Conversion(STREAM, to="messages").to_file(str(device))

    assert device.is_symlink()
    assert device.is_char_device()


def test_a_named_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()

    Conversion(STREAM, to="messages").to_file(str(pipe))
    reader.join(timeout=5)

    assert got == [converted("messages")]
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_file_written_while_following_grows_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(STREAM)
    seen: list[bytes] = []

    def stop_when_waiting(_seconds: float) -> None:
        seen.append(target.read_bytes())
        source.write_bytes(b"another file")

    monkeypatch.setattr(time, "sleep", stop_when_waiting)
    Conversion(source, to="messages", follow=True).to_file(str(target))

    assert seen == [converted("messages")]
    assert target.read_bytes() == converted("messages")


# What there is to convert.


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(STREAM), encoding="utf-8"))

    assert open_source("-") is sys.stdin.buffer


def test_a_name_is_a_path_where_a_tilde_is_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.jsonl").write_bytes(STREAM)

    assert open_source("~/a.jsonl") == tmp_path / "a.jsonl"
    assert open_source(str(tmp_path / "a.jsonl")) == tmp_path / "a.jsonl"


@pytest.mark.parametrize(
    "head",
    [
        b"",
        STREAM,
        b"\x1f\x8b" + bytes(50),
        b"\x28\xb5\x2f\xfd" + bytes(50),
        b"\xff\xfe" + bytes(50),
    ],
    ids=["empty", "lines", "gzip", "zstd", "UTF-16"],
)
def test_what_may_be_a_recording_is_opened(head: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(head)

    assert open_source(str(path)) == path


def test_what_cannot_be_a_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(200))

    with pytest.raises(UnreadableSource, match="it is a binary file, not lines of JSON"):
        open_source(str(tmp_path / "program"))
    with pytest.raises(UnreadableSource, match="it is a directory"):
        open_source(str(tmp_path))


def test_all_that_can_be_read_and_written_is_listed() -> None:
    assert [each.name for each in all_dialects()][:2] == ["codex-exec", "codex-exec-experimental"]
    assert all_formats() is FORMATS
    names = {each.name for each in all_dialects()}
    assert all_limits()
    assert {limit.dialect for limit in all_limits()} <= names
