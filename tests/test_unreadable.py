"""What cannot be read at all, or not to its end, through ``read`` and on the command line.

A wrong request ends with exit code 2 and one sentence on standard error, and writes nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import dragoman
from dragoman.cli.main import main
from dragoman.model.messages import type_of
from support.agents.powers import no_power_over_files

DRAGOMAN = Path(sys.executable).with_name("dragoman")
STREAM = b"".join(
    [
        b'{"type":"thread.started","thread_id":"s1"}\n',
        b'{"type":"turn.started"}\n',
        b'{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"hello"}}\n',
        b'{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}\n',
    ]
)


# What is not a recording at all.


def in_a_file(folder: Path) -> Path:
    (folder / "file").write_bytes(STREAM)
    return folder / "file" / "in.jsonl"


def forbidden(folder: Path) -> Path:
    path = folder / "secret.jsonl"
    path.write_bytes(STREAM)
    path.chmod(0)
    return path


UNREADABLE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "missing": (lambda folder: folder / "missing.jsonl", "no such file"),
    "a directory": (lambda folder: folder, "it is a directory"),
    "below a file": (in_a_file, "Not a directory"),
}
if os.geteuid() != 0:  # what root starts may read everything
    UNREADABLE["forbidden"] = (forbidden, "permission denied")


@pytest.mark.parametrize(("make", "problem"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_opened_is_a_wrong_request(
    make: Callable[[Path], Path], problem: str, tmp_path: Path
) -> None:
    path = make(tmp_path)

    with pytest.raises(dragoman.UnreadableSource) as raised:
        list(dragoman.read(path))

    assert raised.value.problem.lower() == problem.lower()


def test_what_may_not_be_read_is_a_wrong_request(tmp_path: Path) -> None:
    path = forbidden(tmp_path)

    with no_power_over_files(), pytest.raises(dragoman.UnreadableSource) as raised:
        list(dragoman.read(path))

    assert raised.value.problem.lower() == "permission denied"


@pytest.mark.parametrize(("make", "problem"), UNREADABLE.values(), ids=UNREADABLE)
def test_the_command_line_says_why_it_cannot_open_a_file(
    make: Callable[[Path], Path], problem: str, tmp_path: Path
) -> None:
    path = make(tmp_path)

    refused = fails(2, path, "--to", "text")

    assert refused.lower() == f"dragoman: cannot read {path}: {problem}\n".lower()


@pytest.mark.parametrize("how", ["--audit", "--follow"])
def test_a_missing_file_is_a_wrong_request_however_it_is_to_be_read(
    how: str, tmp_path: Path
) -> None:
    refused = fails(2, tmp_path / "missing.jsonl", how)

    assert refused.endswith("missing.jsonl: no such file\n")


def fails(code: int, *arguments: str | Path) -> str:
    """Run a conversion that must fail without writing anything; its one sentence."""
    done = subprocess.run(
        [DRAGOMAN, "convert", *arguments], input=b"", capture_output=True, timeout=20
    )
    assert done.returncode == code
    assert done.stdout == b""
    said = done.stderr.decode()
    assert said.startswith("dragoman: ")
    assert said.endswith("\n")
    assert said.count("\n") == 1
    return said


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    path, target = tmp_path / "program", tmp_path / "out"
    path.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(32)) * 9 + bytes(400))
    target.write_bytes(b"old")

    refused = fails(2, path, "-o", target, "--force")

    assert refused == f"dragoman: cannot read {path}: it is a binary file, not lines of JSON\n"
    assert target.read_bytes() == b"old"


def test_a_binary_file_that_is_read_all_the_same_gives_only_malformed_messages(
    tmp_path: Path,
) -> None:
    path = tmp_path / "picture"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4)

    messages = list(dragoman.read(path))

    assert messages
    assert {type_of(type(message)) for message in messages} == {"malformed"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--from", "codex"], "there is no dialect 'codex'; known: codex-exec, "),
        (["--to", "htm"], "there is no format 'htm'; known: messages, "),
        (["--include", "deltas,all"], "cannot include 'all' (known: context, deltas, raw)"),
        (["--audit", "--from", "codex"], "there is no dialect 'codex'; known: codex-exec, "),
    ],
    ids=["--from", "--to", "--include", "--audit --from"],
)
def test_a_name_that_does_not_exist_is_refused_with_those_that_do(
    arguments: list[str], sentence: str, tmp_path: Path
) -> None:
    path, target = tmp_path / "in.jsonl", tmp_path / "out"
    path.write_bytes(STREAM)

    refused = fails(2, path, "-o", target, *arguments)

    assert refused.startswith(f"dragoman: {sentence}")
    assert not target.exists()


# Damage to what was compressed.

DAMAGED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "it ends early": (lambda packed: packed[:-5], "compressed data ends early"),
    "it only starts": (lambda packed: packed[:4], "compressed data ends early"),
    "other bytes inside": (
        lambda packed: packed[:12] + b"\xff" * 8 + packed[20:],
        "compressed data is damaged: ",
    ),
    "something after it": (lambda packed: packed + b"more", "compressed data "),
}


@pytest.mark.parametrize(("harm", "problem"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_archives_are_told_as_a_message(
    harm: Callable[[bytes], bytes],
    problem: str,
    compress: Callable[[bytes], bytes],
    tmp_path: Path,
) -> None:
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(harm(compress(STREAM)))

    told = [each for each in dragoman.read(path) if isinstance(each, dragoman.Malformed)]

    assert [(each.raw, each.line) for each in told] == [("", 0)]
    assert told[0].problem.startswith(problem)


@pytest.mark.parametrize(("harm", "problem"), DAMAGED.values(), ids=DAMAGED)
def test_an_audit_of_a_damaged_archive_fails(
    harm: Callable[[bytes], bytes],
    problem: str,
    compress: Callable[[bytes], bytes],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(harm(compress(STREAM)))

    assert main(["convert", str(path), "--audit"]) == 1

    shown = capsys.readouterr()
    assert shown.err == ""
    assert f"\nnot read to the end: {problem}" in shown.out
