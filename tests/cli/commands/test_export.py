from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.commands.export import export

Binary = pytest.CaptureFixture[bytes]
ITEM = {"id": "i", "type": "agent_message", "text": "mail ada@lovelace.org, key hush-hush"}
LINES = [
    {"type": "thread.started", "thread_id": "s1"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": ITEM},
    {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 2}},
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
    return path


def run(*arguments: str | Path) -> Any:
    return export.main([str(each) for each in arguments], standalone_mode=False)


def test_a_page_is_masked_unless_somebody_says_otherwise(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: Binary
) -> None:
    monkeypatch.setenv("MY_SECRET", "hush-hush")
    masked, plain = tmp_path / "a.html", tmp_path / "b.html"

    assert run(source, "-o", masked) == 0
    assert run(source, "-o", plain, "--no-redact") == 0

    page = masked.read_text(encoding="utf-8")
    assert "mail [email-1], key [secret-1]" in page
    assert "ada@lovelace.org" not in page
    assert "mail ada@lovelace.org, key hush-hush" in plain.read_text(encoding="utf-8")
    out, err = capsysbinary.readouterr()
    assert out == b""
    assert err.count(b"\n") == 1
    assert b"known value: 1, e-mail address: 1" in err or b"e-mail address: 1, known" in err


def test_other_formats_are_masked_only_on_demand(source: Path, capsysbinary: Binary) -> None:
    assert run(source, "--to", "text") == 0
    plain = capsysbinary.readouterr()
    assert run(source, "--to", "text", "--redact") == 0
    masked = capsysbinary.readouterr()

    assert b"ada@lovelace.org" in plain.out
    assert plain.err == b""
    assert b"[email-1]" in masked.out
    assert b"masked" in masked.err


def test_a_dash_is_standard_output(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: Binary
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run(source, "--to", "text", "-o", "-") == 0

    assert b"ada@lovelace.org" in capsysbinary.readouterr().out
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(
    ("name", "begin"),
    [("a.md", b"# codex"), ("a.json", b"[\n{"), ("a.jsonl", b'{"type"'), ("a.txt", b"codex")],
)
def test_the_ending_chooses_the_format(
    name: str, begin: bytes, source: Path, tmp_path: Path
) -> None:
    assert run(source, "-o", tmp_path / name) == 0

    assert (tmp_path / name).read_bytes().startswith(begin)


def test_a_file_that_is_there_stays_unless_forced(source: Path, tmp_path: Path) -> None:
    from dragoman.errors import UsageError

    target = tmp_path / "a.html"
    target.write_text("mine", encoding="utf-8")

    with pytest.raises(UsageError, match="--force"):
        run(source, "-o", target)
    assert target.read_text(encoding="utf-8") == "mine"
    assert run(source, "-o", target, "--force") == 0
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_saved_session_is_found_by_its_id(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    recording = data.parents[1] / "examples" / "recordings" / "fix-the-test.rollout.jsonl"
    target = tmp_path / "a.html"

    assert run("01a1e27b", "--path", recording, "-o", target) == 0

    assert "<h1>Fix the failing test</h1>" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize("named", [["01a1e27b"], ["--last"]])
def test_the_file_of_a_saved_session_is_never_replaced(
    named: list[str], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dragoman.errors import UsageError

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    recording = data.parents[1] / "examples" / "recordings" / "fix-the-test.rollout.jsonl"
    own = tmp_path / "rollout.jsonl"
    own.write_bytes(recording.read_bytes())

    with pytest.raises(UsageError, match="is the input file"):
        run(*named, "--path", own, "-o", own, "--force")

    assert own.read_bytes() == recording.read_bytes()


@pytest.mark.parametrize(
    "arguments", [["-o", "a.html"], ["in.jsonl"], ["in.jsonl", "--last", "-o", "x"]]
)
def test_what_is_missing_is_said(arguments: list[str]) -> None:
    import click

    with pytest.raises(click.UsageError):
        run(*arguments)


def test_what_no_dialect_knows_is_a_failure(tmp_path: Path, capsysbinary: Binary) -> None:
    source = tmp_path / "x.jsonl"
    source.write_text('{"what": 1}\n' * 3, encoding="utf-8")

    assert run(source, "-o", tmp_path / "a.md") == 1
    assert b"dialect" in capsysbinary.readouterr().err
