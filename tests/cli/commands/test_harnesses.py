from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import pytest
from click.testing import CliRunner

from dragoman.cli.commands.harnesses import harnesses, page
from dragoman.client.surveying import Survey
from dragoman.harnesses import reload_plugins
from dragoman.harnesses.contract.capabilities import Capabilities, Choice
from support.toy.installing import Toy, installed

_OFFERED = Capabilities(
    access=(
        Choice(value="look", label="Look", summary="It only looks.", level="read"),
        Choice(value="touch", label="Touch", summary="It touches \x1b[31mall.", level="write"),
    ),
    can=frozenset(("steer", "fork")),
    sign_in_command="agent login",
)
_SURVEY = Survey(
    name="agent",
    title="Agent",
    program="/bin/agent",
    problem=None,
    release="1.2.3",
    signed_in=False,
    needs_sign_in=True,
    transports=("lines", "once"),
    capabilities=_OFFERED,
)
_GONE = Survey(
    name="gone",
    title="Gone",
    program=None,
    problem="cannot find gone",
    release=None,
    signed_in=None,
    needs_sign_in=False,
    transports=("lines",),
    capabilities=Capabilities(),
)


@pytest.fixture
def toy(tmp_path: Path) -> Generator[Toy]:
    with installed(tmp_path) as toy:
        yield toy


def test_the_page_has_a_block_for_each_agent() -> None:
    lines = page([_SURVEY, _GONE], colour=False)

    assert lines[0] == "✓ Agent 1.2.3  --harness agent"
    assert "  account    not signed in: run agent login" in lines
    assert "  transports lines, once" in lines
    assert "  can        fork, steer" in lines
    assert lines[lines.index("") + 1 :] == [
        "✗ Gone  --harness gone",
        "  program    cannot find gone",
        "  account    unknown",
        "  transports lines",
    ]


def test_a_label_is_shown_once_and_no_line_moves_the_terminal() -> None:
    lines = page([_SURVEY], colour=False)

    first = next(number for number, line in enumerate(lines) if line.startswith("  access"))
    assert lines[first + 1].startswith(" " * 13 + "touch (write): ")
    assert not any("\x1b" in line for line in lines)
    assert all(len(line) <= 79 for line in lines)
    assert any("\x1b" in line for line in page([_SURVEY], colour=True))


def test_json_has_a_line_for_each_agent(toy: Toy) -> None:
    told = CliRunner().invoke(harnesses, ["toy", "--json"])
    (row,) = map(json.loads, told.stdout.splitlines())

    assert (row["name"], row["installed"], row["program"]) == ("toy", True, str(toy.command))
    assert row["can"] == ["interrupt", "resume"]


def test_an_unusable_plug_in_is_reported_beside_the_list(toy: Toy) -> None:
    points = toy.site / "dragoman_toy-1.0.dist-info" / "entry_points.txt"
    points.write_text("[dragoman.harnesses]\nodd = no_such_package:HARNESS\n")
    reload_plugins()

    told = CliRunner().invoke(harnesses, ["--json"])
    assert "plug-in odd is unusable: no_such_package:HARNESS: ModuleNotFoundError" in told.stderr
    assert "toy" not in [json.loads(line)["name"] for line in told.stdout.splitlines()]
