from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.commands import run as running
from support.archive.home import Command, command
from support.archive.saved_sessions import Rows, save, session_id


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def handoff(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    home = tmp_path / "home"
    rows = Rows(1, cwd=str(work)).begin("fix it").event("agent_reasoning", text="hm")
    rows.run("ls", "a.py").say("Done.").end()
    save(home, 1, rows.data)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return command("handoff", home, tmp_path / "cache", monkeypatch)


def test_it_says_what_was_written_what_was_not_and_how_to_continue(
    handoff: Command, work: Path, tmp_path: Path
) -> None:
    code, out, err = handoff(session_id(1)[:13], "--to", "claude")

    [path] = (tmp_path / "claude" / "projects").glob("*/*.jsonl")
    assert (code, err) == (0, "")
    assert out.split("\n") == [
        f"Handed off {session_id(1)} to Claude Code: 1 turn, 1 tool call",
        f"  session  {path.stem}",
        f"  file     {path}",
        "",
        "Not carried over",
        "     1 thinking       Claude accepts no thoughts but its own",
        "",
        "Continue",
        f"  cd {work} && claude --resume {path.stem}",
        f"  cd {work} && dragoman chat --resume {path.stem}",
        "",
    ]


def test_the_newest_session_as_json(handoff: Command, work: Path) -> None:
    code, out, _ = handoff("--last", "--to", "codex", "--json")

    row = json.loads(out)
    assert code == 0
    assert row["source"] == {"session_id": session_id(1), "harness": "codex"}
    assert (row["harness"], row["cwd"], row["turns"], row["tool_calls"]) == (
        "codex",
        str(work),
        1,
        1,
    )
    assert row["commands"]["native"] == ["codex", "resume", row["session_id"]]
    assert row["losses"] == [
        {
            "kind": "thinking",
            "count": 1,
            "detail": "shown in the transcript, not sent to the model",
            "names": [],
            "kept": True,
        }
    ]


def test_it_continues_at_once(
    handoff: Command, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[list[str]] = []

    def main(args: list[str], **_: Any) -> int:
        given.append(args)
        return 7

    monkeypatch.setattr(running.run, "main", main)
    code, out, _ = handoff("--last", "--to", "claude", "--run", "--go on--")

    new = out.split("session  ")[1].split("\n")[0]
    assert code == 7
    assert given == [["--resume", new, "--cwd", str(work), "--", "--go on--"]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "claude"], "which session?"),
        (["x", "--last", "--to", "claude"], "which session?"),
        (["--last", "--to", "claude", "--json", "--run", "x"], "use either --run or --json"),
        (["--last", "--to", "nonsense"], "sessions cannot be handed off to 'nonsense'"),
        (["--last", "--to", "claude", "--turns", "x"], "not a range of turns"),
        (["--last", "--to", "claude", "--turns", "7"], "has no such turns"),
        (["--last", "--to", "claude", "--cwd", "/no/such"], "there is no directory /no/such"),
        (["nothing", "--to", "claude"], "no session 'nothing'"),
        (["--last"], "to which agent?"),
    ],
)
def test_bad_input_is_one_sentence(handoff: Command, arguments: list[str], words: str) -> None:
    code, out, err = handoff(*arguments)

    assert (code, out) == (2, "")
    assert words in err
