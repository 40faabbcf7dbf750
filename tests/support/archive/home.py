"""A home with saved sessions, and the commands that look at it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import click
import pytest

from support.archive.saved_sessions import Rows, save

Command: TypeAlias = Callable[..., tuple[int, str, str]]


def make_home(folder: Path) -> Path:
    rows = Rows(1, cwd="/work/app").turn("fix the rate limit", "Fixed it.", ("ls", "a.py\nb.py"))
    rows.begin("and now?").run("pytest", "1 failed: limits", code=1).say("It failed.").end()
    save(folder, 1, rows.data)
    save(folder, 2, Rows(2, cwd="/work/other").turn("say hello", "Hello!").data)
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": rows.id, "depth": 1}}}
    save(folder, 3, Rows(3, source=spawn).turn("help", "helped").data)
    return folder


def command(name: str, home: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command as the program would; its exit code, output and errors."""
    from click.testing import CliRunner

    from dragoman.cli.declaring import DeclaredCommand
    from dragoman.errors import DragomanError, UsageError

    monkeypatch.setenv("CODEX_HOME", str(home))
    monkeypatch.setenv("DRAGOMAN_CACHE", str(cache))
    made = getattr(importlib.import_module(f"dragoman.cli.commands.{name}"), name)
    assert isinstance(made, DeclaredCommand)

    def run(*arguments: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(made.for_click(), list(arguments), standalone_mode=False)
        if isinstance(result.exception, click.ClickException):
            return result.exception.exit_code, result.stdout, result.exception.format_message()
        if isinstance(result.exception, DragomanError):
            code = 2 if isinstance(result.exception, UsageError) else 1
            return code, result.stdout, str(result.exception)
        if result.exception is not None:
            raise result.exception
        return int(result.return_value or 0), result.stdout, result.stderr

    return run
