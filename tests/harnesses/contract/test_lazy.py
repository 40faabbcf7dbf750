from __future__ import annotations

import pickle

import pytest

from dragoman.harnesses.contract.lazy import on_use

loads: list[str] = []


@on_use
def _join():
    """Joins words."""
    loads.append("join")
    return str.join


@on_use
def _broken():
    if len(loads) < 5:
        loads.append("broken")
        raise ImportError("not installed")
    return str.upper


def test_the_target_is_loaded_at_the_first_call_and_once() -> None:
    loads.clear()
    assert loads == []
    assert _join("-", ["a", "b"]) == "a-b"
    assert _join("+", ["a", "b"]) == "a+b"
    assert loads == ["join"]


def test_a_reference_has_a_name_under_which_it_is_found() -> None:
    assert (_join.__name__, _join.__doc__) == ("_join", "Joins words.")
    assert pickle.loads(pickle.dumps(_join)) is _join


def test_a_load_that_fails_is_tried_again() -> None:
    loads.clear()
    with pytest.raises(ImportError, match="not installed"):
        _broken("a")
    loads.extend("....")
    assert _broken("a") == "A"
