from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.drive.relay.records import BrokenRecord, Record, RecordSplitter, encode

_RECORDS = st.lists(
    st.builds(
        Record,
        st.integers(0, 2**53),
        st.integers(0, 999),
        st.integers(0, 2**63),
        st.sampled_from([b"o", b"i", b"x"]),
        st.binary(max_size=60),
    ),
    max_size=12,
)


@given(_RECORDS, st.lists(st.integers(0, 600)))
def test_records_are_the_same_however_they_are_chunked(
    records: list[Record], cuts: list[int]
) -> None:
    data = b"".join(map(encode, records))
    splitter = RecordSplitter()

    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    found = [each for a, b in pairwise(edges) for each in splitter.receive(data[a:b])]

    assert found == records
    assert splitter.offset == len(data)


@given(st.binary(max_size=300))
def test_what_is_no_record_is_refused_or_waited_for(data: bytes) -> None:
    splitter = RecordSplitter()
    try:
        found = splitter.receive(data)
    except BrokenRecord:
        return
    assert len(b"".join(map(encode, found))) <= len(data) + 20 * len(found)


def test_a_head_that_never_ends_is_refused() -> None:
    with pytest.raises(BrokenRecord):
        RecordSplitter().receive(b"1" * 200)
