"""A conversation as a transcript that Claude Code resumes.

Thoughts are left out: the API accepts none but those that it signed itself.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from dragoman.harnesses.claude.session import HARNESS
from dragoman.harnesses.claude.writing.folders import project_folder
from dragoman.harnesses.claude.writing.rows import TranscriptRows
from dragoman.harnesses.claude.writing.tools import as_claude
from dragoman.harnesses.contract.writer import (
    HandedConversation,
    HandedTurn,
    NewSession,
    WrittenSession,
)
from dragoman.harnesses.writing.ids import CallIds
from dragoman.harnesses.writing.losses import LossCounter
from dragoman.harnesses.writing.parts import WrittenPart, began_at, parts_of
from dragoman.harnesses.writing.words import call_in_words, is_unfinished, named, was_declined
from dragoman.model.messages import Prompt, Text, Thinking
from dragoman.model.turns import Use

_INTERRUPTED: Final = "[Request interrupted by user]"
_DATA: Final = re.compile(r"data:(image/[\w.+-]+);base64,(.+)\Z", re.DOTALL)


def new_id(at: datetime, random: bytes) -> str:
    """A random UUID, like those of Claude."""
    return str(UUID(bytes=random, version=4))


def write(conversation: HandedConversation, new: NewSession) -> WrittenSession:
    """Write a conversation as a transcript."""
    return _TranscriptWriter(new).write(conversation)


class _TranscriptWriter:
    def __init__(self, new: NewSession) -> None:
        self._new = new
        self._is_native = new.source.harness == HARNESS
        self._rows = TranscriptRows(new)
        self._losses = LossCounter()
        self._ids = CallIds()

    def write(self, conversation: HandedConversation) -> WrittenSession:
        self._rows.origin(is_end=False)
        if conversation.summary is not None:
            self._rows.summary(conversation.summary)
        for turn in conversation.turns:
            self._turn(turn)
        self._rows.origin(is_end=True)
        return WrittenSession(
            file=f"projects/{project_folder(self._new.cwd)}/{self._new.session_id}.jsonl",
            lines=tuple(self._rows.lines),
            losses=self._losses.found(),
        )

    def _turn(self, turn: HandedTurn) -> None:
        rows = self._rows
        rows.at(began_at(turn))
        prompts = 0
        parts = parts_of(turn)
        for part in parts:
            if isinstance(part, Prompt):
                rows.at(part.at)
                self._prompt(part, prompts)
                prompts += 1
            else:
                self._part(part, is_last=part is parts[-1] and turn.outcome == "completed")
        rows.at(turn.at)
        if turn.outcome == "completed" and not isinstance(parts[-1], Text):
            self._losses.add(
                "ends", "turns that ended without a text: they look interrupted", kept=True
            )
        if turn.outcome == "interrupted":
            rows.user([{"type": "text", "text": _INTERRUPTED}])
        elif turn.error is not None:
            said = {"type": "text", "text": f"API Error: {turn.error.message}"}
            rows.assistant(
                said, stop_reason="stop_sequence", isApiErrorMessage=True, error="unknown"
            )
            self._losses.add("errors", "how a turn failed, in words only", kept=True)

    def _part(self, part: WrittenPart, *, is_last: bool) -> None:
        match part:
            case Text():
                self._rows.at(part.at)
                self._text(part.text, is_last=is_last)
            case Thinking():
                self._losses.add("thinking", "Claude accepts no thoughts but its own")
            case Use():
                self._use(part, is_last=is_last)
            case Prompt():
                return

    def _prompt(self, prompt: Prompt, place: int) -> None:
        blocks = [self._image(image) for image in prompt.images]
        text = {"type": "text", "text": prompt.text}
        content: Any = [*blocks, text] if prompt.text else blocks
        if not blocks:
            content = prompt.text
        self._rows.user(content, turnPosition={"promptIndex": place})

    def _image(self, image: str) -> dict[str, Any]:
        if found := _DATA.match(image):
            source = {"type": "base64", "media_type": found[1], "data": found[2]}
            return {"type": "image", "source": source}
        if image.startswith(("https://", "http://")):
            return {"type": "image", "source": {"type": "url", "url": image}}
        self._losses.add("images", "image files, as their paths", kept=True)
        return {"type": "text", "text": f"[image: {image}]"}

    def _text(self, text: str, *, is_last: bool) -> None:
        if not text.strip():  # the API refuses empty blocks
            return
        reason = "end_turn" if is_last else "tool_use"
        self._rows.assistant({"type": "text", "text": text}, stop_reason=reason)

    def _use(self, use: Use, *, is_last: bool) -> None:
        self._rows.at(use.call.at)
        calls = as_claude(use, is_native=self._is_native)
        if not calls:
            self._losses.add(
                "tools",
                "as text, because Claude Code has no such tool",
                name=named(use.call),
                kept=True,
            )
            self._text(call_in_words(use), is_last=is_last)
            return
        if len(calls) > 1:
            self._losses.add(
                "patches",
                "as one call for each change, because Claude's tools make one at a time",
                kept=True,
            )
        if is_unfinished(use):
            self._losses.add("tool results", "calls that the turn's end cut short", kept=True)
        ids = [self._ids.take(use.call.call_id) for _ in calls]
        for call, call_id in zip(calls, ids, strict=True):
            block = {"type": "tool_use", "id": call_id, "name": call.name, "input": call.input}
            self._rows.assistant(block, stop_reason="tool_use")
        if use.result is not None:
            self._rows.at(use.result.at)
        for call, call_id in zip(calls, ids, strict=True):
            result = {
                "type": "tool_result",
                "tool_use_id": call_id,
                "content": call.output,
                "is_error": call.is_error,
            }
            denied = {"toolDenialKind": "user-rejected"} if was_declined(use) else {}
            self._rows.user([result], toolUseResult=call.output, **denied)
