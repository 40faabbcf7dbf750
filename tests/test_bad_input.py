"""What happens to input that no agent meant to write, through ``read`` and on the command line.

Exit codes: 0 if the input could be read, 1 if it could not be understood, 2 if the request is wrong.
What is said on standard error is one sentence, and never a traceback.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.archive.sources import _zstd
from dragoman.cli.main import main
from dragoman.model.messages import type_of

DRAGOMAN = Path(sys.executable).with_name("dragoman")
EXEC = [
    b'{"type":"thread.started","thread_id":"s1"}',
    b'{"type":"turn.started"}',
    b'{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"hello"}}',
    b'{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}',
]
STREAM = b"".join(line + b"\n" for line in EXEC)
TYPES = ["session_started", "turn_started", "text", "usage", "turn_ended"]
DEEP = 100_000
HUGE = 10**999


def with_line(line: bytes) -> bytes:
    """The stream with a further line as its third."""
    return b"".join(each + b"\n" for each in (*EXEC[:2], line, *EXEC[2:]))


def said(text: bytes) -> bytes:
    return b'{"type":"item.completed","item":{"id":"i0","type":"agent_message","text":"%s"}}' % text


@dataclass(frozen=True)
class Case:
    """A stream that is odd, yet can be read: the types of its messages, and the odd one's fields."""

    data: bytes
    types: list[str] = field(default_factory=lambda: TYPES)
    at: int = 2
    code: int = 0
    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    options: dict[str, Any] = field(default_factory=dict[str, Any])


def malformed(line: bytes, problem: str, **fields: Any) -> Case:
    types = [*TYPES[:2], "malformed", *TYPES[2:]]
    return Case(with_line(line), types, fields={"line": 3, "problem": problem, **fields})


LONG = said(b"a" * 3000 + b"z" * 3000)
CASES = {
    "nothing": Case(b"", []),
    "only blank lines": Case(b"\n\r\n  \n", [], code=1),
    "last line without its newline": Case(STREAM[:-1]),
    "last line cut off": Case(
        STREAM[:-9],
        [*TYPES[:3], "malformed", "turn_ended"],
        at=3,
        fields={"problem": "broken JSON: input data was truncated", "line": 4},
    ),
    "CRLF": Case(STREAM.replace(b"\n", b"\r\n")),
    "UTF-8 with a byte order mark": Case(b"\xef\xbb\xbf" + STREAM),
    "UTF-16 LE": Case(b"\xff\xfe" + STREAM.decode().encode("utf-16-le")),
    "UTF-16 BE": Case(b"\xfe\xff" + STREAM.decode().encode("utf-16-be")),
    "a word between the lines": malformed(b"warning: low disk", "not JSON"),
    "NUL bytes": malformed(bytes(8), "NUL bytes"),
    "open brackets": malformed(b"[" * DEEP, "nested too deeply"),
    "nested brackets": malformed(b"[" * DEEP + b"]" * DEEP, "nested too deeply"),
    "nested objects": malformed(
        b'{"type":"item.completed","item":' + b'{"a":' * DEEP + b"1" + b"}" * (DEEP + 1),
        "nested too deeply",
    ),
    "two objects on a line": Case(
        with_line(EXEC[1] * 2), [*TYPES[:2], "malformed", *TYPES[2:]], fields={"line": 3}
    ),
    "a number and no object": Case(
        with_line(b"7"),
        [*TYPES[:2], "unknown", *TYPES[2:]],
        fields={"line": 3, "native_type": "int"},
    ),
    "a key twice": Case(
        with_line(said(b'one","text":"two')),
        [*TYPES[:2], "text", *TYPES[2:]],
        fields={"line": 3, "text": "two"},
    ),
    "half of a surrogate pair": Case(
        with_line(said(rb"a \ud83d b \udc00")),
        [*TYPES[:2], "text", *TYPES[2:]],
        fields={"line": 3, "text": "a \ufffd b \ufffd"},
    ),
    "NUL in a string": Case(
        with_line(said(rb"a\u0000b")),
        [*TYPES[:2], "text", *TYPES[2:]],
        fields={"line": 3, "text": "a\0b"},
    ),
    "tokens of a thousand digits": Case(
        b"\n".join(EXEC[:3])
        + b'\n{"type":"turn.completed","usage":{"input_tokens":%d,"output_tokens":%d}}' % (HUGE, HUGE),
        at=4,
        fields={
            "usage": {
                "input_tokens": HUGE,
                "cached_input_tokens": 0,
                "cache_write_input_tokens": 0,
                "output_tokens": HUGE,
                "reasoning_output_tokens": 0,
            }
        },
    ),
    "a line of several megabytes": Case(
        with_line(said(b"x" * 4_000_000)),
        [*TYPES[:2], "text", *TYPES[2:]],
        fields={"line": 3, "text": "x" * 4_000_000},
    ),
    "a line beyond the limit": Case(
        with_line(LONG),
        [*TYPES[:2], "malformed", *TYPES[2:]],
        fields={
            "line": 3,
            "problem": f"line of {len(LONG)} bytes is longer than the limit; "
            "kept its first 500 and last 500 bytes",
            "raw": f"{LONG[:500].decode()} … {LONG[-500:].decode()}",
        },
        options={"max_line": 1000},
    ),
    "gzip that ends early": Case(
        gzip.compress(STREAM)[:-5],
        [*TYPES, "malformed"],
        at=5,
        fields={"problem": "compressed data ends early", "raw": "", "line": 0},
    ),
    "zstd that ends early": Case(
        _zstd().compress(STREAM) + _zstd().compress(STREAM)[:-5],
        [*TYPES, "malformed"],
        at=5,
        fields={"problem": "compressed data ends early", "raw": "", "line": 0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_odd_input_is_read_to_its_end(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(case.data)

    messages = list(dragoman.read(path, **case.options))

    assert [type_of(type(message)) for message in messages] == case.types
    if case.fields:
        told = json.loads(dragoman.encode(messages[case.at]))
        assert {name: told[name] for name in case.fields} == case.fields


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_odd_input_is_converted_to_its_end(case: Case, tmp_path: Path) -> None:
    path, target = tmp_path / "in", tmp_path / "out"
    path.write_bytes(case.data)
    limit = ["--max-line", str(case.options["max_line"])] if case.options else []

    done = run(path, *limit, "-o", target)

    assert done.returncode == case.code
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == case.code
    lines = [json.loads(line) for line in target.read_bytes().splitlines()]
    assert [line["type"] for line in lines] == case.types
    assert {name: lines[case.at][name] for name in case.fields} == case.fields


def run(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a conversion, which may fail, but not in any way that nobody thought of."""
    done = subprocess.run([DRAGOMAN, "convert", *arguments], input=stdin, capture_output=True)
    assert b"Traceback" not in done.stderr
    return done


def test_empty_standard_input_is_no_failure() -> None:
    done = run("-")

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("data", [b"", b"\n\n"], ids=["nothing", "blank lines"])
def test_an_audit_of_nothing_is_no_failure(data: bytes) -> None:
    done = run("--audit", stdin=data)

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"-: %d lines, no known dialect\n" % len(data))


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
    "missing": (lambda folder: folder / "missing.jsonl", "there is no such file"),
    "a directory": (lambda folder: folder, "it is a directory"),
    "below a file": (in_a_file, "Not a directory"),
}
if os.geteuid() != 0:  # root may read everything
    UNREADABLE["forbidden"] = (forbidden, "permission denied")


@pytest.mark.parametrize(("make", "problem"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_opened_is_a_wrong_request(
    make: Callable[[Path], Path], problem: str, tmp_path: Path
) -> None:
    path = make(tmp_path)

    with pytest.raises(dragoman.UnreadableSource) as raised:
        list(dragoman.read(path))

    assert raised.value.problem.lower() == problem.lower()


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

    assert refused.endswith("missing.jsonl: there is no such file\n")


def fails(code: int, *arguments: str | Path) -> str:
    """Run a conversion that must fail without writing anything; its one sentence."""
    done = subprocess.run([DRAGOMAN, "convert", *arguments], input=b"", capture_output=True)
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

    refused = fails(2, path, "-o", target)

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


def test_lines_that_no_agent_wrote_are_kept_and_complained_about(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"Dear diary,\n\n{}\n")

    done = run(path)

    assert done.returncode == 1
    assert done.stderr.decode() == (
        f"dragoman: no line of {path} is in a dialect that I know; "
        "`dragoman dialects` lists them, and --from names one\n"
    )
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == [
        "malformed",
        "unknown",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--from", "codex"], "there is no dialect 'codex'; known: codex-exec, "),
        (["--to", "html"], "there is no format 'html'; known: messages, "),
        (["--include", "deltas,all"], "cannot include 'all'; known: context, deltas, raw"),
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


def test_the_wrong_dialect_makes_every_line_unknown_but_loses_none(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(STREAM)

    done = run(path, "--from", "codex-app-server")

    assert (done.returncode, done.stderr) == (0, b"")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["type"], line["line"]) for line in lines] == [
        ("unknown", number) for number in range(1, 5)
    ]


# Damage to what was compressed.

DAMAGED = {
    "gzip that ends early": (gzip.compress(STREAM)[:-5], "compressed data ends early"),
    "gzip with other bytes inside": (
        gzip.compress(STREAM)[:30] + b"XXXX" + gzip.compress(STREAM)[34:],
        "compressed data is damaged: ",
    ),
    "gzip with a wrong checksum": (
        gzip.compress(STREAM)[:-8] + bytes(8),
        "compressed data is damaged: ",
    ),
    "gzip with something after it": (gzip.compress(STREAM) + b"more", "compressed data is damaged"),
    "only the start of gzip": (b"\x1f\x8b\x08", "compressed data ends early"),
    "zstd that ends early": (_zstd().compress(STREAM)[:-5], "compressed data ends early"),
    "zstd with other bytes inside": (
        _zstd().compress(STREAM)[:12] + b"\xff" * 8 + _zstd().compress(STREAM)[20:],
        "compressed data is damaged: ",
    ),
    "only the start of zstd": (b"\x28\xb5\x2f\xfd", "compressed data ends early"),
}


@pytest.mark.parametrize(("data", "problem"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_archives_are_told_as_a_message(data: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(data)

    told = [each for each in dragoman.read(path) if isinstance(each, dragoman.Malformed)]

    assert len(told) == 1
    assert told[0].problem.startswith(problem)


@pytest.mark.parametrize(("data", "problem"), DAMAGED.values(), ids=DAMAGED)
def test_an_audit_of_a_damaged_archive_fails(
    data: bytes, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(data)

    assert main(["convert", str(path), "--audit"]) == 1

    shown = capsys.readouterr()
    assert shown.err == ""
    assert f"\nnot read to the end: {problem}" in shown.out
