"""Transcripts that are damaged: what is found, and what the repaired copy contains."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.care.checking import check_file
from dragoman.archive.care.repairing import Repair, repair
from support.agents.fixtures import ClaudeEnv

_SESSION = "5e551011-0000-4000-8000-000000000001"
_SECONDS = 60


def row(name: str, follows: str | None, text: str = "", **more: Any) -> bytes:
    message = {"role": "user", "content": text or f"row {name}"}
    value = {
        "parentUuid": follows,
        "isSidechain": False,
        "type": "user",
        "message": message,
        "uuid": name,
        "timestamp": "2026-11-18T09:16:47.294Z",
        "userType": "external",
        "cwd": "/w",
        "sessionId": _SESSION,
        "version": "2.1.326",
    }
    return json.dumps(value | more).encode() + b"\n"


CHAIN = [row("a", None), row("b", "a"), row("c", "b"), row("d", "c")]


def put(folder: Path, lines: Sequence[bytes], name: str = f"{_SESSION}.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join(lines))
    return path


def faults(path: Path) -> list[tuple[int, str, bool]]:
    return [(each.line, each.kind, each.is_broken) for each in check_file(path).findings]


def repaired(path: Path, tmp_path: Path) -> tuple[Repair, list[dict[str, Any]]]:
    done = repair(path, tmp_path / "repaired")
    lines = done.target.read_bytes().splitlines()
    assert faults(done.target) == []
    return done, [json.loads(line) for line in lines]


def test_a_whole_transcript_is_copied_byte_for_byte(tmp_path: Path) -> None:
    path = put(tmp_path, [b'{"type":"mode","sessionId":"%b"}\n' % _SESSION.encode(), *CHAIN])

    assert faults(path) == []
    done, _ = repaired(path, tmp_path)
    assert done.target.read_bytes() == path.read_bytes()
    assert (done.harness, done.actions, done.problems) == ("claude", [], [])


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([], [(0, "header", True)]),
        ([*CHAIN[:3], CHAIN[3][:40]], [(4, "torn", False)]),  # just written: it may still grow
        (
            [CHAIN[0], CHAIN[1][:40] + b"\n", *CHAIN[2:]],
            [(2, "unreadable", True), (3, "chain", True)],
        ),
        ([CHAIN[0], b"\0\0\0" + CHAIN[1], *CHAIN[2:]], [(2, "nul", True), (3, "chain", True)]),
        ([*CHAIN[:2], CHAIN[1], *CHAIN[2:]], [(3, "repeated", True)]),
        ([CHAIN[0], CHAIN[2], CHAIN[1], CHAIN[3]], [(2, "chain", False)]),
        ([*CHAIN[:3], CHAIN[3].rstrip()], [(4, "newline", False)]),
    ],
)
def test_what_is_wrong_is_found(
    lines: list[bytes], found: list[tuple[int, str, bool]], tmp_path: Path
) -> None:
    assert faults(put(tmp_path, lines)) == found


def test_a_row_that_follows_a_missing_one_follows_the_row_before_it(tmp_path: Path) -> None:
    path = put(tmp_path, [CHAIN[0], CHAIN[1][:40] + b"\n", *CHAIN[2:]])

    done, rows = repaired(path, tmp_path)

    assert [(each["uuid"], each["parentUuid"]) for each in rows] == [
        ("a", None),
        ("c", "a"),
        ("d", "c"),
    ]
    assert done.problems == []
    assert done.dropped_path is not None
    [dropped] = done.dropped_path.read_text(encoding="utf-8").splitlines()
    assert json.loads(dropped)["raw"] == CHAIN[1][:40].decode()


def test_a_row_behind_zeros_or_another_row_is_found(tmp_path: Path) -> None:
    quoting = row("q", "b", 'it said {"parentUuid": 1, "type": "user"} to me')
    path = put(tmp_path, [CHAIN[0], b"\0\0" + CHAIN[1], quoting[:-1] + row("r", "q")])

    done, rows = repaired(path, tmp_path)

    assert [each["uuid"] for each in rows] == ["a", "b", "q", "r"]
    assert [each["parentUuid"] for each in rows] == [None, "a", "b", "q"]
    assert done.problems == []


def test_the_second_of_two_rows_with_one_id_is_dropped(tmp_path: Path) -> None:
    path = put(tmp_path, [*CHAIN[:2], row("b", "a", "another"), *CHAIN[2:]])

    done, rows = repaired(path, tmp_path)

    assert [each["uuid"] for each in rows] == ["a", "b", "c", "d"]
    assert rows[1]["message"]["content"] == "row b"
    assert done.dropped_path is not None
    assert "another" in done.dropped_path.read_text(encoding="utf-8")


def test_bytes_that_are_not_text_are_replaced(tmp_path: Path) -> None:
    path = put(tmp_path, [CHAIN[0], CHAIN[1].replace(b"row b", b"row \xff"), *CHAIN[2:]])

    done, rows = repaired(path, tmp_path)

    assert rows[1]["message"]["content"] == "row \N{REPLACEMENT CHARACTER}"
    assert done.dropped_path is not None


def test_the_copy_is_named_after_the_session_in_the_rows(tmp_path: Path) -> None:
    other = _SESSION.replace("1", "2")
    path = put(tmp_path, [*CHAIN, CHAIN[3]], f"{other}.jsonl")

    assert repaired(path, tmp_path)[0].target.name == f"{_SESSION}.jsonl"


def test_a_sub_agents_file_is_named_after_the_sub_agent(tmp_path: Path) -> None:
    lines = [row("a", None, isSidechain=True, agentId="a11"), row("b", "x", isSidechain=True)]
    path = put(tmp_path, lines, "agent-a22.jsonl")

    done, rows = repaired(path, tmp_path)

    assert done.target.name == "agent-a11.jsonl"
    assert rows[1]["parentUuid"] is None  # an unnamed chain of its own


def prompts(path: Path, env: dict[str, str]) -> list[str]:
    """The prompts that the program's own library finds in a session."""
    code = (
        "import json, sys, claude_agent_sdk as sdk\n"
        "found = sdk.get_session_messages(sys.argv[1])\n"
        "print(json.dumps([each.message for each in found if each.type == 'user']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path.stem],
        env=env,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=True,
    )
    said = [message["content"] for message in json.loads(done.stdout)]
    return [each for each in said if isinstance(each, str)]


def test_the_real_program_resumes_a_repaired_session(
    claude_program: str, claude_env: ClaudeEnv, tmp_path: Path
) -> None:
    script = "turns: [[{run: echo one}, {say: First.}], [{say: Second.}], [{say: Third.}]]"
    rehearsal, env = claude_env(script)

    def ask(prompt: str, *options: str) -> str:
        done = subprocess.run(
            [claude_program, "-p", prompt, *options],
            env=env,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert ask("the first prompt", "--session-id", _SESSION) == "First."
    assert ask("the second prompt", "--resume", _SESSION) == "Second."
    [path] = rehearsal.home.glob(f".claude/projects/*/{_SESSION}.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    # The disk lost the end of one row of the conversation, and with it the link to all rows before it.
    lost = next(
        at for at, line in enumerate(lines) if b'"First."' in line and b'"assistant"' in line
    )
    lines[lost] = lines[lost][:100] + b"\0" * 20 + b"\n"
    path.write_bytes(b"".join([*lines, b'{"parentUuid":"torn']))

    assert ("chain", True) in {(kind, broken) for _, kind, broken in faults(path)}
    done, _ = repaired(path, tmp_path)
    assert done.problems == []

    # Its own library stops where the link is missing; its program guesses, and need not with the copy.
    assert prompts(path, env) == ["the second prompt"]
    path.write_bytes(done.target.read_bytes())
    assert prompts(path, env) == ["the first prompt", "the second prompt"]
    ask("the third prompt", "--resume", _SESSION)
    remembered = json.dumps(rehearsal.requests[-1].body["messages"])
    assert all(f"the {each} prompt" in remembered for each in ("first", "second", "third"))
    assert rehearsal.requests[-1].outputs[0].startswith("one\n")
