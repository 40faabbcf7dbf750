"""One session of the corpus, row by row, as 0.142 (legacy) or 0.166 (paginated) writes it."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from corpus_prose import prose

_START = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)
_CONTEXT = 700_000
"""How many characters a session may say before it is compacted."""
_LOOKS = 0.25
"""How many outputs have no header."""
_TOKENS = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)


class Session:
    """One rollout being written."""

    def __init__(self, seed: int, pool: str, *, paginated: bool) -> None:
        self._random = random.Random(seed)
        self._pool = pool
        self._paginated = paginated
        self._at = _START + timedelta(minutes=seed)
        self._ordinal = 0
        self._count = 0
        self._said = 0
        self._total = dict.fromkeys(_TOKENS, 0)
        self.id = f"01a1e150-{seed:04x}-7a30-8813-{seed:012x}"
        self._turn = ""

    def rows(self) -> Iterator[bytes]:
        """Rows without end: take as many as you want."""
        yield self._meta()
        number = 0
        while True:
            yield from self._one_turn(number)
            number += 1

    # Pieces.

    def _text(self, size: float) -> str:
        length = max(20, int(size))
        self._said += length
        start = self._random.randrange(len(self._pool) - length)
        return self._pool[start : start + length]

    def _prose(self, size: float) -> str:
        """What somebody says: mostly prose in some language, with a piece of code in it."""
        length = max(20, int(size))
        self._said += length
        said = prose(self._random, max(20, length * 2 // 3))
        left = length - len(said)
        return f"{said}\n{self._text(left)}" if left > 60 else said

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

    def _event(self, kind: str, **fields: Any) -> bytes:
        return self._row("event_msg", {"type": kind, **fields})

    def _item(self, kind: str, item_id: str, **fields: Any) -> bytes:
        now = int(self._at.timestamp() * 1000)
        return self._event(
            "item_completed",
            thread_id=self.id,
            turn_id=self._turn,
            item={"type": kind, "id": item_id, **fields},
            started_at_ms=now - 40,
            completed_at_ms=now,
        )

    def _response(self, kind: str, **fields: Any) -> bytes:
        if self._paginated:
            fields["internal_chat_message_metadata_passthrough"] = {"turn_id": self._turn}
        return self._row("response_item", {"type": kind, **fields})

    # Rows.

    def _meta(self) -> bytes:
        payload: dict[str, Any] = {
            "session_id": self.id,
            "id": self.id,
            "timestamp": self._at.isoformat(),
            "cwd": "/workspace",
            "originator": "codex_exec",
            "cli_version": "0.166.0" if self._paginated else "0.142.0",
            "source": "exec",
            "model_provider": "openai",
            "base_instructions": {"text": self._text(21000)},
        }
        if self._paginated:
            payload["history_mode"] = "paginated"
        return self._row("session_meta", payload)

    def _one_turn(self, number: int) -> Iterator[bytes]:
        self._turn = f"01a1e150-b415-7001-{number:04x}-{self.id[-12:]}"
        yield self._event(
            "task_started",
            turn_id=self._turn,
            started_at=1794781525,
            model_context_window=258400,
            collaboration_mode_kind="default",
        )
        if self._said > _CONTEXT:
            yield from self._compacts()
        if number == 0:
            for text in self._instructions():
                yield self._message("developer", text)
        if self._paginated:
            state = {"host_skills": {"body": self._text(4500)}}
            yield self._row("world_state", {"full": number == 0, "state": state})
        yield self._row(
            "turn_context",
            {
                "turn_id": self._turn,
                "cwd": "/workspace",
                "approval_policy": "never",
                "sandbox_policy": {"type": "danger-full-access"},
                "model": "gpt-5.5",
                "collaboration_mode": {"mode": "default", "settings": {"model": "gpt-5.5"}},
                "summary": "auto",
            },
        )
        yield from self._prompt(self._prose(self._size(300, 4000)))
        for _ in range(self._random.randrange(6, 18)):
            yield from self._one_response()
        last = self._prose(self._size(900, 6000))
        yield from self._says(last, "final_answer")
        yield from self._spends()
        yield self._event(
            "task_complete",
            turn_id=self._turn,
            last_agent_message=last,
            completed_at=1794781599,
            duration_ms=74000,
        )

    def _instructions(self) -> list[str]:
        injected = [f"<permissions instructions>\n{self._text(4000)}" for _ in range(3)]
        return [*injected, "<environment_context>\n  <cwd>/workspace</cwd>\n</environment_context>"]

    def _message(self, role: str, text: str) -> bytes:
        content = [{"type": "input_text", "text": text}]
        return self._response("message", id=self._id("msg"), role=role, content=content)

    def _prompt(self, text: str) -> Iterator[bytes]:
        yield self._message("user", text)
        if self._paginated:
            content: list[dict[str, Any]] = [{"type": "text", "text": text, "text_elements": []}]
            yield self._item("UserMessage", self._id("item"), content=content)
        else:
            yield self._event("user_message", message=text, images=[], local_images=[])

    def _compacts(self) -> Iterator[bytes]:
        """The history is replaced by instructions, the newest prompts and a summary."""
        self._said = 0
        texts = [*self._instructions(), *(self._text(self._size(600, 6000)) for _ in range(12))]
        history = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
            for text in texts
        ]
        summary = self._prose(3500)
        yield self._row("compacted", {"message": summary, "replacement_history": history})
        if self._paginated:
            yield self._item("ContextCompaction", self._id("item"))
        else:
            yield self._event("context_compacted")

    def _one_response(self) -> Iterator[bytes]:
        summary = self._prose(self._size(260, 1500))
        secret = base64.b64encode(self._random.randbytes(int(self._size(900, 5000)))).decode()
        name = self._id("rs")
        if self._paginated:
            yield self._item("Reasoning", name, summary_text=[summary], raw_content=[])
        else:
            yield self._event("agent_reasoning", text=summary)
        parts = [{"type": "summary_text", "text": summary}]
        yield self._response(
            "reasoning", id=name, summary=parts, content=None, encrypted_content=secret
        )
        if self._random.random() < 0.3:
            yield from self._says(self._prose(self._size(250, 2000)), "commentary")
        if self._random.random() < 0.15:
            yield from self._patches()
        else:
            for _ in range(self._random.choice((1, 1, 1, 2))):
                yield from self._looks() if self._random.random() < _LOOKS else self._runs()
        yield from self._spends()

    def _says(self, text: str, phase: str) -> Iterator[bytes]:
        name = self._id("msg")
        if self._paginated:
            content = [{"type": "Text", "text": text}]
            yield self._item("AgentMessage", name, content=content, phase=phase)
        else:
            yield self._event("agent_message", message=text, phase=phase, memory_citation=None)
        content = [{"type": "output_text", "text": text}]
        yield self._response("message", id=name, role="assistant", phase=phase, content=content)

    def _runs(self) -> Iterator[bytes]:
        call = self._id("call")
        command = f"rg -n {self._text(30)!r} src | head -{self._random.randrange(99)}"
        output = self._text(self._size(2600, 40000))
        code = 1 if self._random.random() < 0.08 else 0
        arguments = json.dumps({"cmd": command, "workdir": "/workspace", "yield_time_ms": 10000})
        yield self._response(
            "function_call",
            id=self._id("fc"),
            name="exec_command",
            arguments=arguments,
            call_id=call,
        )
        if self._paginated:
            yield self._item(
                "CommandExecution",
                call,
                process_id="77361",
                command=["/bin/bash", "-lc", command],
                cwd="file:///workspace",
                parsed_cmd=[{"type": "unknown", "cmd": command}],
                source="unified_exec_startup",
                status="failed" if code else "completed",
                aggregated_output=output,
                exit_code=code,
                duration={"secs": 0, "nanos": 40585123},
            )
        header = (
            f"Chunk ID: b9cdf1\nWall time: 0.0406 seconds\nProcess exited with code {code}\n"
            f"Original token count: {len(output) // 4}\nOutput:\n"
        )
        yield self._response(
            "function_call_output", id=self._id("fco"), call_id=call, output=header + output
        )

    def _looks(self) -> Iterator[bytes]:
        """A tool whose output has no header, and that no item or event repeats."""
        call = self._id("call")
        arguments = json.dumps({"file_path": "/workspace/src/module.py", "offset": 1})
        yield self._response(
            "function_call", id=self._id("fc"), name="read_file", arguments=arguments, call_id=call
        )
        output = self._text(self._size(2600, 40000))
        yield self._response(
            "function_call_output", id=self._id("fco"), call_id=call, output=output
        )

    def _patches(self) -> Iterator[bytes]:
        call = self._id("call")
        old, new = self._text(self._size(300, 2000)), self._text(self._size(400, 3000))
        hunk = "".join(f"-{line}\n" for line in old.split("\n"))
        hunk += "".join(f"+{line}\n" for line in new.split("\n"))
        patch = f"*** Begin Patch\n*** Update File: src/module.py\n@@\n{hunk}*** End Patch"
        done = "Success. Updated the following files:\nM src/module.py\n"
        change = {"type": "update", "unified_diff": f"@@ -1,9 +1,9 @@\n{hunk}", "move_path": None}
        changes = {"/workspace/src/module.py": change}
        yield self._response(
            "custom_tool_call",
            id=self._id("ctc"),
            status="completed",
            call_id=call,
            name="apply_patch",
            input=patch,
        )
        told = {"changes": changes, "status": "completed", "stdout": done, "stderr": ""}
        if self._paginated:
            yield self._item("FileChange", call, **told)
        else:
            end = {"call_id": call, "turn_id": self._turn, "success": True, **told}
            yield self._event("patch_apply_end", **end)
        output = f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{done}"
        yield self._response(
            "custom_tool_call_output", id=self._id("ctco"), call_id=call, output=output
        )

    def _spends(self) -> Iterator[bytes]:
        grown = self._random.randrange(900, 4000)
        counts = (grown * 9, grown * 8, 0, grown // 8, grown // 20, grown * 9 + grown // 8)
        last = dict(zip(_TOKENS, counts, strict=True))
        self._total = {name: self._total[name] + last[name] for name in _TOKENS}
        if self._paginated:
            record = {
                "thread_id": self.id,
                "turn_id": self._turn,
                "session_id": self.id,
                "root_turn_id": self._turn,
                "response_id": self._id("resp"),
                "usage": last,
                "turn_token_usage": last,
                "thread_token_usage": self._total,
            }
            yield self._row("token_usage_record", record)
        info = {
            "total_token_usage": self._total,
            "last_token_usage": last,
            "model_context_window": 258400,
        }
        used = {
            "used_percent": round(self._count * 0.013 % 100, 2),
            "window_minutes": 300,
            "resets_at": 1794799999 + self._count // 50,
        }
        limits = {"limit_id": "codex", "limit_name": None, "primary": used, "secondary": None,
                  "credits": None, "plan_type": "pro"}  # fmt: skip
        yield self._event("token_count", info=info, rate_limits=limits)
