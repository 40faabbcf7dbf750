from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.cli.streams import reader_left, standard_output
from dragoman.errors import UsageError

DRAGOMAN = Path(sys.executable).with_name("dragoman")


def test_standard_output_is_what_python_has() -> None:
    assert standard_output() is sys.stdout


def test_a_closed_standard_output_is_a_wrong_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)

    with pytest.raises(UsageError, match="standard output is closed; use -o"):
        standard_output()


def test_what_is_still_unsaid_when_the_reader_leaves_is_dropped_in_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = os.pipe()
    with open(writer, "w", encoding="utf-8") as output:
        monkeypatch.setattr(sys, "stdout", output)
        output.write("nobody will read this")
        os.close(reader)

        assert reader_left() == 0

        output.flush()


def shell(redirection: str, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run the program from a shell that closes some of its streams."""
    return subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {redirection}', DRAGOMAN, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
    )


@pytest.mark.parametrize(
    ("closed", "said"),
    [
        ("<&-", "dragoman: cannot read standard input: it is closed\n"),
        (">&-", "dragoman: standard output is closed; use -o to write to a file\n"),
    ],
    ids=["input", "output"],
)
def test_a_stream_that_the_shell_closed_is_told_in_a_sentence(closed: str, said: str) -> None:
    done = shell(closed, "convert", "-")

    assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", said)


def test_closed_streams_that_are_not_needed_do_not_matter(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b'{"type":"thread.started","thread_id":"s1"}\n')

    done = shell("<&- >&- 2>&-", "convert", source, "-o", target)

    assert done.returncode == 0
    assert target.read_bytes().startswith(b'{"type":"session_started",')
