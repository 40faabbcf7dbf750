from __future__ import annotations

from dragoman.wire.loose import as_count, as_dict, as_int, as_list, as_number, as_str


def test_each_reader_returns_its_type_or_nothing() -> None:
    values = [{"a": 1}, [1], "s", 3, 1.5, True, None]

    assert [as_dict(value) for value in values] == [{"a": 1}, {}, {}, {}, {}, {}, {}]
    assert [as_list(value) for value in values] == [[], [1], [], [], [], [], []]
    assert [as_str(value) for value in values] == [None, None, "s", None, None, None, None]
    assert [as_int(value) for value in values] == [None, None, None, 3, None, None, None]
    assert [as_number(value) for value in values] == [None, None, None, 3.0, 1.5, None, None]


def test_a_count_is_never_negative_nor_beyond_reason() -> None:
    assert [as_count(value) for value in (7, -1, 1 << 70, "7")] == [7, 0, 0, 0]
    assert as_number(10**400) is None
