from __future__ import annotations

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

from dragoman.client.surveying import driven_names, survey, title_of, unusable_plugins
from dragoman.errors import UsageError
from dragoman.harnesses import reload_plugins
from support.toy.installing import Toy, installed


@pytest.fixture
def toy(tmp_path: Path) -> Generator[Toy]:
    with installed(tmp_path) as toy:
        yield toy


def test_an_installed_agent_is_surveyed_with_its_release(toy: Toy) -> None:
    (found,) = asyncio.run(survey(harness="toy"))

    assert (found.name, found.title, found.release) == ("toy", "Toy agent", "1.2.3")
    assert (found.program, found.problem) == (str(toy.command), None)
    assert (found.signed_in, found.needs_sign_in) == (None, False)
    assert found.transports == ("lines",)
    assert [each.value for each in found.capabilities.access] == ["touch", "look"]


def test_without_its_program_it_is_surveyed_with_the_reason(toy: Toy) -> None:
    toy.command.unlink()
    (found,) = asyncio.run(survey(harness="toy"))

    assert (found.program, found.release) == (None, None)
    assert found.problem is not None
    assert "there is none" in found.problem
    assert found.capabilities.access


def test_a_program_that_does_not_say_its_release_is_still_there(toy: Toy) -> None:
    toy.command.write_text("#!/bin/sh\nexit 1\n")
    (found,) = asyncio.run(survey(harness="toy"))

    assert (found.program, found.release) == (str(toy.command), None)


def test_every_agent_is_surveyed_the_usual_one_first(toy: Toy) -> None:
    found = asyncio.run(survey())

    assert [each.name for each in found] == [each.name for each in driven_names()]
    assert found[-1].name == "toy"


def test_titles_are_found_by_name(toy: Toy) -> None:
    assert title_of("toy") == "Toy agent"
    assert title_of(None) == driven_names()[0].title
    with pytest.raises(UsageError, match="toy"):
        title_of("klingon")


def test_an_unusable_plug_in_is_listed_with_what_it_points_to(toy: Toy) -> None:
    points = toy.site / "dragoman_toy-1.0.dist-info" / "entry_points.txt"
    points.write_text("[dragoman.harnesses]\nodd = dragoman_toy:_CAPABILITIES\n")
    reload_plugins()

    (broken,) = unusable_plugins()
    assert broken.name == "odd"
    assert broken.problem == "dragoman_toy:_CAPABILITIES: it is no Harness: Capabilities"
