from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator

import pytest

from dragoman.reading.compression import MAGIC, Damage, decompressed

DATA = b"".join(b'{"line":%d}\n' % number for number in range(2000))
EARLY = Damage("compressed data ends early")

Compress = Callable[[bytes], bytes]


def undone(*chunks: bytes) -> tuple[bytes, Damage | None]:
    """All the bytes that come out, and the damage that comes last, if any."""
    out, damage = b"", None
    for piece in decompressed(iter(chunks)):
        assert damage is None, "nothing comes after damage"
        if isinstance(piece, Damage):
            damage = piece
        else:
            out += piece
    return out, damage


def one_by_one(data: bytes) -> Iterator[bytes]:
    return (data[at : at + 1] for at in range(len(data)))


def test_what_is_not_compressed_passes_as_it_is() -> None:
    assert undone(DATA) == (DATA, None)
    assert undone(*one_by_one(DATA[:50])) == (DATA[:50], None)
    assert undone() == (b"", None)
    assert undone(b"{}") == (b"{}", None)


def test_compressed_data_is_known_by_its_start_however_it_is_cut(compress: Compress) -> None:
    packed = compress(DATA)

    assert packed.startswith(MAGIC)
    assert undone(packed) == (DATA, None)
    assert undone(b"", packed[:1], b"", packed[1:2], packed[2:]) == (DATA, None)
    assert undone(*one_by_one(packed)) == (DATA, None)


def test_several_pieces_one_after_the_other_are_one_source(compress: Compress) -> None:
    packed = compress(DATA[:11]) + compress(b"") + compress(DATA[11:])

    assert undone(packed) == (DATA, None)
    assert undone(*one_by_one(packed)) == (DATA, None)


@pytest.mark.parametrize("missing", [1, 4])
def test_an_early_end_is_damage_after_what_was_there(compress: Compress, missing: int) -> None:
    packed = compress(DATA) + compress(DATA)[:-missing]

    out, damage = undone(packed)

    assert out.startswith(DATA)
    assert damage == EARLY
    assert undone(*one_by_one(packed)) == (out, EARLY)


def test_something_else_after_compressed_data_is_damage(compress: Compress) -> None:
    for chunks in ([compress(DATA) + b"something else"], one_by_one(compress(DATA) + b"something")):
        out, damage = undone(*chunks)

        assert out == DATA
        assert damage is not None
        assert damage.problem.startswith("compressed data is damaged: ")


def test_a_wrong_checksum_of_gzip_takes_nothing_away() -> None:
    out, damage = undone(gzip.compress(DATA)[:-8] + bytes(8))

    assert out == DATA
    assert damage is not None
    assert damage.problem.startswith("compressed data is damaged: ")


def test_damage_in_the_middle_leaves_what_came_before(compress: Compress) -> None:
    first, second = compress(DATA), compress(DATA[:20])
    harmed = first + second[:4] + b"\xff" * 12 + second[16:]

    out, damage = undone(harmed)

    assert out.startswith(DATA)
    assert damage is not None


@pytest.mark.parametrize("start", MAGIC, ids=["gzip", "zstd"])
def test_the_mere_start_of_compressed_data_is_damage_and_not_a_line(start: bytes) -> None:
    assert undone(start) == (b"", EARLY)
