from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dragoman import __version__
from dragoman.cli.main import dragoman as dragoman_command
from dragoman.cli.main import main

DRAGOMAN = Path(sys.executable).with_name("dragoman")
WAIT = 20
"""Seconds; far more than anything here takes."""


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_every_command(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([option]) == 0

    shown = capsys.readouterr()
    rows = [line.split(maxsplit=1) for line in shown.out.splitlines()]
    assert ["convert", "Convert a session file or a stream to another format."] in rows
    assert ["dialects", "List the dialects to read and the formats to write."] in rows
    assert shown.err == ""


@pytest.mark.parametrize("command", ["convert", "dialects"])
def test_every_command_has_help_of_its_own(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == 0

    assert capsys.readouterr().out.startswith(f"Usage: dragoman {command} ")


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_told(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([option]) == 0

    assert capsys.readouterr().out == f"dragoman, version {__version__}\n"


def test_no_command_at_all_is_a_wrong_request_and_shows_the_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 2

    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Commands:" in shown.err


WRONG = {
    "translate": "No such command 'translate'",
    "--loud": "--loud",
    "convert --loud": "--loud",
    "convert --to": "requires an argument",
    "convert a b": "unexpected extra argument",
    "convert --max-line 0": "--max-line",
    "convert --max-line many": "--max-line",
    "convert --follow": "--follow needs a file",
    "dialects codex": "unexpected extra argument",
}


@pytest.mark.parametrize(("words", "reason"), WRONG.items(), ids=WRONG)
def test_a_wrong_request_is_explained(
    words: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2

    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Error: " in shown.err
    assert reason in shown.err


def test_a_file_that_cannot_be_written_is_one_sentence_about_that_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.jsonl"
    source.write_bytes(b'{"type":"turn.started"}\n')
    target = tmp_path / "nowhere" / "out"

    assert main(["convert", str(source), "-o", str(target)]) == 2

    assert capsys.readouterr().err == (
        f"dragoman: cannot write {target}: no such file or directory\n"
    )


def test_what_the_operating_system_refuses_is_a_failure_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(28, "No space left on device", "/full")

    monkeypatch.setattr(dragoman_command, "main", refuse)

    assert main(["--help"]) == 1
    assert capsys.readouterr().err == "dragoman: /full: no space left on device\n"


def test_the_console_script_ends_with_the_exit_code_of_the_command() -> None:
    done = subprocess.run(
        [DRAGOMAN, "convert", "--to", "yaml", "-"], input=b"", capture_output=True, timeout=WAIT
    )

    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"dragoman: there is no format 'yaml'; known: ")


def test_a_reader_that_leaves_is_no_failure_and_no_reason_for_noise(tmp_path: Path) -> None:
    big = tmp_path / "big.jsonl"
    big.write_bytes(b'{"type":"error","message":"once more"}\n' * 20_000)

    with subprocess.Popen(
        [DRAGOMAN, "convert", big], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        code = process.wait(timeout=WAIT)
        said = process.stderr.read()

    assert first.startswith(b"{")
    assert (code, said) == (0, b"")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]], ids=" ".join)
def test_help_is_quick_because_nothing_is_imported_that_it_does_not_need(
    arguments: list[str],
) -> None:
    heavy = ("msgspec", "asyncio", "dragoman.archive", "dragoman.harnesses", "dragoman.export")
    script = (
        f"import sys; from dragoman.cli.main import main; main({arguments!r});"
        f"print('loaded:', [name for name in sys.modules if name.startswith({heavy!r})])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, timeout=WAIT
    )

    assert done.stdout.decode().splitlines()[-1] == "loaded: []"
