from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from click.testing import CliRunner

from dragoman.cli import lazy_click as click
from dragoman.cli.agent_option import agent_option
from support.toy.installing import Toy, installed


@pytest.fixture
def toy(tmp_path: Path) -> Generator[Toy]:
    with installed(tmp_path) as toy:
        yield toy


def test_help_names_the_agents_of_today_plug_ins_included(toy: Toy) -> None:
    @click.command()
    @agent_option("Only this agent: {agents}.")
    def command(harness: str | None) -> None:
        click.echo(f"asked for {harness}")

    shown = CliRunner().invoke(command, ["--help"]).stdout
    assert "--harness NAME  Only this agent: codex, claude, " in shown
    assert ", toy." in shown
    assert CliRunner().invoke(command, ["--harness", "toy"]).stdout == "asked for toy\n"
    assert CliRunner().invoke(command, []).stdout == "asked for None\n"
