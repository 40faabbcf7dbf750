"""The tools over a real archive, asked as a client asks."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.mcp_server.serving import McpService

_RUNS = Path(__file__).parents[1] / "data" / "codex" / "runs"


class Client:
    """Calls tools of a service on these files."""

    def __init__(self, paths: list[Path], cache: Path, environment: dict[str, str]) -> None:
        self.archive = SessionArchive(paths=paths, cache=cache)
        self._service = McpService(self.archive, environment)

    def call(
        self, name: str, meta: dict[str, Any] | None = None, /, **arguments: Any
    ) -> tuple[Any, bool]:
        """The answer, decoded if it is JSON, and whether it is an error."""
        params = {"name": name, "arguments": arguments, "_meta": meta or {}}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        [answer] = self._service.receive_line(line.encode())
        result = json.loads(answer)["result"]
        [block] = result["content"]
        if "structuredContent" in result and name != "read_session":
            assert json.loads(block["text"]) == result["structuredContent"]
            return result["structuredContent"], False
        return block["text"], result.get("isError", False)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("0.142.0/shell_slow.rollout.jsonl", "0.166.0/err_then_ok.rollout.jsonl"):
        shutil.copy(_RUNS / name, folder / name.replace("/", "-"))
    return folder


@pytest.fixture
def client(files: Path, tmp_path: Path) -> Client:
    made = Client([files], tmp_path / "cache", {"MY_API_KEY": "hunter2hunter2"})
    return made


def test_sessions_are_listed_searched_and_read(client: Client) -> None:
    listed, _ = client.call("list_sessions")
    assert len(listed["sessions"]) == 2
    for session in listed["sessions"]:
        ident = session["session_id"]
        assert session["title"]
        overview, _ = client.call("session_overview", session_id=ident[:13])
        assert overview["session_id"] == ident
        assert [turn["turn"] for turn in overview["turns_list"]] == [
            *range(1, session["turns"] + 1)
        ]
        text, is_error = client.call("read_session", session_id=ident)
        assert not is_error
        assert text.startswith(f"## Turn 1 of {session['turns']}")
        assert overview["turns_list"][0]["prompt"] in text
        word = overview["turns_list"][0]["prompt"].split()[0]
        found, _ = client.call("search_sessions", query=word, kinds=["prompt"])
        assert ident in [match["session_id"] for match in found["matches"]]
        resumed, _ = client.call("resume_command", session_id=ident)
        assert f"dragoman chat --resume {ident} --harness codex" in resumed["command"]


def test_the_calling_session_is_left_out(client: Client) -> None:
    listed, _ = client.call("list_sessions")
    first, second = (each["session_id"] for each in listed["sessions"])
    meta = {"turn": {"session_id": first}}

    left, _ = client.call("list_sessions", meta)
    assert [each["session_id"] for each in left["sessions"]] == [second]
    text, is_error = client.call("read_session", meta, session_id=first)
    assert is_error
    assert "is the session that asks" in text
    everything, _ = client.call("search_sessions", meta, query="e* OR t* OR a*", limit=50)
    assert {each["session_id"] for each in everything["matches"]} <= {second}


def test_a_long_session_is_read_piece_by_piece_without_a_gap(client: Client) -> None:
    listed, _ = client.call("list_sessions")
    ident = max(listed["sessions"], key=lambda each: each["turns"])["session_id"]
    whole, _ = client.call("read_session", session_id=ident)
    turn, offset, pieces = 1, 0, list[str]()
    while True:
        answer = client.call(
            "read_session", session_id=ident, first_turn=turn, offset=offset, max_chars=500
        )[0]
        piece, _, rest = answer.partition("\n[continue with first_turn=")
        pieces.append(piece)
        if not rest:
            break
        numbers = rest.removesuffix("]\n").split(" and offset=")
        turn, offset = int(numbers[0]), int(numbers[1]) if len(numbers) > 1 else 0
        assert len(pieces) < 100

    assert len(pieces) > 1
    assert "".join(pieces) == whole


def test_bad_calls_are_answered_in_a_sentence(client: Client) -> None:
    for name, arguments, words in (
        ("read_session", {"session_id": "nope"}, "no session 'nope'"),
        ("search_sessions", {"query": "x", "since": "soon"}, "not a time: 'soon'"),
        ("list_sessions", {"limit": 1000}, "limit"),
        ("session_overview", {}, "session_id"),
    ):
        text, is_error = client.call(name, None, **arguments)
        assert is_error
        assert words in text
    ident = client.call("list_sessions")[0]["sessions"][0]["session_id"]
    text, is_error = client.call("read_session", session_id=ident, around=99)
    assert (is_error, "no turn 99" in text) == (True, True)


def test_secrets_are_masked(files: Path, tmp_path: Path) -> None:
    source = files / "0.142.0-shell_slow.rollout.jsonl"
    prompt = json.loads(source.read_bytes().split(b"\n")[0])["payload"]["id"]
    secret = "hunter2hunter2"
    rows = source.read_text(encoding="utf-8").replace("do it", f"do it with {secret}")
    source.write_text(rows, encoding="utf-8")
    client = Client([files], tmp_path / "cache", {"MY_API_KEY": secret})

    for name, arguments in (
        ("read_session", {"session_id": prompt}),
        ("session_overview", {"session_id": prompt}),
        ("list_sessions", {}),
        ("search_sessions", {"query": "do"}),
    ):
        text, is_error = client.call(name, None, **arguments)
        assert not is_error
        assert secret not in str(text)
    assert secret in rows


def test_usage_is_what_the_ledger_says(client: Client) -> None:
    usage, _ = client.call("usage", by="session")
    listed, _ = client.call("list_sessions")

    assert {group["key"] for group in usage["groups"]} == {
        session["session_id"] for session in listed["sessions"]
    }
    total = sum(session["tokens"]["output_tokens"] for session in listed["sessions"])
    assert usage["total"]["tokens"]["output_tokens"] == total


def test_a_damaged_index_is_built_again(client: Client) -> None:
    client.call("list_sessions")
    index = Path(client.archive.index_folder, "index.sqlite3")
    with sqlite3.connect(index) as connection:
        connection.execute("UPDATE sessions SET last_at = 'soon'")
    connection.close()

    listed, is_error = client.call("list_sessions")
    assert not is_error
    assert len(listed["sessions"]) == 2
