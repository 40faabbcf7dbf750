"""Messages written as opencode's messages, parts and events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.opencode.playback.calls import ended_state, native_input, native_name
from dragoman.model import messages as m

_BASE = 1_800_000_000_000


class ServerEvent(NamedTuple):
    """An event, and how many seconds it comes after the one before it."""

    after: float
    type: str
    properties: dict[str, Any]
    asks: str | None = None
    """The approval that it waits for."""


class OpencodeEventWriter:
    """Writes the turns of one session, with those of its sub-agents."""

    def __init__(self, own: str | None, session_id: str, agents: Mapping[str, str]) -> None:
        """``own`` is the session in the recording, ``agents`` are the sessions of sub-agents by their calls."""
        self._own = own
        self._session_id = session_id
        self._agents = agents
        self._number = 0
        self._parts: dict[str, str] = {}
        """Our names of texts and thoughts that are being written."""
        self._calls: dict[str, tuple[m.ToolCall, str, str]] = {}
        """Open calls: the call, its part and its message."""
        self._message: dict[str, str] = {}
        """The agent's message that is being written, by session."""
        self._prompts: dict[str, str] = {}
        """The user's message of the running turn, by session."""
        self._model = "recorded"

    def name(self, prefix: str) -> str:
        """A name that sorts behind all earlier ones."""
        self._number += 1
        return f"{prefix}_{self._number:026x}"

    def now(self) -> int:
        return _BASE + self._number

    def info(self, directory: str | None, model: str | None = None) -> dict[str, Any]:
        """The session, as requests are answered."""
        self._model = model or self._model
        time = {"created": _BASE, "updated": _BASE}
        return {"id": self._session_id, "directory": directory or "/", "time": time}

    def turn(
        self, cues: list[TimedMessage], prompt: dict[str, Any] | None
    ) -> Iterator[ServerEvent]:
        """The events of one turn; ``prompt`` is what was really asked."""
        waited = 0.0
        if prompt is not None:
            yield from self._user(self._session_id, prompt["parts"])
        for after, message in cues:
            waited += after
            for event in self._events(message, is_asked=prompt is not None):
                yield event._replace(after=waited)
                waited = 0.0

    def joined(self, parts: list[dict[str, Any]]) -> Iterator[ServerEvent]:
        """A prompt to a turn that is under way."""
        yield from self._user(self._session_id, parts)

    def _events(self, message: m.Message, *, is_asked: bool) -> Iterator[ServerEvent]:
        is_own = message.session_id in (self._own, None)
        session_id = self._session_id if is_own else message.session_id or self._session_id
        match message:
            case m.SessionStarted() if not is_own:
                info = {**self.info(message.cwd), "id": session_id, "parentID": self._session_id}
                yield self._event("session.created", session_id, info=info)
            case m.Prompt():
                if not (is_asked and is_own):
                    yield from self._user(session_id, [{"type": "text", "text": message.text}])
            case m.Text():
                yield from self._said(session_id, "text", message.text, message.message_id)
            case m.Thinking():
                yield from self._said(session_id, "reasoning", message.text, message.item_id)
            case m.Delta():
                yield from self._delta(session_id, message)
            case m.ToolCall():
                yield from self._call(session_id, message)
            case m.ToolResult():
                yield from self._result(session_id, message)
            case m.Plan():
                todos = [{"content": step.text, "status": step.status} for step in message.steps]
                yield self._event("todo.updated", session_id, todos=todos)
            case m.UsageReport() if message.last is not None:
                yield from self._usage(session_id, message.last)
            case m.ApprovalRequested():
                yield self._asked(session_id, message)
            case m.Notice() if message.will_retry:
                status = {"type": "retry", "attempt": 1, "message": message.text}
                yield self._event("session.status", session_id, status=status)
            case m.Compacted():
                yield self._event("session.compacted", session_id)
            case m.Context() if session_id in self._prompts:
                part = {"type": "text", "text": message.text, "synthetic": True}
                yield self._part(session_id, self._prompts[session_id], self.name("prt"), part)
            case m.TurnEnded():
                yield from self.end(session_id, message)
            case _:
                return

    def end(self, session_id: str, ended: m.TurnEnded) -> Iterator[ServerEvent]:
        """How a turn ends."""
        error: dict[str, Any] | None = None
        if ended.outcome == "interrupted":
            error = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
        elif ended.outcome == "failed":
            said = ended.error.message if ended.error else "the turn failed"
            data: dict[str, Any] = {"message": said}
            if ended.error is not None:
                data["isRetryable"] = ended.error.retryable
                status = re.fullmatch(r"HTTP (\d{3})", ended.error.details or "")
                if status is not None:
                    data["statusCode"] = int(status[1])
            error = {"name": (ended.error.native if ended.error else None) or "UnknownError"}
            error["data"] = data
        yield from self._open(session_id)
        if error is not None:
            yield self._event("session.error", session_id, error=error)
        done = {"error": error} if error is not None else {"finish": "stop"}
        message_id = self._message.pop(session_id)
        yield self._agent_message(session_id, message_id, completed=True, **done)
        self._prompts.pop(session_id, None)
        yield self._event("session.status", session_id, status={"type": "idle"})
        yield self._event("session.idle", session_id)

    def _user(self, session_id: str, parts: list[dict[str, Any]]) -> Iterator[ServerEvent]:
        message_id = self._prompts[session_id] = self.name("msg")
        info = {
            "id": message_id,
            "role": "user",
            "sessionID": session_id,
            "time": {"created": self.now()},
        }
        yield self._event("message.updated", session_id, info=info)
        for part in parts:
            yield self._part(session_id, message_id, self.name("prt"), part)

    def _open(self, session_id: str) -> Iterator[ServerEvent]:
        """There must be a message of the agent for its parts."""
        if session_id not in self._message:
            message_id = self._message[session_id] = self.name("msg")
            yield self._agent_message(session_id, message_id)

    def _agent_message(
        self, session_id: str, message_id: str, *, completed: bool = False, **more: Any
    ) -> ServerEvent:
        time = {"created": self.now(), **({"completed": self.now()} if completed else {})}
        info = {"id": message_id, "role": "assistant", "sessionID": session_id, "time": time}
        info |= {"modelID": self._model, **more}
        return self._event("message.updated", session_id, info=info)

    def _said(
        self, session_id: str, kind: str, text: str, name: str | None
    ) -> Iterator[ServerEvent]:
        yield from self._open(session_id)
        part_id = self._parts.pop(name or "", None) or self.name("prt")
        time = {"start": self.now(), "end": self.now()}
        part = {"type": kind, "text": text, "time": time}
        yield self._part(session_id, self._message[session_id], part_id, part)

    def _delta(self, session_id: str, message: m.Delta) -> Iterator[ServerEvent]:
        if message.of not in ("text", "thinking"):
            return
        yield from self._open(session_id)
        name = message.message_id or ""
        part_id = self._parts.get(name)
        if part_id is None:
            part_id = self._parts[name] = self.name("prt")
            kind = "text" if message.of == "text" else "reasoning"
            part = {"type": kind, "text": "", "time": {"start": self.now()}}
            yield self._part(session_id, self._message[session_id], part_id, part)
        yield self._event(
            "message.part.delta",
            session_id,
            messageID=self._message[session_id],
            partID=part_id,
            field="text",
            delta=message.text,
        )

    def _call(self, session_id: str, call: m.ToolCall) -> Iterator[ServerEvent]:
        yield from self._open(session_id)
        part_id, message_id = self.name("prt"), self._message[session_id]
        self._calls[call.call_id] = call, part_id, message_id
        state = {
            "status": "running",
            "input": native_input(call),
            "time": {"start": self.now()},
        }
        yield self._tool(session_id, call, part_id, message_id, state)

    def _result(self, session_id: str, result: m.ToolResult) -> Iterator[ServerEvent]:
        known = self._calls.pop(result.call_id, None)
        if known is not None:
            call, part_id, message_id = known
            state = ended_state(call, result, self.now(), self._agents.get(result.call_id))
            yield self._tool(session_id, call, part_id, message_id, state)

    def _tool(
        self,
        session_id: str,
        call: m.ToolCall,
        part_id: str,
        message_id: str,
        state: dict[str, Any],
    ) -> ServerEvent:
        part = {
            "type": "tool",
            "callID": call.call_id,
            "tool": native_name(call),
            "state": state,
        }
        return self._part(session_id, message_id, part_id, part)

    def _usage(self, session_id: str, last: Any) -> Iterator[ServerEvent]:
        yield from self._open(session_id)
        tokens = {
            "input": last.input_tokens - last.cached_input_tokens - last.cache_write_input_tokens,
            "output": last.output_tokens - last.reasoning_output_tokens,
            "reasoning": last.reasoning_output_tokens,
            "cache": {"read": last.cached_input_tokens, "write": last.cache_write_input_tokens},
        }
        part = {"type": "step-finish", "reason": "tool-calls", "tokens": tokens, "cost": 0}
        message_id = self._message.pop(session_id)
        yield self._part(session_id, message_id, self.name("prt"), part)
        yield self._agent_message(session_id, message_id, completed=True, finish="tool-calls")

    def _asked(self, session_id: str, asked: m.ApprovalRequested) -> ServerEvent:
        name = asked.approval_id
        if asked.kind == "question":
            questions = [
                {
                    "question": each.get("question"),
                    "header": each.get("header"),
                    "options": each.get("options"),
                    "multiple": each.get("multi_select"),
                }
                for each in asked.detail.get("questions", ())
            ]
            asking = self._event("question.asked", session_id, id=name, questions=questions)
            return asking._replace(asks=name)
        metadata: dict[str, Any] = {}
        permission = asked.tool or "tool"
        if asked.kind == "command":
            permission, metadata = "bash", {"command": asked.command or asked.summary}
        elif asked.kind == "edit":
            permission, metadata = "edit", {"filepath": asked.summary}
        asking = self._event(
            "permission.asked",
            session_id,
            id=name,
            permission=permission,
            patterns=[asked.summary],
            metadata=metadata,
            always=asked.detail.get("always", []),
            tool={"messageID": "", "callID": asked.detail.get("call_id")},
        )
        return asking._replace(asks=name)

    def _part(
        self, session_id: str, message_id: str, part_id: str, part: dict[str, Any]
    ) -> ServerEvent:
        own = {"id": part_id, "messageID": message_id, "sessionID": session_id}
        return self._event(
            "message.part.updated", session_id, part={**part, **own}, time=self.now()
        )

    def _event(self, kind: str, session_id: str, **properties: Any) -> ServerEvent:
        return ServerEvent(0.0, kind, {"sessionID": session_id, **properties})
