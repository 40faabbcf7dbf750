"""The fake program, as a client meets it: a child process that repeats a recording."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.rehearsal import Faults, fake_codex, write_fake_codex

_SECONDS = 30


@pytest.fixture
def conversation(data: Path) -> Path:
    """A two-way recording in which the agent asks for an approval."""
    return data / "codex" / "codex-app-server" / "approval-0.160" / "wire.jsonl"


@pytest.fixture
def one_way(data: Path) -> Path:
    return data / "codex" / "codex-exec" / "patch-0.166" / "wire.jsonl"


def _rows(recording: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in recording.read_bytes().split(b"\n") if line]


def _sent(recording: Path, rename: bool = False) -> list[dict[str, Any]]:
    """What the client said, with ids of its own if asked for."""
    sent = [row["msg"] for row in _rows(recording) if row["dir"] == "send"]
    if rename:
        sent = [
            {**said, "id": f"mine-{said['id']}"} if "method" in said and "id" in said else said
            for said in sent
        ]
    return sent


def _run(program: Path, *words: str, said: list[dict[str, Any]] | None = None) -> tuple[int, bytes]:
    lines = "".join(json.dumps(each) + "\n" for each in said or ()).encode()
    done = subprocess.run(
        [program, *words], input=lines, capture_output=True, timeout=_SECONDS, check=False
    )
    return done.returncode, done.stdout


def test_a_conversation_is_repeated_under_the_ids_of_the_client(
    tmp_path: Path, conversation: Path
) -> None:
    program = write_fake_codex(tmp_path, conversation)

    code, out = _run(program, "app-server", said=_sent(conversation, rename=True))

    told = [json.loads(line) for line in out.split(b"\n") if line]
    recorded = [row["msg"] for row in _rows(conversation) if row["dir"] == "recv"]
    answers = [said for said in recorded if "method" not in said]
    assert code == 0
    assert told == [
        {**said, "id": f"mine-{said['id']}"} if said in answers else said for said in recorded
    ]


def test_an_approval_waits_for_its_answer(tmp_path: Path, conversation: Path) -> None:
    program = write_fake_codex(tmp_path, conversation)
    unanswered = [said for said in _sent(conversation) if "method" in said]

    _, out = _run(program, "app-server", said=unanswered)

    assert b"requestApproval" in out.split(b"\n")[-2]
    assert b"turn/completed" not in out


def test_requests_without_a_recorded_answer_are_refused_and_noise_is_passed_over(
    tmp_path: Path, conversation: Path
) -> None:
    program = write_fake_codex(tmp_path, conversation)
    odd = {"id": "odd", "method": "no/such/thing"}
    first, *rest = _sent(conversation)
    lines = [json.dumps(each) for each in (first, odd, *rest, odd)]
    lines[1:1] = ["not JSON", "[1]"]

    done = subprocess.run(
        [program, "app-server"],
        input="\n".join(lines).encode() + b"\n",
        capture_output=True,
        timeout=_SECONDS,
        check=True,
    )

    told = [json.loads(line) for line in done.stdout.split(b"\n") if line]
    refusals = [said for said in told if said.get("id") == "odd"]
    assert [said["error"]["message"] for said in refusals] == [
        "the recording has no answer to no/such/thing"
    ] * 2


def test_a_recording_of_one_side_answers_requests_as_they_come(tmp_path: Path) -> None:
    recording = tmp_path / "bare.jsonl"
    lines: list[dict[str, Any]] = [
        {"id": 1, "result": {}},
        {"method": "note"},
        {"id": 2, "result": {"x": 1}},
    ]
    recording.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    program = write_fake_codex(tmp_path / "bin", recording)
    said = [{"id": "a", "method": "initialize"}, {"id": "b", "method": "thread/start"}]

    _, out = _run(program, "app-server", said=said)

    assert [json.loads(line).get("id") for line in out.split(b"\n") if line] == ["a", None, "b"]


def test_a_run_is_repeated_byte_for_byte(tmp_path: Path, one_way: Path) -> None:
    program = write_fake_codex(tmp_path, one_way)

    code, out = _run(program, "exec", "--json", "do it")

    assert out == one_way.read_bytes()
    assert code == 0


def test_a_run_that_failed_fails(tmp_path: Path) -> None:
    recording = tmp_path / "failed.jsonl"
    recording.write_text('{"type":"turn.failed","error":{}}\n', encoding="utf-8")

    code, _ = _run(write_fake_codex(tmp_path / "bin", recording), "exec", "do it")

    assert code == 1


def test_both_modes_can_have_their_own_recording(
    tmp_path: Path, one_way: Path, conversation: Path
) -> None:
    program = write_fake_codex(tmp_path, one_way, app_server=conversation)

    _, ran = _run(program, "exec", "hi")
    _, served = _run(program, "app-server", said=_sent(conversation))

    assert ran == one_way.read_bytes()
    assert b"turn/completed" in served


def test_it_names_the_release_of_the_recording(tmp_path: Path, conversation: Path) -> None:
    assert _run(write_fake_codex(tmp_path, conversation), "--version") == (
        0,
        b"codex-cli 0.160.0\n",
    )
    named = write_fake_codex(tmp_path, conversation, version="1.2.3")
    assert _run(named, "--version")[1] == b"codex-cli 1.2.3\n"
    assert fake_codex.version_of("runs/0.44.0/x.jsonl", []) == "0.44.0"
    assert fake_codex.version_of("x.jsonl", [b"{}"]) == "0.0.0"


def test_it_can_be_told_by_the_environment_and_says_what_it_lacks(one_way: Path) -> None:
    program = [sys.executable, "-I", "-S", fake_codex.__file__, "exec"]
    env = {"DRAGOMAN_FAKE_RECORDING": str(one_way), "DRAGOMAN_FAULTS": '{"crash": 1}'}

    told = subprocess.run(program, env=env, capture_output=True, timeout=_SECONDS, check=False)
    lost = subprocess.run(program, env={}, capture_output=True, timeout=_SECONDS, check=False)

    assert (told.returncode, told.stdout.count(b"\n")) == (101, 1)
    assert (lost.returncode, lost.stderr) == (
        2,
        b"the fake needs a recording: --fake-recording FILE\n",
    )


@pytest.mark.parametrize(
    ("faults", "code", "lines"),
    [
        (Faults(crash=2), 101, 2),
        (Faults(crash=0, exit_code=3), 3, 0),
        (Faults(crash="turn.started", signal=signal.SIGKILL), -9, 2),
        (Faults(torn=2), 101, 1),
    ],
)
def test_a_run_can_end_badly(
    tmp_path: Path, one_way: Path, faults: Faults, code: int, lines: int
) -> None:
    ended, out = _run(write_fake_codex(tmp_path, one_way, faults=faults), "exec", "hi")

    assert (ended, out.count(b"\n")) == (code, lines)
    assert one_way.read_bytes().startswith(out)
    assert out.endswith(b"\n") != (faults.torn is not None) or not out


def test_lines_can_be_harmed(tmp_path: Path, one_way: Path) -> None:
    faults = Faults(repeat=1, times=5000, garbage=2, pad=3, pad_bytes=100_000)
    whole = one_way.read_bytes().split(b"\n")

    _, out = _run(write_fake_codex(tmp_path, one_way, faults=faults), "exec", "hi")

    lines = out.split(b"\n")
    assert lines[:5001] == [whole[0]] * 5000 + [whole[1]]
    assert lines[5001] == b"thread 'main' panicked at src/main.rs {"
    assert len(lines[5002]) > 100_000
    padded = json.loads(lines[5002])
    del padded["padding"]
    assert padded == json.loads(whole[2])
    assert lines[5003:] == whole[3:]


def test_there_can_be_chatter_on_the_standard_error(tmp_path: Path, one_way: Path) -> None:
    faults = Faults(stderr=0, stderr_text="odd\n", stderr_times=1000, delay=0.001)
    program = write_fake_codex(tmp_path, one_way, faults=faults)

    done = subprocess.run([program, "exec"], capture_output=True, timeout=_SECONDS, check=True)

    assert done.stderr == b"odd\n" * 1000
    assert done.stdout == one_way.read_bytes()


@pytest.mark.parametrize("mode", ["exec", "app-server"])
def test_silence_stays_until_the_program_is_killed_or_left(
    tmp_path: Path, one_way: Path, mode: str
) -> None:
    faults = Faults(silence=0, stderr=0, stderr_text="ready\n")
    program = write_fake_codex(tmp_path, one_way, faults=faults)
    pipe = subprocess.PIPE
    with subprocess.Popen([program, mode], stdin=pipe, stdout=pipe, stderr=pipe) as child:
        assert child.stderr is not None
        assert child.stderr.readline() == b"ready\n"
        assert child.poll() is None
        if mode == "exec":
            child.terminate()
        out, _ = child.communicate(timeout=_SECONDS)

    assert out == b""
    assert child.returncode == (-signal.SIGTERM if mode == "exec" else 0)


def test_it_can_refuse_to_go(tmp_path: Path, conversation: Path) -> None:
    faults = Faults(ignore_term=True, ignore_eof=True, stderr=1, stderr_text="ready\n")
    program = write_fake_codex(tmp_path, conversation, faults=faults)
    pipe = subprocess.PIPE
    with subprocess.Popen([program, "app-server"], stdin=pipe, stdout=pipe, stderr=pipe) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        child.stdin.write(json.dumps(_sent(conversation)[0]).encode() + b"\n")
        child.stdin.close()
        assert child.stderr.readline() == b"ready\n"
        child.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.5)
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait(_SECONDS) == -signal.SIGKILL


def test_it_stops_when_its_output_is_not_read(tmp_path: Path, one_way: Path) -> None:
    faults = Faults(repeat=1, times=1_000_000)
    program = write_fake_codex(tmp_path, one_way, faults=faults)
    with subprocess.Popen([program, "exec"], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.wait(_SECONDS) == 1
