from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.cli.main import main
from dragoman.export import FORMATS
from dragoman.reading.audit import Account
from dragoman.reading.mapper import Mapper

DRAGOMAN = Path(sys.executable).with_name("dragoman")
WAIT = 20
"""Seconds; far more than anything here takes."""
EXEC = [
    b'{"type":"thread.started","thread_id":"s1"}\n',
    b'{"type":"turn.started"}\n',
    b'{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"hello"}}\n',
    b'{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}\n',
]
STREAM = b"".join(EXEC)
TYPES = ["session_started", "turn_started", "text", "usage", "turn_ended"]

Binary = pytest.CaptureFixture[bytes]


def converted(data: bytes, to: str = "messages", include: tuple[str, ...] = ()) -> bytes:
    mapper = Mapper(to, include=include)
    return "".join(mapper.push(data) + mapper.flush()).encode()


def types(lines: bytes) -> list[str]:
    return [json.loads(line)["type"] for line in lines.splitlines()]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_bytes(STREAM)
    return path


def test_standard_input_is_read_when_no_file_is_named() -> None:
    done = subprocess.run([DRAGOMAN, "convert"], input=STREAM, capture_output=True, timeout=WAIT)

    assert (done.returncode, done.stdout, done.stderr) == (0, converted(STREAM), b"")


# Files.


@pytest.mark.parametrize("to", ["messages", "claude", "unified", "ndjson", "text", "markdown"])
def test_a_file_is_converted_to_the_format_asked_for(
    to: str, source: Path, capsysbinary: Binary
) -> None:
    assert main(["convert", str(source), "--to", to]) == 0

    assert capsysbinary.readouterr() == (converted(STREAM, to), b"")


def test_a_compressed_file_is_converted_like_a_plain_one(
    compress: Callable[[bytes], bytes], tmp_path: Path, capsysbinary: Binary
) -> None:
    path = tmp_path / "in"
    path.write_bytes(compress(STREAM))

    assert main(["convert", str(path)]) == 0

    assert capsysbinary.readouterr() == (converted(STREAM), b"")


def test_a_dialect_may_be_named(source: Path, capsysbinary: Binary) -> None:
    assert main(["convert", str(source), "--from", "codex-proto"]) == 1  # nothing was understood

    assert types(capsysbinary.readouterr().out) == ["unknown"] * 4


def test_a_stream_that_nobody_knows_is_converted_and_complained_about(
    tmp_path: Path, capsysbinary: Binary
) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"hello\n{}\n")

    assert main(["convert", str(path)]) == 1

    shown = capsysbinary.readouterr()
    assert types(shown.out) == ["malformed", "unknown"]
    assert shown.err.decode() == (
        f"dragoman: no line of {path} is in a known dialect; "
        "run `dragoman dialects` to list them, or use --from to name one\n"
    )


def test_a_limit_may_be_set_for_lines(source: Path, capsysbinary: Binary) -> None:
    assert main(["convert", str(source), "--max-line", "75"]) == 0

    first, second, third, fourth, *_ = capsysbinary.readouterr().out.splitlines()
    assert types(b"\n".join((first, second, third))) == [*TYPES[:2], "malformed"]
    assert "82 bytes" in json.loads(third)["problem"]
    assert types(fourth) == ["usage"]


MORE = {
    (): [],
    ("context",): ["be careful"],
    ("deltas",): ["Th", "ere"],
    ("raw",): ["new.thing", "oops"],
    ("context,deltas,raw",): ["be careful", "new.thing", "oops", "Th", "ere"],
    ("context, raw",): ["be careful", "new.thing", "oops"],
}


@pytest.mark.parametrize(("given", "expected"), MORE.items(), ids=map(str, MORE))
def test_more_than_the_conversation_is_shown_when_asked_for(
    given: tuple[str, ...], expected: list[str], tmp_path: Path, capsysbinary: Binary
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(
        b'{"method":"thread/started","params":{"thread":{"id":"s1"}}}\n'
        b'{"method":"codex/event/raw_response_item","params":{"msg":{"type":"raw_response_item",'
        b'"item":{"type":"message","role":"developer",'
        b'"content":[{"type":"input_text","text":"be careful"}]}}}}\n'
        b'{"method":"new.thing","params":{}}\n'
        b"oops\n"
        b'{"method":"turn/started","params":{"threadId":"s1","turn":{"id":"t1"}}}\n'
        b'{"method":"item/agentMessage/delta","params":{"threadId":"s1","turnId":"t1",'
        b'"itemId":"m1","delta":"Th"}}\n'
        b'{"method":"item/agentMessage/delta","params":{"threadId":"s1","turnId":"t1",'
        b'"itemId":"m1","delta":"ere"}}\n'
    )
    include = ["--include", *given] if given else []

    assert main(["convert", str(path), "--to", "claude", *include]) == 0

    out = capsysbinary.readouterr().out.decode()
    words = {word: out.find(f'"{word}') for words in MORE.values() for word in words}
    shown = [word for word, at in sorted(words.items(), key=lambda item: item[1]) if at >= 0]
    assert shown == expected


# Into a file.


def test_output_may_go_to_a_file(source: Path, tmp_path: Path, capsysbinary: Binary) -> None:
    target = tmp_path / "out.md"

    assert main(["convert", str(source), "--to", "markdown", "-o", str(target)]) == 0

    assert capsysbinary.readouterr() == (b"", b"")
    assert target.read_bytes() == converted(STREAM, "markdown")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.md"]


@pytest.mark.parametrize(
    "arguments",
    [["--to", "yaml"], ["--from", "codex-9"], ["--include", "all"], ["--max-line", "-1"]],
    ids=" ".join,
)
def test_a_wrong_request_writes_nothing(
    arguments: list[str], source: Path, tmp_path: Path, capsysbinary: Binary
) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")

    assert main(["convert", str(source), "-o", str(target), *arguments]) == 2

    assert target.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out"]
    assert capsysbinary.readouterr().out == b""


# Auditing.


def test_an_audit_prints_the_account_instead(source: Path, capsysbinary: Binary) -> None:
    assert main(["convert", str(source), "--audit"]) == 0

    out = capsysbinary.readouterr().out.decode()
    assert out.startswith(f"{source}: 4 lines, codex-exec\n         4 emitted a message\n")
    assert "         0 are unaccounted for\n" in out


def test_an_audit_takes_standard_input_too() -> None:
    done = subprocess.run(
        [DRAGOMAN, "convert", "--audit"], input=STREAM, capture_output=True, timeout=WAIT
    )

    assert done.returncode == 0
    assert done.stdout.startswith(b"-: 4 lines, codex-exec\n")


def test_an_audit_heeds_the_dialect_and_the_limit(source: Path, capsysbinary: Binary) -> None:
    arguments = ["--from", "codex-proto", "--max-line", "75"]

    assert main(["convert", str(source), "--audit", *arguments]) == 0

    out = capsysbinary.readouterr().out.decode()
    assert out.startswith(f"{source}: 4 lines, codex-proto\n")
    assert "  line 3: line of 82 bytes is longer than the limit" in out


def test_an_audit_of_malformed_and_unknown_lines_is_no_failure(
    tmp_path: Path, capsysbinary: Binary
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(STREAM + b'oops\n{"type":"new.thing"}\n')

    assert main(["convert", str(path), "--audit"]) == 0

    out = capsysbinary.readouterr().out
    assert b"\n  line 5: not JSON\n" in out
    assert b"\n         1 new.thing\n" in out


def test_an_audit_fails_when_the_file_is_damaged(tmp_path: Path, capsysbinary: Binary) -> None:
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(STREAM)[:-3])

    assert main(["convert", str(path), "--audit"]) == 1

    out = capsysbinary.readouterr().out.decode()
    assert out.startswith(f"{path}: 4 lines, codex-exec\n")
    assert out.endswith("\nnot read to the end: compressed data ends early\n")


def test_an_audit_fails_when_a_line_is_lost(
    source: Path, capsysbinary: Binary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lossy(*_: object, **__: object) -> Account:
        return Account(dialect="codex-exec", lines=4, emitting=3, unaccounted=[2])

    monkeypatch.setattr("dragoman.reading.audit.audit", lossy)

    assert main(["convert", str(source), "--audit"]) == 1

    assert capsysbinary.readouterr().out.endswith(b"\nunaccounted for: lines 2\n")


@pytest.mark.parametrize("name", [each.name for each in FORMATS])
def test_every_format_can_be_masked(name: str, tmp_path: Path, capsysbinary: Binary) -> None:
    secret, token = "coppertulip", "gh" + "p_" + "a1B2" * 9
    lines = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {
            "type": "item.completed",
            "item": {
                "id": "i",
                "type": "command_execution",
                "command": f"PGPASSWORD={secret} psql",
                "aggregated_output": f"export GITHUB_TOKEN={token}\n",
                "exit_code": 0,
                "status": "completed",
            },
        },
        {
            "type": "item.completed",
            "item": {"id": "j", "type": "agent_message", "text": f"It is {token}."},
        },
        {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}},
    ]
    source = tmp_path / "exec.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))

    code = main(
        ["convert", str(source), "--to", name, "--redact", "--include", "deltas,raw,context"]
    )

    out, err = capsysbinary.readouterr()
    assert code == 0
    assert secret.encode() not in out
    assert token.encode() not in out
    assert b"[secret-" in out
    assert b"masked" in err
