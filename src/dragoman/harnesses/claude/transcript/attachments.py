"""``attachment`` rows: what the program put before the model besides the conversation."""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.claude.failures import limit_error
from dragoman.harnesses.claude.session import ClaudeSession
from dragoman.harnesses.claude.transcript.shapes import Attachment
from dragoman.harnesses.stream_json.blocks import prompt_of
from dragoman.wire.loose import as_dict, as_list, as_str

QUEUED: Final = "queued"
_SAID_BY_USERS: Final = frozenset((None, "prompt", "bash"))


class Attachments:
    """The attachments of one file."""

    def __init__(self) -> None:
        self._snapshot = ""

    def report(self, session: ClaudeSession, row: Attachment) -> None:
        given = as_dict(row.attachment)
        kind = as_str(given.get("type")) or ""
        if kind == "queued_command":
            _queued(session, given)
        elif kind == "max_turns_reached":
            _max_turns(session, given)
        elif kind == "prompt_snapshot":
            self._prompt_snapshot(session, given)
        else:
            if kind == "structured_output":
                session.stop_reason = "end_turn"  # the call before it has the answer
            _context(session, row, given, kind)

    def _prompt_snapshot(self, session: ClaudeSession, given: dict[str, Any]) -> None:
        text = "\n\n".join(
            part for each in as_list(given.get("systemPrompt")) if (part := as_str(each))
        )
        if not text or text == self._snapshot:
            session.assembler.duplicate("context: the system prompt, unchanged")
            return
        self._snapshot = text
        session.assembler.context("system", text)


def _queued(session: ClaudeSession, given: dict[str, Any]) -> None:
    """A prompt that joined the running turn; or a notification that was queued like one."""
    prompt = prompt_of(given.get("prompt"))
    origin = as_str(as_dict(given.get("origin")).get("kind"))
    by_user = origin in (None, "user", "human", "sdk") and given.get("isMeta") is not True
    if by_user and as_str(given.get("commandMode")) in _SAID_BY_USERS:
        session.ensure_turn()
        session.assembler.prompt(QUEUED, prompt.text, prompt.images)
    else:
        session.assembler.context("user", prompt.text)


def _max_turns(session: ClaudeSession, given: dict[str, Any]) -> None:
    message = f"Reached maximum number of turns ({given.get('maxTurns')})"
    if session.assembler.in_turn:
        session.end_turn("failed", limit_error("error_max_turns", [message]))
    else:
        session.assembler.notice("attachment", "error", message)


def _context(session: ClaudeSession, row: Attachment, given: dict[str, Any], kind: str) -> None:
    texts = [
        text
        for each in as_list(row.rendered)
        if (text := prompt_of(as_dict(each).get("content")).text)
    ]
    if not texts:
        own = (as_str(given.get(name)) for name in ("content", "text", "stdout", "message"))
        texts = [text for text in own if text]
    if not texts:
        session.assembler.duplicate(f"context: {kind.replace('_', ' ')}")
    role = as_str(row.renderedRole) or "system"
    for text in texts:
        session.assembler.context(role, text)
