from __future__ import annotations

import gzip
import io
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import UnreadableSource
from dragoman.reading.sources import Damage, Line, Source, batches
from dragoman.wire.lines import LongLine

LINES = [b'{"n":1}', '{"text":"a\u2028b é 😀"}'.encode(), b"", b'{"n":3}\r', b"the end"]
DATA = b"\n".join(LINES)


def flat(source: Source, **options: Any) -> list[Line]:
    """All lines of a source, without their newlines."""
    return [
        line.removesuffix(b"\n") if isinstance(line, bytes) else line
        for batch in batches(source, **options)
        for line in batch
    ]


def written(folder: Path, data: bytes) -> Path:
    path = folder / "a.jsonl"
    path.write_bytes(data)
    return path


def one_by_one(data: bytes) -> Iterator[bytes]:
    return (data[at : at + 1] for at in range(len(data)))


SOURCES: dict[str, Callable[[Path], Source]] = {
    "path": lambda folder: written(folder, DATA),
    "name of a path": lambda folder: str(written(folder, DATA)),
    "bytes": lambda _: DATA,
    "bytes in a buffer": lambda _: io.BytesIO(DATA),
    "text in a buffer": lambda _: io.StringIO(DATA.decode(), newline=""),
    "list of chunks": lambda _: [DATA[:3], b"", DATA[3:20], DATA[20:]],
    "bytes one by one": lambda _: one_by_one(DATA),
    "list of lines": lambda _: [f"{line.decode()}\n" for line in LINES],
    "lines without newlines": lambda _: (line.decode() for line in LINES),
}


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_every_kind_of_source_gives_the_same_lines(
    make: Callable[[Path], Source], tmp_path: Path
) -> None:
    assert flat(make(tmp_path)) == LINES


def test_a_binary_and_a_text_file_give_the_same_lines(tmp_path: Path) -> None:
    path = written(tmp_path, DATA)

    with path.open("rb") as binary, path.open(encoding="utf-8", newline="") as text:
        assert (flat(binary), flat(text)) == (LINES, LINES)


@pytest.mark.parametrize(
    "empty",
    [b"", [], [b""], iter(()), io.BytesIO()],
    ids=["bytes", "no chunks", "an empty chunk", "iterator", "buffer"],
)
def test_an_empty_source_has_no_lines(empty: Source) -> None:
    assert flat(empty) == []


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    assert flat(written(tmp_path, b"")) == []


def test_text_keeps_what_no_encoding_can_carry(tmp_path: Path) -> None:
    halves = '{"a":"\ud800"}'.encode(errors="surrogatepass")
    assert flat(['{"a":"\ud800"}\n']) == [halves]
    assert flat(io.StringIO('{"a":"\ud800"}\n')) == [halves]

    path = written(tmp_path, b'{"a":"\xff"}\n')
    with path.open(encoding="utf-8", errors="surrogateescape") as file:
        [line] = flat(file)
    assert isinstance(line, bytes)
    assert line.decode(errors="surrogatepass") == '{"a":"\udcff"}'


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("missing.jsonl", "no such file"),
        (".", "it is a directory"),
        ("a.jsonl/below.jsonl", "Not a directory"),
    ],
)
def test_what_cannot_be_opened_says_why(name: str, problem: str, tmp_path: Path) -> None:
    written(tmp_path, DATA)

    with pytest.raises(UnreadableSource) as raised:
        flat(tmp_path / name)

    assert (raised.value.source, raised.value.problem) == (str(tmp_path / name), problem)


@pytest.mark.parametrize("limit", [1 << 30, 5], ids=["no limit", "small limit"])
@pytest.mark.parametrize(
    ("start", "encoding"),
    [(b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")],
    ids=["UTF-8", "UTF-16 LE", "UTF-16 BE"],
)
def test_a_byte_order_mark_tells_the_encoding(
    start: bytes, encoding: str, limit: int, tmp_path: Path
) -> None:
    encoded = start + DATA.decode().encode(encoding)
    expected = flat(DATA, max_line=limit)

    assert flat(written(tmp_path, encoded), max_line=limit) == expected
    assert flat(one_by_one(encoded), max_line=limit) == expected
    assert flat(gzip.compress(encoded), max_line=limit) == expected


def test_a_line_beyond_the_limit_is_cut_and_the_others_go_on(tmp_path: Path) -> None:
    data = b"short\n" + b"a" * 60 + b"z" * 40 + b"\nshort, too\n"

    expected = [b"short", LongLine(head=b"a" * 10, tail=b"z" * 10, length=100), b"short, too"]

    assert flat(written(tmp_path, data), max_line=20) == expected
    assert flat(data, max_line=20) == expected
    assert flat(one_by_one(data), max_line=20) == expected


# Promptness.


def test_a_pipe_is_not_waited_for_longer_than_it_must_be() -> None:
    reader, writer = os.pipe()
    with open(reader, "rb") as pipe, open(writer, "wb", buffering=0) as end:
        rescue = threading.Timer(5, end.close)  # or a reader that waits would wait for ever
        rescue.start()
        found = batches(pipe)
        got: list[Line] = []
        for line in (b'{"n":1}', b'{"n":2}'):
            end.write(line + b"\n")
            while not (batch := next(found)):
                pass
            got += batch
            assert got[-1] == line
        rescue.cancel()
        end.close()

        assert [line for batch in found for line in batch] == []


def test_a_named_pipe_can_be_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(DATA,), daemon=True)
    writer.start()

    assert flat(pipe) == LINES

    writer.join(timeout=5)
    assert not writer.is_alive()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for news in a followed file without a rest."""

    def no_rest(_seconds: float) -> None: ...

    monkeypatch.setattr(time, "sleep", no_rest)


def until_waiting(found: Iterator[list[Line]]) -> list[Line]:
    """The lines that are there before the reader would have to wait."""
    got: list[Line] = []
    while batch := next(found):
        got += batch
    return got


@pytest.mark.usefixtures("quick")
def test_a_followed_file_is_read_as_it_grows(tmp_path: Path) -> None:
    path = written(tmp_path, b"one\nhalf of ")
    found = batches(path, follow=True)

    assert until_waiting(found) == [b"one"]
    with path.open("ab") as file:
        file.write(b"two\nthree\n")
    assert until_waiting(found) == [b"half of two", b"three"]
    assert until_waiting(found) == []


def cut_off(path: Path) -> None:
    path.write_bytes(b"new\n")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("stop", [Path.unlink, cut_off], ids=["deleted", "cut off"])
def test_a_followed_file_ends_when_it_is_deleted_or_cut_off(
    stop: Callable[[Path], None], tmp_path: Path
) -> None:
    path = written(tmp_path, b"one\ntwo\nhalf")
    found = batches(path, follow=True)
    assert until_waiting(found) == [b"one", b"two"]

    stop(path)

    assert [line for batch in found for line in batch] == [b"half"]


# Compression.


def test_compressed_sources_give_the_lines_that_were_compressed(
    compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    packed = compress(DATA)

    assert flat(written(tmp_path, packed)) == LINES
    assert flat(packed) == LINES
    assert flat(io.BytesIO(packed)) == LINES
    assert flat(one_by_one(packed)) == LINES


def test_damage_is_told_in_its_place_after_the_lines_that_could_be_read(
    compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    packed = compress(DATA) + compress(b"\n" + DATA)[:-4]

    got = flat(packed)

    assert got[: len(LINES)] == LINES
    assert got[-1] == Damage("compressed data ends early")
    assert flat(written(tmp_path, packed)) == got
    assert flat(one_by_one(packed)) == got
