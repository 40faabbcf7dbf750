"""Drives the real programs by hand, line by line, so that one test can play a script on both of them.

Each runs in a process group of its own. At the end it is asked to end, so that it can end its commands; what is
then left of the group, or has the rehearsal's home in its environment, is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import uuid
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Protocol

from dragoman.rehearsal import Rehearsal
from dragoman.rehearsal.program import find_bundled
from support.agents.onlookers import marked

SECONDS = 60
GRACE_SECONDS = 10
Event = tuple[str, Any]
"""``said`` a text, ``calls`` a tool, ``asks`` for approval, ``steered``, ``ended`` well or not."""


class ByHand(Protocol):
    """A running agent."""

    session: str

    def prompt(self, text: str) -> None: ...
    def steer(self, text: str) -> None: ...
    def interrupt(self) -> None: ...
    def approve(self, request: Any) -> None: ...
    def until(self, kind: str) -> list[Event]: ...


class _Lines:
    """A program that speaks lines of JSON; it is gone at the end, whatever happens."""

    def __init__(self, command: list[str], stage: Rehearsal, folder: Path) -> None:
        pipe = subprocess.PIPE
        self._home = str(stage.home)
        self._child = subprocess.Popen(
            command,
            env=_environment(stage),
            cwd=folder,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        self._alarm = threading.Timer(SECONDS, self._kill)
        self._alarm.start()

    def send(self, **message: Any) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(message).encode() + b"\n")
        self._child.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        assert line, "the program has ended"
        return json.loads(line)

    def read_until(self, kind: str, events: Callable[[dict[str, Any]], list[Event]]) -> list[Event]:
        seen: list[Event] = []
        while not seen or seen[-1][0] != kind:
            seen += events(self.receive())
        return seen

    def close(self) -> None:
        with self._child:
            self._child.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(GRACE_SECONDS)
            self._alarm.cancel()
            self._kill()
        for left in marked(self._home):
            with contextlib.suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)


class _Claude:
    """``claude -p`` with stream-json on both sides."""

    def __init__(self, program: str, stage: Rehearsal, folder: Path, session: str | None) -> None:
        self.session = session or str(uuid.uuid4())
        form = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        who = ["--resume" if session else "--session-id", self.session]
        ask = ["--permission-prompt-tool", "stdio"]
        self.lines = _Lines([program, "-p", *form, *who, *ask], stage, folder)

    def prompt(self, text: str) -> None:
        message = {"role": "user", "content": text}
        ident = str(uuid.uuid4())
        self.lines.send(type="user", message=message, parent_tool_use_id=None, uuid=ident)

    steer = prompt

    def interrupt(self) -> None:
        request = {"subtype": "interrupt"}
        self.lines.send(type="control_request", request_id="stop", request=request)

    def approve(self, request: Any) -> None:
        yes = {"behavior": "allow", "updatedInput": request["request"]["input"]}
        answer = {"subtype": "success", "request_id": request["request_id"], "response": yes}
        self.lines.send(type="control_response", response=answer)

    def until(self, kind: str) -> list[Event]:
        return self.lines.read_until(kind, self._events)

    def _events(self, line: dict[str, Any]) -> list[Event]:
        match line["type"]:
            case "assistant" if line["parent_tool_use_id"] is None:
                blocks = line["message"]["content"]
                said = [("said", block["text"]) for block in blocks if block["type"] == "text"]
                return said + [("calls", b["name"]) for b in blocks if b["type"] == "tool_use"]
            case "control_request":
                return [("asks", line)]
            case "prompt_suggestion":
                return [("suggests", line["suggestion"])]
            case "command_lifecycle" if line.get("state") == "queued":
                return [("steered", None)]
            case "result":
                return [("ended", line["subtype"] == "success" and not line["is_error"])]
            case _:
                return []


class _Codex:
    """``codex app-server``."""

    def __init__(self, program: str, stage: Rehearsal, folder: Path, session: str | None) -> None:
        self.lines = _Lines([program, "app-server"], stage, folder)
        client = {"name": "test", "version": "1"}
        self.lines.send(id=0, method="initialize", params={"clientInfo": client})
        self.lines.send(method="initialized")
        method = "thread/resume" if session else "thread/start"
        params = {"cwd": str(folder), **({"threadId": session} if session else {})}
        self.lines.send(id=1, method=method, params=params)
        while (line := self.lines.receive()).get("id") != 1:
            pass
        self.session = line["result"]["thread"]["id"]
        self._turn = ""

    def _request(self, ident: str, method: str, text: str | None = None, **params: Any) -> None:
        if text is not None:
            params["input"] = [{"type": "text", "text": text}]
        self.lines.send(id=ident, method=method, params={"threadId": self.session, **params})

    def prompt(self, text: str) -> None:
        self._request("prompt", "turn/start", text)

    def steer(self, text: str) -> None:
        self._request("steer", "turn/steer", text, expectedTurnId=self._turn)

    def interrupt(self) -> None:
        self._request("stop", "turn/interrupt", turnId=self._turn)

    def approve(self, request: Any) -> None:
        self.lines.send(id=request["id"], result={"decision": "accept"})

    def until(self, kind: str) -> list[Event]:
        return self.lines.read_until(kind, self._events)

    def _events(self, line: dict[str, Any]) -> list[Event]:
        params = line.get("params", {})
        if params.get("threadId", self.session) != self.session:
            return []  # a helper's
        match line.get("method"):
            case "turn/started":
                self._turn = params["turn"]["id"]
            case "item/started" if params["item"]["type"] == "commandExecution":
                return [("calls", "commandExecution")]
            case "item/completed" if params["item"]["type"] == "agentMessage":
                return [("said", params["item"]["text"])]
            case "item/commandExecution/requestApproval":
                return [("asks", line)]
            case "turn/completed":
                return [("ended", params["turn"]["status"] == "completed")]
            case _ if line.get("id") == "steer":
                return [("steered", None)]
            case _:
                pass
        return []


def program_of(agent: str) -> str:
    """The program that the development install brings, whatever is on the PATH."""
    program = find_bundled(agent)
    assert program is not None, f"{agent} is not installed: run `make .venv/ready`"
    return program


def _environment(stage: Rehearsal) -> dict[str, str]:
    # Login shells must not run the developer's profile.
    return {**stage.environ, "HOME": str(stage.home)}


@contextlib.contextmanager
def by_hand(
    agent: str, stage: Rehearsal, folder: Path, session: str | None = None
) -> Generator[ByHand]:
    """A running agent, with a new session or an old one."""
    program = program_of(agent)
    running = (_Claude if agent == "claude" else _Codex)(program, stage, folder, session)
    try:
        yield running
    finally:
        running.lines.close()
