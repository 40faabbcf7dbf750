"""What the tests of hand-off share: sessions to hand off, written sessions read again, and what they have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dragoman.harnesses import harness
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.writer import (
    HandedConversation,
    HandedTurn,
    Loss,
    NewSession,
    SourceSession,
    Writer,
    WrittenSession,
)
from dragoman.harnesses.writing.conversation import conversation_of
from dragoman.harnesses.writing.edits import changes_in
from dragoman.harnesses.writing.words import has_failed, output_of, was_declined
from dragoman.model.messages import Message, Plan, Prompt, Text, Thinking, ToolCall, ToolResult
from dragoman.model.tools import BASH, EDIT, TODO_WRITE, WRITE
from dragoman.model.turns import Use
from dragoman.reading.read import read

AT = datetime(2026, 11, 19, 8, 30, 0, 250_000, tzinfo=UTC)
DATA = Path(__file__).parents[1] / "data"
RECORDINGS = {
    "codex": ("codex/codex-rollout*/*/wire.jsonl", "codex/conversations/*.jsonl"),
    "claude": ("claude/claude-transcript/*/wire.jsonl",),
    "gemini": ("gemini/gemini-chat/*/wire.jsonl",),
    "copilot": ("copilot/copilot-events/*/wire.jsonl",),
    "opencode": ("opencode/opencode-store/*/wire.jsonl",),
}
"""Saved sessions of every harness among the bundled recordings."""


_COMPLETED: dict[str, Any] = {"outcome": "completed"}
_READING = ("cat ", "sed -n ", "rg ", "ls")
"""How commands begin with which Codex reads."""


def recordings() -> list[tuple[str, Path]]:
    return [
        (name, path)
        for name, patterns in RECORDINGS.items()
        for pattern in patterns
        for path in sorted(DATA.glob(pattern))
    ]


def writer(name: str) -> Writer:
    found = harness(name).writer
    assert found is not None
    return found


def use(tool: str, given: dict[str, Any], output: str = "", **result: Any) -> Use:
    """A call and its result."""
    call = ToolCall(call_id="c1", tool=tool, native_tool=tool, input=given)
    return Use(call, ToolResult(call_id="c1", output=output, **result))


def conversation(*parts: Any, **turn: Any) -> HandedConversation:
    """A conversation of one turn that was completed."""
    return HandedConversation(turns=[HandedTurn(number=1, parts=list(parts), **_COMPLETED | turn)])


def new_session(
    to: str, release: Release | None = None, *, source: str = "elsewhere"
) -> NewSession:
    return NewSession(
        session_id=writer(to).new_id(AT, bytes(range(16))),
        at=AT,
        cwd="/workspace",
        release=release,
        source=SourceSession(harness=source, session_id="source-1"),
    )


def write(
    to: str,
    handed: HandedConversation,
    release: Release | None = None,
    *,
    source: str = "elsewhere",
) -> WrittenSession:
    return writer(to).write(handed, new_session(to, release, source=source))


def messages_in(written: WrittenSession) -> list[Message]:
    """What a written session says when it is read again."""
    return list(read(b"".join(line + b"\n" for line in written.lines)))


def handed(
    messages: Iterable[Message], name: str, session_id: str | None = None
) -> tuple[HandedConversation, tuple[Loss, ...]]:
    """The conversation of a session of this harness."""
    every = list(messages)
    if session_id is None:
        session_id = next((each.session_id for each in every if each.session_id), None) or ""
    history = harness(name).history
    assert history is not None
    return conversation_of(every, session_id, turns_undone=history.turns_undone)


def outline(handed_off: HandedConversation, losses: Sequence[Loss] = ()) -> list[Any]:
    """A conversation without what the losses name, to be compared with another one."""
    gone = {loss.kind for loss in losses if not loss.kept or loss.kind == "ends"}
    renamed = {
        loss.detail.startswith("as the shell"): set(loss.names)
        for loss in losses
        if loss.kind == "tools"
    }
    worded, translated = renamed.get(False, set()), renamed.get(True, set())
    return [
        ("summary", handed_off.summary),
        *(_turn(turn, gone, worded, translated) for turn in handed_off.turns),
    ]


def _turn(turn: HandedTurn, gone: set[str], worded: set[str], translated: set[str]) -> Any:
    said: list[Any] = []
    edits: list[Any] = []
    for part in turn.parts:
        match part:
            case Prompt():
                sent = [each for each in part.images if each.startswith(("data:", "http"))]
                said.append(
                    ("prompt", part.text if len(sent) == len(part.images) else None, len(sent))
                )
            case Text() if part.text.strip() and not part.text.startswith("[Earlier call of"):
                said.append(("text", part.text))
            case Thinking() if "thinking" not in gone:
                said.append(("thinking", part.text))
            case Use() if (changes := changes_in(part.call)) is not None:
                if not worded & {EDIT, WRITE}:
                    edits += [
                        (_absolute(each.path), each.kind, has_failed(part)) for each in changes
                    ]
            case Use() if part.call.tool in translated:
                said.append((BASH, None, *_result(part)))
            case Use() if part.call.tool not in worded | {TODO_WRITE}:
                said.append((part.call.tool, _command(part, translated), *_result(part)))
            case Text() | Thinking() | Use() | Plan():
                pass
    return said, edits, None if "ends" in gone else turn.outcome


def _absolute(path: str) -> str:
    return path if path.startswith("/") else f"/workspace/{path}"


def _command(part: Use, translated: set[str]) -> Any:
    command = part.call.input.get("command") if part.call.tool == BASH else None
    may_stand_for_another = bool(translated) and str(command).startswith(_READING)
    return None if may_stand_for_another else command


def _result(part: Use) -> tuple[Any, ...]:
    # What says that a call failed differs between harnesses, and its output begins with it.
    failed = has_failed(part)
    return None if failed else output_of(part), failed, was_declined(part)
