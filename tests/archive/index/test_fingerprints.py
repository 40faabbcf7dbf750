from __future__ import annotations

import io

from dragoman.archive.index import fingerprints


def test_a_file_that_grew_is_the_same_and_one_that_was_changed_is_not() -> None:
    data = bytes(range(256)) * 100
    file = io.BytesIO(data)
    head, tail = fingerprints.head(file, 20_000), fingerprints.tail(file, 20_000)

    def same(changed: bytes) -> bool:
        return fingerprints.is_same(io.BytesIO(changed), 20_000, head_was=head, tail_was=tail)

    assert same(data)
    assert same(data + b"more")
    assert same(data[:20_000])
    assert not same(b"x" + data[1:])
    assert not same(data[:19_999] + b"x" + data[20_000:])
    assert not same(data[:10_000])


def test_a_short_file_is_told_by_all_of_it() -> None:
    file = io.BytesIO(b"short")

    assert fingerprints.head(file, 5) == fingerprints.tail(file, 5)
    assert fingerprints.head(io.BytesIO(b"short and more"), 5) == fingerprints.head(file, 5)
