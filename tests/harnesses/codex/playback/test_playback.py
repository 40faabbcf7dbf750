"""A recording played and read back tells the same conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.harnesses import HARNESSES
from dragoman.harnesses.codex.playback.codex import CODEX_PLAYBACK
from dragoman.harnesses.codex.playback.shapes import RELEASE
from dragoman.harnesses.contract.playback import Performance
from dragoman.model.messages import Message
from dragoman.model.turns import fold
from dragoman.replay.timing import timed_messages
from dragoman.testing.likeness import differences

_RUNS = Path(__file__).parents[3] / "data" / "codex" / "runs"
_KNOWN = {
    "0.57.0/unknown_tool.rollout.jsonl": "arguments that are not JSON become the command",
    "0.77.0/err_then_ok.appserver-v1.jsonl": "totals that begin anew in the middle of a session",
}
_ALL = sorted(
    path for path in _RUNS.glob("*/*.jsonl") if f"{path.parent.name}/{path.name}" not in _KNOWN
)


class Client:
    """Talks with a played server, and keeps what both sides said."""

    def __init__(self, messages: Sequence[Message], speed: float = 0.0) -> None:
        self.server: Performance = CODEX_PLAYBACK.serve(list(timed_messages(messages, speed=speed)))
        self.now = 0.0
        self.said: list[bytes] = []
        self.heard: list[dict[str, Any]] = []
        self.answers = True
        self._id = 0
        self.ask("initialize", clientInfo={"name": "test", "version": "1"})

    def send(self, message: dict[str, Any]) -> None:
        self.said.append(json.dumps({"dir": "send", "msg": message}).encode())
        self.server.receive_line(json.dumps(message).encode(), self.now)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._id += 1
        self.send({"id": self._id, "method": method, "params": params})
        self.listen(only_now=True)
        return next(m for m in self.heard if m.get("id") == self._id and "method" not in m)

    def listen(self, *, only_now: bool = False) -> None:
        while True:
            lines = self.server.lines_to_send(self.now)
            for line in lines:
                message = json.loads(line)
                self.said.append(json.dumps({"dir": "recv", "msg": message}).encode())
                self.heard.append(message)
                if self.answers and "method" in message and "id" in message:
                    self.send({"id": message["id"], "result": _answer(message["method"])})
            due = self.server.due_at()
            if not lines and (only_now or due is None):
                return
            if not only_now and due is not None:
                self.now = max(self.now, due)

    def methods(self) -> list[str]:
        return [message["method"] for message in self.heard if "method" in message]

    def messages(self) -> list[Message]:
        return list(dragoman.read(b"\n".join(self.said)))


def _answer(method: str) -> dict[str, Any]:
    if "requestUserInput" in method:
        return {"answers": {"q": {"answers": ["yes"]}}}
    if "elicitation" in method:
        return {"action": "accept", "content": {}}
    return {"decision": "accept"}


def play_all(messages: Sequence[Message], speed: float = 0.0) -> list[Message]:
    client = Client(messages, speed)
    thread = client.ask("thread/start")["result"]["thread"]["id"]
    while "result" in client.ask("turn/start", threadId=thread, input=[]):
        client.listen()
    return client.messages()


def _own(messages: list[Message]) -> list[Message]:
    started = [m for m in messages if isinstance(m, dragoman.SessionStarted)]
    return [m for m in messages if not started or m.session_id == started[0].session_id]


def _limits(dialect: str) -> list[Any]:
    return [limit for limit in HARNESSES[0].limits if limit.applies(dialect, RELEASE)]


def _recorded(name: str) -> list[Message]:
    return list(dragoman.read(_RUNS / name))


@pytest.mark.parametrize("path", _ALL, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_recording_played_tells_the_same_conversation(path: Path) -> None:
    messages = list(dragoman.read(path))
    original = _own(messages)

    run = b"\n".join(line for _, line in CODEX_PLAYBACK.run(timed_messages(original, speed=0)))
    printed = list(dragoman.read(run, dialect="codex-exec"))
    served = _own(play_all(messages))

    if any(isinstance(m, dragoman.TurnStarted) for m in original):
        assert differences(fold(printed), fold(original), _limits("codex-exec")) == []
        assert differences(fold(served), fold(original), _limits("codex-app-server")) == []
    strange = (dragoman.Unknown, dragoman.Malformed)
    assert [m for m in (*printed, *served) if isinstance(m, strange)] == []


def test_a_run_is_printed_as_the_program_itself_prints_it() -> None:
    recorded = (_RUNS / "0.166.0/patch_all.exec.jsonl").read_bytes().splitlines()
    run = CODEX_PLAYBACK.run(
        timed_messages(_recorded("0.166.0/patch_all.exec-rollout.jsonl"), speed=0)
    )
    printed = [json.loads(line) for _, line in run]

    # Then a patch fails, which the program does not print.
    assert printed[:10] == [json.loads(line) for line in recorded[:10]]
    assert printed[-1] == json.loads(recorded[-1])


def test_texts_come_in_deltas_in_the_recordings_own_time() -> None:
    messages = _recorded("0.166.0/patch_all.rollout.jsonl")
    client = Client(messages, speed=1.0)
    thread = client.ask("thread/start")["result"]["thread"]["id"]

    client.ask("turn/start", threadId=thread, input=[])
    assert "turn/completed" not in client.methods()
    client.listen()

    methods = client.methods()
    assert methods.index("item/agentMessage/delta") < methods.index("turn/completed")
    at = [m.at for m in messages if m.at is not None]
    assert client.now == pytest.approx((max(at) - min(at)).total_seconds(), abs=0.5)


def _asking() -> Iterator[str]:
    for path in sorted(_RUNS.glob("0.1[4-6]*/*.appserver.jsonl")):
        if any(isinstance(m, dragoman.ApprovalRequested) for m in dragoman.read(path)):
            yield f"{path.parent.name}/{path.name}"


@pytest.mark.parametrize("name", list(_asking()))
def test_a_question_waits_for_its_answer_however_long(name: str) -> None:
    client = Client(_recorded(name))
    client.answers = False
    thread = client.ask("thread/start")["result"]["thread"]["id"]
    client.ask("turn/start", threadId=thread, input=[])
    client.now += 1e6
    client.listen()

    asked = next(m for m in client.heard if "method" in m and "id" in m)
    assert "turn/completed" not in client.methods()
    client.answers = True
    client.send({"id": asked["id"], "result": _answer(asked["method"])})
    client.listen()

    assert "serverRequest/resolved" in client.methods()
    assert "turn/completed" in client.methods()


def test_who_cancels_ends_the_turn() -> None:
    name = next(each for each in _asking() if "ask_user" not in each)
    client = Client(_recorded(name))
    client.answers = False
    thread = client.ask("thread/start")["result"]["thread"]["id"]
    client.ask("turn/start", threadId=thread, input=[])
    client.listen()
    asked = next(m for m in client.heard if "method" in m and "id" in m)

    client.send({"id": asked["id"], "result": {"decision": "cancel", "action": "cancel"}})
    client.listen()

    assert client.heard[-1]["params"]["turn"]["status"] == "interrupted"


def test_a_turn_can_be_interrupted_and_the_next_one_played() -> None:
    client = Client(_recorded("0.166.0/err_then_ok.rollout.jsonl"), speed=1.0)
    thread = client.ask("thread/start")["result"]["thread"]["id"]
    first = client.ask("turn/start", threadId=thread, input=[])["result"]["turn"]["id"]

    assert client.ask("turn/start", threadId=thread, input=[])["result"]["turn"]["id"] == first
    assert client.ask("turn/steer", threadId=thread, input=[])["result"]["turnId"] == first
    assert client.ask("turn/interrupt", threadId=thread, turnId=first)["result"] == {}

    second = client.ask("turn/start", threadId=thread, input=[])["result"]["turn"]["id"]
    client.listen()
    ends = [m["params"]["turn"] for m in client.heard if m.get("method") == "turn/completed"]
    assert (ends[0]["id"], ends[0]["status"]) == (first, "interrupted")
    assert ends[1]["id"] == second != first


def test_what_was_played_can_be_listed_read_and_resumed() -> None:
    client = Client(_recorded("0.166.0/patch_all.rollout.jsonl"))
    stored = client.ask("thread/list")["result"]["data"][0]
    whole = client.ask("thread/read", threadId=stored["id"], includeTurns=True)["result"]["thread"]
    assert [item["type"] for item in whole["turns"][0]["items"]].count("fileChange") == 5

    opened = client.ask("thread/start", sandbox="read-only", approvalPolicy="on-request")["result"]
    assert opened["thread"]["id"] == stored["id"]
    assert (opened["sandbox"], opened["approvalPolicy"]) == (
        {"type": "readOnly", "networkAccess": False},
        "on-request",
    )
    client.ask("turn/start", threadId=stored["id"], input=[])
    client.listen()
    resumed = client.ask("thread/resume", threadId=stored["id"])["result"]["thread"]
    assert resumed["turns"] == whole["turns"]

    again = client.ask("thread/start")["result"]["thread"]["id"]
    forked = client.ask("thread/fork", threadId=stored["id"])["result"]["thread"]
    assert len({stored["id"], again, forked["id"]}) == 3
    assert forked["forkedFromId"] == stored["id"]
    assert set(client.ask("thread/loaded/list")["result"]["data"]) == {
        stored["id"],
        again,
        forked["id"],
    }
    assert client.ask("thread/unsubscribe", threadId=again)["result"]["status"] == "unsubscribed"


def test_what_cannot_be_done_is_refused_in_a_sentence() -> None:
    server = CODEX_PLAYBACK.serve([])

    def refused(method: str, **params: Any) -> str:
        server.receive_line(json.dumps({"id": 1, "method": method, "params": params}).encode(), 0)
        return json.loads(server.lines_to_send(0)[0])["error"]["message"]

    assert refused("thread/start") == "Not initialized"
    server.receive_line(b"not json", 0)
    server.receive_line(b'{"method":"initialized"}', 0)
    server.receive_line(b'{"id":7,"result":{}}', 0)
    server.receive_line(b'{"id":0,"method":"initialize","params":{}}', 0)
    assert len(server.lines_to_send(0)) == 1
    assert refused("initialize") == "Already initialized"
    assert "unknown variant `thread/teleport`" in refused("thread/teleport")
    assert "no rollout found" in refused("thread/resume", threadId="x")
    assert "thread not found" in refused("turn/start", threadId="x")
    server.receive_line(b'{"id":2,"method":"thread/start","params":{}}', 0)
    thread = json.loads(server.lines_to_send(0)[0])["result"]["thread"]["id"]
    assert "no further turn" in refused("turn/start", threadId=thread)
    assert "no active turn" in refused("turn/steer", threadId=thread)
    for method in ("account/read", "account/rateLimits/read", "model/list", "skills/list",
                   "thread/name/set"):  # fmt: skip
        server.receive_line(json.dumps({"id": 3, "method": method}).encode(), 0)
        assert "result" in json.loads(server.lines_to_send(0)[0])
