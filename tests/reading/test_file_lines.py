from __future__ import annotations

import gzip
import random
from pathlib import Path

from conftest import Compress
from dragoman.reading.file_lines import open_file, other_lines, plain_lines
from dragoman.reading.sources import is_plain


def test_lines_know_where_they_begin_and_the_last_may_be_torn(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\n\nthree\nto")

    with open_file(str(tmp_path / "a")) as file:
        whole, torn = plain_lines(file, 0)
        [later] = list(plain_lines(file, 4))[:1]

    assert (whole.lines, whole.starts) == ([b"one\n", b"\n", b"three\n"], [0, 4, 5, 11])
    assert (torn.lines, torn.starts, torn.is_torn) == ([b"to"], [11, 13], True)
    assert later.lines == [b"\n", b"three\n"]


def test_compressed_lines_are_counted_as_they_come_out(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(gzip.compress(b"one\ntwo\n")[:-4])

    with open_file(str(tmp_path / "a")) as file:
        assert not is_plain(file)
        pieces = list(other_lines(file))

    lines = [line for piece in pieces for line in piece.lines if isinstance(line, bytes)]
    assert lines == [b"one", b"two"]
    assert pieces[-1].starts[-1] == 8
    assert pieces[-1].damage is not None


def test_the_first_of_compressed_lines_are_enough_to_see_what_they_are(
    tmp_path: Path, compress: Compress
) -> None:
    noise = random.Random(1).randbytes(40_000).hex().encode()
    (tmp_path / "a").write_bytes(compress(noise + b"\nshort\n" * 2))

    with open_file(str(tmp_path / "a")) as file:
        first, *rest = other_lines(file)

    assert first.lines[0] == noise
    assert [line for piece in rest for line in piece.lines] + first.lines[1:]
    assert all(piece.lines for piece in (first, *rest))
