"""Session files for tests of the archive, written row by row as the real program writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_START = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)


def session_id(number: int) -> str:
    return f"01a1e150-{number:04x}-7a30-8813-{number:012x}"


def file_name(number: int, suffix: str = ".jsonl") -> str:
    return f"sessions/2026/11/15/rollout-2026-11-15T09-00-00-{session_id(number)}{suffix}"


class Rows:
    """One session's rows."""

    def __init__(self, number: int = 1, *, cwd: str = "/work/app", **meta: Any) -> None:
        self.id = session_id(number)
        self._cwd = cwd
        self._at = _START + timedelta(hours=number)
        self._turn = 0
        self._calls = 0
        self.data = b""
        header = {"id": self.id, "cwd": cwd, "cli_version": "0.142.0", "source": "exec", **meta}
        self.row("session_meta", header)

    def row(self, kind: str, payload: dict[str, Any]) -> Rows:
        self._at += timedelta(milliseconds=250)
        at = self._at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        row = {"timestamp": at, "type": kind, "payload": payload}
        self.data += json.dumps(row, ensure_ascii=False).encode() + b"\n"
        return self

    @property
    def at(self) -> datetime:
        """When the last row was written."""
        return self._at

    def wait(self, time: timedelta) -> Rows:
        """Say nothing for a while."""
        self._at += time
        return self

    def event(self, kind: str, **fields: Any) -> Rows:
        return self.row("event_msg", {"type": kind, **fields})

    def begin(self, prompt: str) -> Rows:
        """Begin a turn."""
        self._turn += 1
        self.turn_id = f"01a1e150-b415-7001-{self._turn:04x}-{self.id[-12:]}"
        self.event("task_started", turn_id=self.turn_id, model_context_window=1000)
        context = {"turn_id": self.turn_id, "cwd": self._cwd, "model": "gpt-5.5"}
        self.row("turn_context", context)
        content = [{"type": "input_text", "text": prompt}]
        self.row("response_item", {"type": "message", "role": "user", "content": content})
        return self.event("user_message", message=prompt, images=[])

    def run(self, command: str, output: str, code: int = 0) -> Rows:
        self._calls += 1
        call = f"call_{self._calls}"
        arguments = json.dumps({"cmd": command})
        given = {"name": "exec_command", "arguments": arguments, "call_id": call}
        self.row("response_item", {"type": "function_call", **given})
        text = f"Chunk ID: b9\nWall time: 0.04 seconds\nProcess exited with code {code}\nOutput:\n{output}"
        told = {"type": "function_call_output", "call_id": call, "output": text}
        return self.row("response_item", told)

    def say(self, text: str) -> Rows:
        self.event("agent_message", message=text, phase="final_answer")
        content = [{"type": "output_text", "text": text}]
        told = {"type": "message", "role": "assistant", "phase": "final_answer"}
        return self.row("response_item", {**told, "content": content})

    def spend(self, tokens: int) -> Rows:
        names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
        last = dict(zip(names, (tokens, 0, tokens // 10, 0), strict=True))
        total = {name: count * self._turn for name, count in last.items()}
        info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": 1000}
        return self.event("token_count", info=info, rate_limits=None)

    def end(self) -> Rows:
        return self.event("task_complete", turn_id=self.turn_id, last_agent_message="")

    def turn(self, prompt: str, answer: str, *commands: tuple[str, str]) -> Rows:
        """A whole turn."""
        self.begin(prompt)
        for command, output in commands:
            self.run(command, output)
        return self.say(answer).spend(100).end()


def save(home: Path, number: int, data: bytes, suffix: str = ".jsonl") -> Path:
    path = home / file_name(number, suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def simple(number: int = 1, words: Sequence[str] = ("hello",)) -> bytes:
    """A session with a turn for each of these words."""
    rows = Rows(number)
    for word in words:
        rows.turn(f"please {word}", f"done with {word}", (f"echo {word}", f"output of {word}\n"))
    return rows.data
