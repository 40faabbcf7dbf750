"""A corpus of rollouts in the shape of real ones, made here: ``python benchmarks/corpus.py DIR MB``.

Half of the sessions are legacy (as 0.142 writes them), half paginated (as 0.166 does). The rows, their
order and their fields are those of the recordings; the sizes are those of working sessions: about
twelve model responses a turn, each with a summary of reasoning and its encrypted form, a command with
a few kilobytes of output (log-normal, at most 40 KB, as Codex cuts it), now and then a patch, a text, a
plan. Bodies are pieces of Python's own library, so that escapes and characters are those of code.
"""

from __future__ import annotations

import base64
import json
import random
import sys
import sysconfig
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_START = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)


def bodies() -> str:
    """Some megabytes of code to cut pieces from."""
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(library.glob("*.py"))[:120]
    return "".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


class Session:
    """One rollout being written."""

    def __init__(self, seed: int, pool: str, *, paginated: bool) -> None:
        self._random = random.Random(seed)
        self._pool = pool
        self._paginated = paginated
        self._at = _START + timedelta(minutes=seed)
        self._ordinal = 0
        self._count = 0
        self._total = dict.fromkeys(_TOKENS, 0)
        self.id = f"01a1e150-{seed:04x}-7a30-8813-{seed:012x}"
        self._turn = ""

    def rows(self, turns: int) -> Iterator[bytes]:
        yield self._meta()
        for number in range(turns):
            yield from self._one_turn(number)

    # Pieces.

    def _text(self, size: float) -> str:
        length = max(20, int(size))
        start = self._random.randrange(len(self._pool) - length)
        return self._pool[start : start + length]

    def _size(self, median: float, most: float) -> float:
        return min(self._random.lognormvariate(0, 1.1) * median, most)

    def _id(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}_{self.id[-4:]}{self._count:06d}"

    def _row(self, kind: str, payload: dict[str, Any]) -> bytes:
        self._at += timedelta(milliseconds=self._random.randrange(5, 900))
        row: dict[str, Any] = {"timestamp": self._at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"}
        if self._paginated:
            row["ordinal"] = self._ordinal
            self._ordinal += 1
        row |= {"type": kind, "payload": payload}
        return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def _item(self, item: dict[str, Any]) -> bytes:
        now = int(self._at.timestamp() * 1000)
        return self._row(
            "event_msg",
            {"type": "item_completed", "thread_id": self.id, "turn_id": self._turn, "item": item,
             "started_at_ms": now - 40, "completed_at_ms": now},
        )  # fmt: skip

    def _response(self, item: dict[str, Any]) -> bytes:
        if self._paginated:
            item["internal_chat_message_metadata_passthrough"] = {"turn_id": self._turn}
        return self._row("response_item", item)

    # Rows.

    def _meta(self) -> bytes:
        payload: dict[str, Any] = {
            "session_id": self.id, "id": self.id, "timestamp": self._at.isoformat(), "cwd": "/workspace",
            "originator": "codex_exec", "cli_version": "0.166.0" if self._paginated else "0.142.0",
            "source": "exec", "model_provider": "openai",
            "base_instructions": {"text": self._text(21000)},
        }  # fmt: skip
        if self._paginated:
            payload["history_mode"] = "paginated"
        return self._row("session_meta", payload)

    def _one_turn(self, number: int) -> Iterator[bytes]:
        self._turn = f"01a1e150-b415-7001-{number:04x}-{self.id[-12:]}"
        event = "event_msg"
        yield self._row(event, {"type": "task_started", "turn_id": self._turn, "started_at": 1794781525,
                                "model_context_window": 258400, "collaboration_mode_kind": "default"})  # fmt: skip
        if number == 0:
            for _ in range(3):
                yield self._message("developer", "<permissions instructions>\n" + self._text(4000))
            yield self._message(
                "user", "<environment_context>\n  <cwd>/workspace</cwd>\n</environment_context>"
            )
        if self._paginated:
            yield self._row(
                "world_state",
                {"full": number == 0, "state": {"host_skills": {"body": self._text(4500)}}},
            )
        yield self._row("turn_context", {"turn_id": self._turn, "cwd": "/workspace", "approval_policy": "never",
                                         "sandbox_policy": {"type": "danger-full-access"}, "model": "gpt-5.5",
                                         "collaboration_mode": {"mode": "default", "settings": {"model": "gpt-5.5"}},
                                         "summary": "auto"})  # fmt: skip
        yield from self._prompt(self._text(self._size(300, 4000)))
        for _ in range(self._random.randrange(6, 18)):
            yield from self._one_response()
        last = self._text(self._size(900, 6000))
        yield from self._says(last, "final_answer")
        yield from self._spends()
        yield self._row(event, {"type": "task_complete", "turn_id": self._turn, "last_agent_message": last,
                                "completed_at": 1794781599, "duration_ms": 74000})  # fmt: skip

    def _message(self, role: str, text: str, **more: Any) -> bytes:
        kind = "output_text" if role == "assistant" else "input_text"
        return self._response({"type": "message", "id": self._id("msg"), "role": role,
                               "content": [{"type": kind, "text": text}], **more})  # fmt: skip

    def _prompt(self, text: str) -> Iterator[bytes]:
        yield self._message("user", text)
        if self._paginated:
            yield self._item({"type": "UserMessage", "id": self._id("item"),
                              "content": [{"type": "text", "text": text, "text_elements": []}]})  # fmt: skip
        else:
            yield self._row("event_msg", {"type": "user_message", "message": text, "images": [],
                                          "local_images": [], "text_elements": []})  # fmt: skip

    def _one_response(self) -> Iterator[bytes]:
        summary, secret = (
            self._text(self._size(260, 1500)),
            self._random.randbytes(int(self._size(900, 5000))),
        )
        reasoning = {"type": "reasoning", "id": self._id("rs"), "summary": [{"type": "summary_text", "text": summary}],
                     "content": None, "encrypted_content": base64.b64encode(secret).decode()}  # fmt: skip
        if self._paginated:
            yield self._item(
                {
                    "type": "Reasoning",
                    "id": reasoning["id"],
                    "summary_text": [summary],
                    "raw_content": [],
                }
            )
        else:
            yield self._row("event_msg", {"type": "agent_reasoning", "text": summary})
        yield self._response(reasoning)
        if self._random.random() < 0.3:
            yield from self._says(self._text(self._size(250, 2000)), "commentary")
        if self._random.random() < 0.15:
            yield from self._patches()
        else:
            for _ in range(self._random.choice((1, 1, 1, 2))):
                yield from self._runs()
        yield from self._spends()

    def _says(self, text: str, phase: str) -> Iterator[bytes]:
        message = self._id("msg")
        if self._paginated:
            yield self._item(
                {
                    "type": "AgentMessage",
                    "id": message,
                    "content": [{"type": "Text", "text": text}],
                    "phase": phase,
                }
            )
        else:
            yield self._row(
                "event_msg",
                {"type": "agent_message", "message": text, "phase": phase, "memory_citation": None},
            )
        yield self._response({"type": "message", "id": message, "role": "assistant", "phase": phase,
                              "content": [{"type": "output_text", "text": text}]})  # fmt: skip

    def _runs(self) -> Iterator[bytes]:
        call, command = (
            self._id("call"),
            f"rg -n {self._text(30)!r} src | head -{self._random.randrange(99)}",
        )
        output, failed = self._text(self._size(2600, 40000)), self._random.random() < 0.08
        code = 1 if failed else 0
        arguments = json.dumps({"cmd": command, "workdir": "/workspace", "yield_time_ms": 10000})
        yield self._response({"type": "function_call", "id": self._id("fc"), "name": "exec_command",
                              "arguments": arguments, "call_id": call})  # fmt: skip
        if self._paginated:
            yield self._item({"type": "CommandExecution", "id": call, "process_id": "77361",
                              "command": ["/bin/bash", "-lc", command], "cwd": "file:///workspace",
                              "parsed_cmd": [{"type": "unknown", "cmd": command}], "source": "unified_exec_startup",
                              "status": "failed" if failed else "completed", "aggregated_output": output,
                              "exit_code": code, "duration": {"secs": 0, "nanos": 40585123}})  # fmt: skip
        header = (f"Chunk ID: b9cdf1\nWall time: 0.0406 seconds\nProcess exited with code {code}\n"
                  f"Original token count: {len(output) // 4}\nOutput:\n")  # fmt: skip
        yield self._response(
            {"type": "function_call_output", "call_id": call, "output": header + output}
        )

    def _patches(self) -> Iterator[bytes]:
        call, old, new = (
            self._id("call"),
            self._text(self._size(300, 2000)),
            self._text(self._size(400, 3000)),
        )
        hunk = "".join(f"-{line}\n" for line in old.split("\n")) + "".join(
            f"+{line}\n" for line in new.split("\n")
        )
        patch = f"*** Begin Patch\n*** Update File: src/module.py\n@@\n{hunk}*** End Patch"
        done = "Success. Updated the following files:\nM src/module.py\n"
        changes = {
            "/workspace/src/module.py": {
                "type": "update",
                "unified_diff": f"@@ -1,9 +1,9 @@\n{hunk}",
                "move_path": None,
            }
        }
        yield self._response({"type": "custom_tool_call", "id": self._id("ctc"), "status": "completed", "call_id": call,
                              "name": "apply_patch", "input": patch})  # fmt: skip
        if self._paginated:
            yield self._item({"type": "FileChange", "id": call, "changes": changes, "status": "completed",
                              "stdout": done, "stderr": ""})  # fmt: skip
        else:
            yield self._row("event_msg", {"type": "patch_apply_end", "call_id": call, "turn_id": self._turn, "stdout": done,
                                          "stderr": "", "success": True, "changes": changes, "status": "completed"})  # fmt: skip
        yield self._response({"type": "custom_tool_call_output", "call_id": call,
                              "output": f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{done}"})  # fmt: skip

    def _spends(self) -> Iterator[bytes]:
        grown = self._random.randrange(900, 4000)
        last = dict(
            zip(
                _TOKENS,
                (grown * 9, grown * 8, 0, grown // 8, grown // 20, grown * 9 + grown // 8),
                strict=True,
            )
        )
        self._total = {name: self._total[name] + last[name] for name in _TOKENS}
        if self._paginated:
            yield self._row("token_usage_record", {"thread_id": self.id, "turn_id": self._turn, "session_id": self.id,
                                                   "root_turn_id": self._turn, "response_id": self._id("resp"), "usage": last,
                                                   "turn_token_usage": last, "thread_token_usage": self._total})  # fmt: skip
        windows = {
            "used_percent": float(self._count // 400),
            "window_minutes": 300,
            "resets_at": 1794799999,
        }
        yield self._row("event_msg", {"type": "token_count", "info": {"total_token_usage": self._total, "last_token_usage": last,
                                                                      "model_context_window": 258400},
                                      "rate_limits": {"limit_id": "codex", "limit_name": None, "primary": windows,
                                                      "secondary": None, "credits": None, "plan_type": "pro"}})  # fmt: skip


_TOKENS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens",
           "reasoning_output_tokens", "total_tokens")  # fmt: skip


def make(folder: Path, megabytes: int) -> list[Path]:
    """Write sessions until they are this large together; give their paths. The same every time."""
    folder.mkdir(parents=True, exist_ok=True)
    pool = bodies()
    paths: list[Path] = []
    written = seed = 0
    while written < megabytes * 1_000_000:
        paginated = seed % 2 == 1
        path = folder / f"rollout-{'paginated' if paginated else 'legacy'}-{seed:05d}.jsonl"
        with path.open("wb") as file:
            file.writelines(Session(seed, pool, paginated=paginated).rows(turns=20 + seed % 30))
        written += path.stat().st_size
        paths.append(path)
        seed += 1
    return paths


def main() -> int:
    if len(sys.argv) != 3 or not sys.argv[2].isdigit():
        print("usage: python benchmarks/corpus.py DIR MEGABYTES", file=sys.stderr)
        return 2
    paths = make(Path(sys.argv[1]), int(sys.argv[2]))
    size = sum(path.stat().st_size for path in paths)
    print(f"{len(paths)} sessions, {size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
