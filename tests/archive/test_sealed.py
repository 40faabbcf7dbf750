from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.archive.sealed import sealed, unsealed


@given(st.binary(max_size=200))
def test_what_was_sealed_comes_back(data: bytes) -> None:
    assert unsealed(sealed(data)) == data


@given(st.binary(min_size=1, max_size=200), st.data())
def test_a_changed_byte_anywhere_is_noticed(data: bytes, choose: st.DataObject) -> None:
    damaged = bytearray(sealed(data))
    place = choose.draw(st.integers(0, len(damaged) - 1))
    damaged[place] ^= choose.draw(st.integers(1, 255))

    with pytest.raises(ValueError, match="checksum"):
        unsealed(bytes(damaged))
