"""The names that ``import dragoman`` promises, and what it costs to import it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib.metadata import version
from typing import get_args

import pytest

import dragoman
from dragoman import errors
from dragoman.model.messages import MESSAGE_TYPES

CLASSES_OF_MESSAGES = {kind.__name__ for kind in MESSAGE_TYPES.values()}
HEAVY = ("msgspec", "click", "dragoman.harnesses", "dragoman.reading", "dragoman.cli", "asyncio")


def loaded_after(script: str) -> list[str]:
    """The heavy modules that a fresh interpreter has loaded after a script."""
    show = f"import sys; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"{script}\n{show}"],
        capture_output=True,
        check=True,
        timeout=20,
    )
    return done.stdout.decode().split()


@pytest.mark.parametrize("name", dragoman.__all__)
def test_every_public_name_is_what_it_says(name: str) -> None:
    value = getattr(dragoman, name)

    if name in ("archive", "sync"):
        assert value.__name__.startswith("dragoman.")
    elif name not in ("Message", "__version__"):
        assert value.__name__ == name
        assert getattr(importlib.import_module(value.__module__), name) is value
        assert value.__doc__ or name in ("PlanStep", "RateWindow")


def test_every_kind_of_message_and_every_error_a_caller_meets_is_public() -> None:
    assert set(dragoman.__all__) >= CLASSES_OF_MESSAGES
    assert set(get_args(dragoman.Message)) == set(MESSAGE_TYPES.values())
    callers = {"DragomanError", "UsageError", "UnknownDialect", "UnknownFormat", "UnreadableSource"}
    assert callers <= set(dragoman.__all__)
    assert dragoman.UnknownDialect is errors.UnknownDialect


def test_the_public_names_are_listed_in_order_and_once() -> None:
    assert dragoman.__all__ == sorted(set(dragoman.__all__))
    assert dir(dragoman) == dragoman.__all__


def test_a_star_import_brings_every_public_name() -> None:
    names: dict[str, object] = {}

    exec("from dragoman import *", names)

    assert set(dragoman.__all__) <= set(names)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'dragoman' has no attribute 'reed'"):
        dragoman.reed  # noqa: B018  # pyright: ignore[reportUnusedExpression]


def test_the_version_is_that_of_the_installed_package() -> None:
    assert dragoman.__version__ == version("dragoman")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("import dragoman", []),
        ("import dragoman; dragoman.__version__, dir(dragoman)", []),
        ("from dragoman import DragomanError", []),
        ("from dragoman import Text, decode, Usage, fold", ["msgspec"]),
        ("from dragoman import read", ["msgspec", "dragoman.harnesses", "dragoman.reading"]),
    ],
    ids=["bare", "version", "errors", "messages", "read"],
)
def test_importing_loads_no_more_than_what_is_used(script: str, expected: list[str]) -> None:
    assert loaded_after(script) == expected


def test_the_errors_are_one_tree_that_a_single_except_catches() -> None:
    for error in (errors.UnknownDialect("x", ["a", "b"]), errors.UnknownFormat("x", ["a", "b"])):
        assert isinstance(error, dragoman.UsageError)
        assert isinstance(error, dragoman.DragomanError)
        assert (error.name, error.known) == ("x", ["a", "b"])
        assert str(error).endswith("'x'; known: a, b")
    unreadable = errors.UnreadableSource("a.jsonl", "it is a directory")
    assert isinstance(unreadable, dragoman.UsageError)
    assert str(unreadable) == "cannot read a.jsonl: it is a directory"
