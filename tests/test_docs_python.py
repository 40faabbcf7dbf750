"""docs/python.md is the reference: it lists the options that there are, with their defaults."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.client import sync
from dragoman.drive.agent import Agent
from dragoman.drive.session import Session
from dragoman.drive.turns.one_shots import OneShotAgent, OneShotSession

_ROOT = Path(__file__).parents[1]
_TEXT = (_ROOT / "docs" / "python.md").read_text(encoding="utf-8")
_PAGES = sorted([*_ROOT.glob("*.md"), *_ROOT.glob("docs/**/*.md")])


def _options(section: str) -> dict[str, str]:
    """The options in the table below a heading, each with its default."""
    part = _TEXT.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    table = part.split("| option | default | meaning |\n", 1)[1].split("\n\n", 1)[0]
    rows = [line.split("|")[1:3] for line in table.splitlines()[1:]]
    return {name.strip(" `"): default.strip(" `") for name, default in rows}


def _signature(call: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return {
        name: parameter
        for name, parameter in inspect.signature(call).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }


@pytest.mark.parametrize(
    ("section", "call"),
    [("connect", dragoman.connect), ("start", Agent.start), ("Session.run", Session.run)],
)
def test_the_tables_list_every_option_with_its_default(
    section: str, call: Callable[..., Any]
) -> None:
    listed, real = _options(section), _signature(call)

    assert list(listed) == list(real)
    for name, default in listed.items():
        given: Any = real[name].default
        if default and not callable(given):
            assert repr(given) in (default.replace('"', "'"), f"{default}.0"), name


def test_both_modes_and_the_calls_without_await_take_the_same_options() -> None:
    connecting, starting, running = map(_signature, (dragoman.connect, Agent.start, Session.run))

    assert list(_signature(sync.connect)) == list(connecting)
    assert list(_signature(sync.SyncAgent.start)) == list(starting)
    assert list(_signature(OneShotAgent.start)) == list(starting)
    assert list(_signature(sync.SyncSession.run)) == list(running)
    assert list(_signature(OneShotSession.run)) == list(running)
    everything = {*connecting, *starting, *running, "check", "session", "turn"}
    assert set(_signature(dragoman.run)) == everything


def _blocks(language: str) -> Iterator[tuple[Path, str]]:
    for page in _PAGES:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            yield page, block


@pytest.mark.parametrize(
    ("page", "code"), [pytest.param(*each, id=each[0].name) for each in _blocks("python")]
)
def test_the_python_in_the_pages_is_python_and_names_what_there_is(page: Path, code: str) -> None:
    body = "".join(f"    {line}\n" for line in code.splitlines())
    compile(f"async def snippet():\n{body}    ...\n", page.name, "exec")
    for name in re.findall(r"\bdragoman\.([A-Za-z_]\w*)", code):
        assert name in dir(dragoman) or (_ROOT / "src" / "dragoman" / name).exists(), name
