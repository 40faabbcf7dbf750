from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.drive.process.programs import find_command, find_command_line, read_release
from dragoman.errors import AgentNotFound
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.program import Bundled, Program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")


def parse(text: str) -> Release | None:
    words = text.split()
    return (int(words[1]), 0, 0) if len(words) > 1 and words[1].isdigit() else None


def program(bundled: tuple[str, str] | None = None) -> Program:
    return Program(
        command="agent",
        bundled=Bundled(package=bundled[0], file=bundled[1]) if bundled is not None else None,
        parse_release=parse,
        install="from the shop",
    )


Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a program into a directory, which is the only one on the PATH besides the shell's."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")

    def install(name: str, script: str = "exit 0", mode: int = 0o755) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(mode)
        return path

    return install


def test_a_program_is_found_on_the_path(install: Install) -> None:
    path = install("bin/agent")

    assert find_command(program()) == str(path)
    assert find_command(program(), "agent") == str(path)


def test_a_path_is_taken_as_it_is(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    path = install("some where/other")

    assert find_command(program(), str(path)) == str(path)
    monkeypatch.chdir(path.parent)
    assert find_command(program(), "./other") == str(path)
    monkeypatch.setenv("HOME", str(path.parent))
    assert find_command(program(), "~/other") == str(path)


def test_a_command_line_keeps_the_words_after_the_program(install: Install) -> None:
    path = install("bin/agent")
    spaced = install("some where/other")

    assert find_command(program(), "agent serve --x") == str(path)
    assert find_command_line(program(), "agent -c 'a b' serve") == (str(path), "-c", "a b", "serve")
    assert find_command_line(program(), f"'{spaced}' serve") == (str(spaced), "serve")
    assert find_command_line(program()) == (str(path),)


@pytest.fixture
def package(install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program in a package that cannot be imported."""
    path = install("site/agent_package/bin/agent")
    (tmp_path / "site/agent_package/__init__.py").write_text("raise RuntimeError('slow')")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    return path


def test_a_package_may_bring_the_program_along_and_is_not_imported(package: Path) -> None:
    assert find_command(program(("agent_package", "bin/agent"))) == str(package)
    assert find_command_line(program(("agent_package", "bin/agent")), "agent serve") == (
        str(package),
        "serve",
    )
    for bundled in (
        ("agent_package", "bin/missing"),
        ("no_such_package", "bin/agent"),
    ):
        with pytest.raises(AgentNotFound):
            find_command(program(bundled))
    assert "agent_package" not in sys.modules


def test_the_path_goes_before_the_package(install: Install, package: Path) -> None:
    path = install("bin/agent")

    assert find_command(program(("agent_package", "bin/agent"))) == str(path)


@pytest.mark.parametrize(
    ("explicit", "sentence"),
    [
        (
            None,
            "agent is not on this machine: it is not on the PATH; install agent "
            "(from the shop), or say where it is",
        ),
        (
            "/no/agent serve",
            "/no/agent is not there; install agent (from the shop), or say where it is",
        ),
    ],
)
def test_the_error_says_the_way_out(install: Install, explicit: str | None, sentence: str) -> None:
    with pytest.raises(AgentNotFound) as caught:
        find_command(program(("no_such_package", "where")), explicit)

    assert str(caught.value) == sentence


def test_what_cannot_be_a_command_is_explained(install: Install) -> None:
    plain = install("plain", mode=0o644)

    for explicit, words in (
        (str(plain), "may not be run"),
        ("other-agent", "other-agent is not on the PATH; install agent"),
        ("agent 'unclosed", "cannot be read: No closing quotation"),
        ("  ", "the command is empty"),
    ):
        with pytest.raises(AgentNotFound, match=words):
            find_command(program(), explicit)


def release_of(path: Path | str, seconds: float = 10) -> Release | None:
    async def main() -> Release | None:
        async with asyncio.timeout(15):
            return await read_release(str(path), program(), seconds)

    return asyncio.run(main())


def test_a_program_says_its_release(install: Install) -> None:
    assert release_of(install("agent", '[ "$1" = --version ] && echo agent 7')) == (7, 0, 0)


def test_a_program_that_does_not_say_has_none(install: Install) -> None:
    assert release_of(install("agent", "echo none; exit 1")) is None
    assert release_of(install("agent", "exec yes agent 7 | head -c 300000")) == (7, 0, 0)


def test_a_program_that_does_not_answer_has_none(install: Install) -> None:
    assert release_of(install("agent", "exec sleep 60"), 0.1) is None


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AgentNotFound):
        release_of(os.path.join("/no", "agent"))
