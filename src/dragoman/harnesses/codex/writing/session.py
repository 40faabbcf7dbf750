"""A conversation as a rollout that Codex resumes.

Prompts, texts and calls are response items, which Codex sends to the model, with the events that its own views and
older releases show. Thoughts are events only: the model accepts none but its own, encrypted ones.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from uuid import NAMESPACE_OID, UUID, uuid5

from dragoman.harnesses.codex.versions import Version
from dragoman.harnesses.codex.writing.rows import RolloutRows
from dragoman.harnesses.codex.writing.tools import as_codex
from dragoman.harnesses.contract.writer import (
    HandedConversation,
    HandedTurn,
    NewSession,
    WrittenSession,
)
from dragoman.harnesses.writing.ids import CallIds
from dragoman.harnesses.writing.losses import LossCounter
from dragoman.harnesses.writing.parts import WrittenPart, began_at, parts_of
from dragoman.harnesses.writing.words import call_in_words, named
from dragoman.model.messages import Prompt, Text, Thinking
from dragoman.model.turns import Use

_NEWEST: Final = (0, 169, 0)
"""What a program of unknown release is taken for."""
_COMPACTED_ROWS: Final = (0, 53, 0)
"""The first release that resumes a session from a row with its summary."""
_INTERRUPTED: Final = (
    "<turn_aborted>\n  <reason>interrupted</reason>\n  <guidance>The user interrupted the previous turn. "
    "If any tools were aborted, they may have partially executed.</guidance>\n</turn_aborted>"
)


def new_id(at: datetime, random: bytes) -> str:
    """A UUID of version 7, like those of Codex: it begins with the time."""
    milliseconds = int(at.timestamp() * 1000)
    number = (milliseconds << 80) | int.from_bytes(random[:10], "big")
    number = number & ~(0xF << 76) | (7 << 76)
    number = number & ~(3 << 62) | (2 << 62)
    return str(UUID(int=number))


def write(conversation: HandedConversation, new: NewSession) -> WrittenSession:
    """Write a conversation as a rollout."""
    writer = _RolloutWriter(new, new.release or _NEWEST)
    return writer.write(conversation)


class _RolloutWriter:
    def __init__(self, new: NewSession, release: Version) -> None:
        self._new = new
        self._release = release
        self._rows = RolloutRows(new, release)
        self._losses = LossCounter()
        self._ids = CallIds()

    def write(self, conversation: HandedConversation) -> WrittenSession:
        self._rows.header()
        if conversation.summary is not None:
            self._summary(conversation.summary)
        for turn in conversation.turns:
            self._turn(turn)
        self._rows.handed_off()
        at = self._new.at.astimezone(UTC)
        name = f"rollout-{at:%Y-%m-%dT%H-%M-%S}-{self._new.session_id}.jsonl"
        return WrittenSession(
            file=f"sessions/{at:%Y/%m/%d}/{name}",
            lines=tuple(self._rows.lines),
            losses=self._losses.found(),
        )

    def _summary(self, summary: str) -> None:
        if self._release >= _COMPACTED_ROWS:
            self._rows.compacted(summary)
        else:
            # Before, only what looks like the program's own words is not taken for a prompt.
            text = f"<codex_internal_context>\n{summary}\n</codex_internal_context>"
            self._rows.item(_message("user", text))

    def _turn(self, turn: HandedTurn) -> None:
        rows = self._rows
        turn_id = str(uuid5(NAMESPACE_OID, f"{self._new.session_id}/{turn.number}"))
        rows.at(began_at(turn))
        rows.turn_started(turn_id)
        last_text: str | None = None
        for part in parts_of(turn):
            self._part(part)
            last_text = part.text if isinstance(part, Text) else last_text
        rows.at(turn.at)
        if turn.outcome == "interrupted":
            rows.item(_message("user", _INTERRUPTED))
            rows.turn_interrupted(turn_id)
        else:
            if turn.error is not None:
                rows.event("error", message=turn.error.message, codex_error_info=None)
                self._losses.add("errors", "how a turn failed, in words only", kept=True)
            rows.turn_completed(turn_id, last_text)

    def _part(self, part: WrittenPart) -> None:
        match part:
            case Prompt():
                self._rows.at(part.at)
                self._prompt(part)
            case Text():
                self._rows.at(part.at)
                self._text(part.text)
            case Thinking():
                self._rows.at(part.at)
                self._rows.event("agent_reasoning", text=part.text)
                self._losses.add(
                    "thinking", "shown in the transcript, not sent to the model", kept=True
                )
            case Use():
                self._use(part)

    def _prompt(self, prompt: Prompt) -> None:
        content = [{"type": "input_text", "text": prompt.text}] if prompt.text else []
        sent: list[str] = []
        for image in prompt.images:
            if image.startswith(("data:image/", "https://", "http://")):
                content.append({"type": "input_image", "image_url": image})
                sent.append(image)
            else:
                content.append({"type": "input_text", "text": f"[image: {image}]"})
                self._losses.add("images", "image files, as their paths", kept=True)
        self._rows.item({"type": "message", "role": "user", "content": content})
        self._rows.event("user_message", message=prompt.text, images=sent)

    def _text(self, text: str) -> None:
        self._rows.event("agent_message", message=text)
        self._rows.item(_message("assistant", text))

    def _use(self, use: Use) -> None:
        self._rows.at(use.call.at)
        written = as_codex(use, self._ids.take(use.call.call_id), self._release)
        if written is None:
            self._losses.add(
                "tools", "as text, because Codex has no such tool", name=named(use.call), kept=True
            )
            self._text(call_in_words(use))
            return
        if written.is_translated:
            self._losses.add(
                "tools", "as the shell commands that do the same", name=use.call.tool, kept=True
            )
        if use.result is None or use.result.status == "abandoned":
            self._losses.add("tool results", "calls that the turn's end cut short", kept=True)
        call, output = written.items
        self._rows.item(call)
        if use.result is not None:
            self._rows.at(use.result.at)
        self._rows.item(output)


def _message(role: str, text: str) -> dict[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
