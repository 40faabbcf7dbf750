"""Reports the messages among response items: prompts, context, texts, reasoning.

A message of the user may be a prompt or something that the harness put there; only the next row
reports. So it is held, and emitted under its own line. The other way round, legacy rollouts announce texts
and thoughts as events before the response item that has them in their true order: those wait for it.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.items.shape import phase_of
from dragoman.harnesses.codex.responses import shapes
from dragoman.harnesses.codex.values.durations import milliseconds
from dragoman.model.messages import Phase
from dragoman.model.tools import BASH

CHANNEL: Final = "response"

_INJECTED: Final = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions instructions|skills_instructions"
    r"|turn_aborted|subagent_notification|user_shell_command|codex_internal_context|collaboration_mode"
    r"|multi_agent_\w+|hook_prompt|skill|app-context|model_switch|personality_spec|image name=)\b"
    r"|# AGENTS\.md instructions|Warning: )"
)
_CWD: Final = re.compile(r"<cwd>([^<]+)</cwd>|Current working directory: (\S+)")
_USER_SHELL: Final = re.compile(
    r"<user_shell_command>\s*<command>\n?(?P<command>.*?)\n?</command>\s*<result>\n?"
    r"Exit code: (?P<code>-?\d{1,9})\nDuration: (?P<seconds>\d{1,9}(?:\.\d{1,9})?) seconds\nOutput:\n"
    r"(?P<output>.*?)\n?</result>",
    re.DOTALL,
)
_PROPOSED_PLAN: Final = re.compile(r"<proposed_plan>.*?</proposed_plan>\n?", re.DOTALL)


class _HeldText(NamedTuple):
    line: int
    at: datetime | None
    role: str
    text: str
    images: list[str]
    phase: Phase | None
    message_id: str | None


_Announced: TypeAlias = tuple[str, bool, int, datetime | None, Phase | None]
"""A text or a thought that an event announced: itself, whether it is a text, its line, time and phase."""


class ResponseMessages:
    """The messages among the response items of one session."""

    def __init__(self, out: Output, session: SessionAssembler, *, alone: bool) -> None:
        self._out = out
        self._session = session
        self.alone = alone
        """Whether the stream has nothing but response items, so that no other channel repeats them."""
        self.others_speak = False
        """Whether this session has had events or items."""
        self.commands_follow = False
        """Whether commands and their ends are reported by items, too."""
        self.held_text: _HeldText | None = None
        """A message that waits for the next row."""
        self.announced: list[_Announced] = []
        """What events announced, and response items will repeat."""

    def announce(self, text: str, *, is_text: bool, phase: Phase | None = None) -> None:
        """An event announced a text or a thought; the response item that has it will come."""
        out = self._out
        self.announced.append((text, is_text, out.line, out.at, phase))

    def _came(self, text: str, is_text: bool) -> _Announced | None:
        """A response item has come: whether, and how, it was announced."""
        for index, announced in enumerate(self.announced):
            if announced[0] == text and announced[1] is is_text:
                later = self.announced[index + 1 :]
                if index:
                    # Items come in the order of the events: what was announced before has none.
                    del self.announced[index:]
                    self.tell_announced()
                self.announced = later
                what = "text" if is_text else "thinking"
                self._out.duplicate_of_line(announced[2], f"{what}: the response item carries it")
                return announced
        return None

    def tell_announced(self) -> None:
        """No response item will come for what was announced: emit it."""
        if not self.announced:
            return
        out, now = self._out, (self._out.line, self._out.at)
        announced_now, self.announced = self.announced, []
        for text, is_text, line, at, phase in announced_now:
            out.line, out.at = line, at
            if is_text:
                self._session.text("event", text, phase=phase)
            else:
                self._session.thinking("event", [text])
        out.line, out.at = now

    def message(self, item: shapes.MessageItem) -> None:
        self.settle()
        role = item.role
        text = text_of(item.content)
        if role == "assistant":
            shown = _PROPOSED_PLAN.sub("", text) if "<proposed_plan>" in text else text
            phase = phase_of(item.phase)
            announced = self._came(shown, True) if self.announced else None
            if announced is not None and shown:
                self._session.emit_text(shown, phase or announced[4], item.id)
            elif self.alone or self._session.knows_text(CHANNEL, shown, item.id):
                self._session.text(CHANNEL, shown, phase=phase, message_id=item.id)
            else:
                self.held_text = _HeldText(
                    self._out.line, self._out.at, role, shown, [], phase, item.id
                )
        elif role == "user":
            images = [
                part.image_url
                for part in item.content
                if isinstance(part, shapes.Part) and part.image_url
            ]
            self.held_text = _HeldText(self._out.line, self._out.at, role, text, images, None, None)
            if self.alone:
                self.settle()
        else:
            self._session.context(role, text)

    def settle(
        self, *, prompt: str | None = None, summary: str | None = None, is_said: bool = False
    ) -> None:
        """Decide about a message that was held until the next row came.

        ``prompt``: the next row is the event or item of this prompt, which may be a duplicate.
        ``summary``: the next row is a compaction with this summary, which may be a duplicate.
        ``is_said``: the next row is a duplicate.
        """
        held = self.held_text
        if held is None:
            return
        self.held_text = None
        if is_said:
            self._out.duplicate_of_line(held.line, "context: the next row carries it")
        elif held.role == "user" and prompt is not None and (held.text == prompt or held.images):
            self._out.duplicate_of_line(held.line, "prompt: the next row carries it")
        elif summary is not None and held.role == "assistant" and summary.endswith(held.text):
            self._out.duplicate_of_line(held.line, "compaction: the next row carries it")
        else:
            now = (self._out.line, self._out.at)
            self._out.line, self._out.at = held.line, held.at
            self._tell_text(held)
            self._out.line, self._out.at = now

    def _tell_text(self, held: _HeldText) -> None:
        session = self._session
        if held.role == "assistant" and not held.text:
            session.duplicate("text: nothing is said")
        elif (
            held.role == "assistant"
            and self.others_speak
            and not session.knows_text(CHANNEL, held.text, held.message_id)
        ):
            # Put there by a client, or for the model only: no other line reports it.
            session.context("assistant", held.text)
        elif held.role == "assistant":
            session.text(CHANNEL, held.text, phase=held.phase, message_id=held.message_id)
        elif self._tell_user_shell(held.text):
            return
        elif held.images and not held.text and session.in_turn:
            session.context("user", "[image]")  # an image that the agent asked to see
        elif self.others_speak or is_injected(held.text):
            if session.cwd is None and (found := _CWD.search(held.text)):
                session.know_facts(cwd=found[1] or found[2])
            session.context("user", held.text)
        elif not held.text and session.in_turn:
            session.context("user", "[image]")
        else:
            session.begin_turn()
            session.prompt(CHANNEL, held.text, held.images)

    def _tell_user_shell(self, text: str) -> bool:
        """A command that the user ran by hand, which legacy rollouts only have as context for the model."""
        found = _USER_SHELL.match(text)
        if found is None or self.commands_follow:
            return False
        call_id = f"line-{self._out.line}"
        self._session.call(call_id, BASH, "user_shell", {"command": found["command"]})
        code = int(found["code"])
        self._session.result(
            call_id,
            found["output"],
            is_error=bool(code),
            exit_code=code,
            duration_ms=milliseconds(f"{found['seconds']}s"),
        )
        return True

    def reasoning(self, item: shapes.ReasoningItem) -> None:
        parts = [part.text for part in item.summary]
        if item.content:
            parts += [part.text for part in item.content]
        announced = self.announced
        if len(parts) == 1 == len(announced) and announced[0][0] == parts[0]:
            # One thought, announced by the row before: what nearly all reasoning is.
            self._out.duplicate_of_line(announced[0][2], "thinking: the response item carries it")
            announced.clear()
            self._session.emit_thinking(parts)
            return
        if announced and parts:
            came = [self._came(part, False) for part in parts]
            if None not in came:
                self._session.emit_thinking(parts)
                return
        self._session.thinking(CHANNEL, parts, item.id)


def is_injected(text: str) -> bool:
    """Whether the harness has put this before the model, by its first words."""
    return _INJECTED.match(text) is not None


def text_of(content: list[shapes.Part] | str) -> str:
    if isinstance(content, str):
        return content
    if len(content) == 1:
        return content[0].text
    return "\n".join(part.text for part in content if part.text)
