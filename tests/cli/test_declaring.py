"""Ordinary command lines are read without click, exactly as click reads them; all others are left to click."""

from __future__ import annotations

import shlex
import subprocess
import sys
from importlib import import_module
from typing import Any

import click
import pytest

from dragoman.cli import declaring, lazy_click
from dragoman.cli.declaring import DeclaredCommand
from dragoman.cli.main import COMMANDS

DECLARED = sorted(set(COMMANDS) - {"policy", "relay"})  # groups of commands


def declared(name: str) -> DeclaredCommand:
    command = getattr(import_module(COMMANDS[name][0]), name)
    assert isinstance(command, DeclaredCommand)
    return command


ORDINARY = [
    "sessions",
    "sessions -n 5000",
    "sessions --limit=3 --all --json --project dragoman",
    "sessions --archived --path . --path /",
    "sessions --not-archived --harness claude",
    "search word",
    "search --in text --in prompt -C 2 'two words' --errors -i",
    "search word --limit 1000 --scan --session abc --tool Bash",
    "usage",
    "usage --by model --json --no-cache --prices prices.toml",
    "usage --path / --model gpt",
    "run hello",
    "run - --exec --to messages -q",
    "run hi --timeout 300 -i a.png --image b.png --config a=b -m x -y --last",
    "chat",
    "convert",
    "convert file.jsonl --to text -o out.txt --no-redact",
    "dialects --limits",
    "show --last",
    "tail --full",
    "export abc -o x.html",
    "serve --no-open --host ::1 --port 0",
    "doctor a b c",
]


@pytest.mark.parametrize("words", ORDINARY)
def test_ordinary_lines_are_read_as_click_reads_them(words: str) -> None:
    name, *rest = shlex.split(words)
    command = declared(name)
    try:
        by_click = command.for_click().make_context(name, list(rest)).params
    except click.UsageError as problem:
        by_click = problem
    read = command.read(rest)
    if read is None:
        assert name not in ("sessions", "search", "usage", "run"), words
    else:
        assert read == by_click


LEFT = [
    "sessions --help",
    "sessions -n 0",
    "sessions -n five",
    "sessions -n5",
    "sessions --since 7d",
    "sessions -n 1 -n 2",
    "sessions --limit",
    "sessions extra",
    "sessions --lim 3",
    "sessions --path /not/there",
    "search",
    "search one two",
    "search -ij word",
    "search -- --word",
    "search word -C 21",
    "usage --by year",
    "usage --explain",
    "usage --explain gpt-5.5",
    "usage --json=yes",
    "run",
    "run hi --resume",
    "run hi --timeout 0",
    "run hi --timeout 1.5",
    "run hi --config --yes",
]


@pytest.mark.parametrize("words", LEFT)
def test_everything_else_is_left_to_click(words: str) -> None:
    name, *rest = shlex.split(words)

    assert declared(name).read(rest) is None


@pytest.mark.parametrize("name", DECLARED)
def test_click_gets_every_parameter(name: str) -> None:
    command = declared(name)
    made = command.for_click()

    assert [each.name for each in made.params] == [each.name for each in command._parameters]
    assert made.callback is command.callback
    assert made.short_help
    assert command.params is made.params


def test_what_a_command_opened_is_closed_last_opened_first() -> None:
    calls: list[Any] = []

    def work(word: str) -> str:
        lazy_click.on_close(lambda: calls.append("first"))
        lazy_click.on_close(lambda: calls.append("last"))
        calls.append(word)
        return word.upper()

    command = declaring.command()(declaring.argument("word")(work))

    assert command.run({"word": "work"}) == "WORK"
    assert calls == ["work", "last", "first"]


def test_click_closes_what_a_command_opened_that_it_runs() -> None:
    calls: list[str] = []
    with click.Context(click.Command("any")):
        declaring.on_close(lambda: calls.append("closed"))
        assert calls == []

    assert calls == ["closed"]


def test_a_mistake_that_a_command_finds_shows_its_usage() -> None:
    command = [sys.executable, "-m", "dragoman.cli.main", "run", "hi", "--to", "text", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert done.returncode == 2
    assert done.stderr.startswith("Usage: dragoman run [OPTIONS] PROMPT\n")
    assert "use either --to or --quiet" in done.stderr
