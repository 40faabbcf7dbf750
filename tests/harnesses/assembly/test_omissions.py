from __future__ import annotations

from dragoman.harnesses.assembly.omissions import Omission, Omissions

TABLE = Omissions(
    [Omission("a name", ("**.id", "line.*")), Omission("a state", ("a.b[].**",))], ["line.text"]
)


def test_a_place_is_omitted_by_the_first_pattern_that_fits_all_of_it() -> None:
    assert TABLE.reason("x.y.id") == "a name"
    assert TABLE.reason("line.more") == "a name"
    assert TABLE.reason("a.b[].c.d") == "a state"
    assert TABLE.reason("line.more.still") is None
    assert TABLE.reason("x.ids") is None


def test_an_exception_must_be_held() -> None:
    assert TABLE.reason("line.text") is None


def test_an_empty_table_omits_nothing() -> None:
    assert Omissions([]).reason("") is None


def test_the_values_that_no_omission_explains_are_found_at_any_depth() -> None:
    found = TABLE.values("x", {"id": "1", "a": [{"y": "b"}, None, True, ""], "n": 0}, _doubled)

    assert [(each.place, each.value, each.forms) for each in found] == [
        ("x.a[].y", "b", [["b"], ["bb"]]),
        ("x.n", 0, [[0]]),
    ]


def _doubled(value: object) -> list[list[object]]:
    return [[value * 2]] if isinstance(value, str) else []
