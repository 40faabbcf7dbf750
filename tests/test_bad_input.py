"""What happens to input that no agent meant to write, through ``read`` and on the command line.

Exit codes: 0 if the input could be read, 1 if it could not be understood, 2 if the request is wrong.
What is said on standard error is one sentence, and never a traceback.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import dragoman
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
    "a string that is not UTF-8": malformed(said(b"h\xff"), "invalid UTF-8"),
    "NUL in a string": Case(
        with_line(said(rb"a\u0000b")),
        [*TYPES[:2], "text", *TYPES[2:]],
        fields={"line": 3, "text": "a\0b"},
    ),
    "tokens of a thousand digits": Case(
        with_line(b'{"type":"turn.completed","usage":{"input_tokens":%d,"output_tokens":1}}' % HUGE),
        [*TYPES[:2], "unknown", *TYPES[2:]],
        fields={"line": 3, "native_type": "turn.completed"},
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
    done = subprocess.run(
        [DRAGOMAN, "convert", *arguments], input=stdin, capture_output=True, timeout=60
    )
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


def test_the_wrong_dialect_makes_every_line_unknown_but_loses_none(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(STREAM)

    done = run(path, "--from", "codex-app-server")

    assert done.returncode == 1
    assert b"could be read as codex-app-server" in done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["type"], line["line"]) for line in lines] == [
        ("unknown", number) for number in range(1, 5)
    ]
