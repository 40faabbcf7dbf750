"""What is said in a session: prompts, context, texts, thoughts, and pieces of them."""

from __future__ import annotations

from dragoman.harnesses.assembly.duplicates import Once
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.assembly.turns import Turns
from dragoman.model.messages import (
    Context,
    Delta,
    DeltaOf,
    Outcome,
    Phase,
    Prompt,
    Text,
    Thinking,
    TurnError,
)


class Words(Turns):
    """One session's words."""

    def __init__(self, out: Output, harness: str, session_id: str | None = None) -> None:
        super().__init__(out, harness, session_id)
        self._saying: dict[DeltaOf, str] = {}
        """What each kind of delta without a name of its own belongs to."""
        self._unfinished: dict[str, tuple[DeltaOf, str]] = {}
        """What has been said of texts and thoughts that came whole so far, and whose end may never come."""

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        super().end_turn(outcome, error)
        self._saying.clear()

    def prompt(
        self, channel: str, text: str, images: list[str] | None = None, item_id: str | None = None
    ) -> None:
        if _repeats(self._prompts, channel, text, item_id):
            self._out.twin("prompt: told before")
            return
        self._ensure_turn()
        self._text_was_last = False
        self._say(Prompt, text=text, images=images or [])

    def context(self, role: str, text: str) -> None:
        out = self._out
        out.messages.append(
            Context(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                role=role,
                text=text,
            )
        )

    def text(
        self,
        channel: str,
        text: str,
        *,
        phase: Phase | None = None,
        message_id: str | None = None,
        item_id: str | None = None,
    ) -> None:
        """A text. With ``item_id``, the texts of one response are told apart that share ``message_id``."""
        if not text:
            self._out.twin("text: nothing is said")
            return
        if self._unfinished and message_id is not None:
            self._unfinished.pop(message_id, None)
        if _repeats(self._texts, channel, text, item_id or message_id):
            self._text_was_last = True
            self._out.twin("text: told before")
            return
        if self._saying:
            self._streams.forget(self._saying.pop("text", message_id or "text"))
        self.say_text(text, phase, message_id, item_id)

    def say_text(
        self, text: str, phase: Phase | None, message_id: str | None, item_id: str | None = None
    ) -> None:
        """Tell a text that no other channel can have told."""
        if not self.in_turn:
            self._ensure_turn()
        self._text_was_last = self.turn_has_text = self.agent_spoke = True
        out = self._out
        out.messages.append(
            Text(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                text=text,
                phase=phase,
                message_id=message_id,
                item_id=item_id,
            )
        )

    def knows_text(self, channel: str, text: str, message_id: str | None) -> bool:
        """Whether this text would be a repetition of one told on another channel."""
        return self._texts.knows(channel, text, message_id)

    def repeats_text(self, message_id: str) -> bool:
        """Whether a text of this id was told; if so, this is its twin."""
        if not self._texts.has_id(message_id):
            return False
        self._text_was_last = True
        self._out.twin("text: told before")
        return True

    def repeats_thought(self, item_id: str) -> bool:
        """Whether a thought of this id was told; if so, this is its twin."""
        if not self._thoughts.has_id(item_id):
            return False
        self._out.twin("thinking: told before, or not shown")
        return True

    def thinking(
        self,
        channel: str,
        parts: list[str],
        item_id: str | None = None,
        *,
        block_id: str | None = None,
    ) -> None:
        """Reasoning, one message for each part; parts already told by another channel are twins.

        ``block_id`` is the id of this one thought, which its message carries.
        """
        thoughts = self._thoughts
        if self._unfinished and item_id is not None:
            self._unfinished.pop(item_id, None)
        if item_id is None or thoughts.is_new_id(item_id):
            parts = [part for part in parts if part and thoughts.is_new(channel, part)]
        else:
            parts = [part for part in parts if part and not thoughts.was_said_in_parts(part)]
            for part in parts:
                thoughts.is_new(channel, part)
        if not parts:
            self._out.twin("thinking: told before, or not shown")
            return
        if self._saying:
            self._streams.forget(self._saying.pop("thinking", item_id or "thinking"))
        self.say_thinking(parts, block_id)

    def say_thinking(self, parts: list[str], item_id: str | None = None) -> None:
        """Tell thoughts that no other channel can have told."""
        if not self.in_turn:
            self._ensure_turn()
        self._text_was_last = False
        self.agent_spoke = True
        out = self._out
        for part in parts:
            out.messages.append(
                Thinking(
                    session_id=self.session_id,
                    turn_id=self.turn_id,
                    at=out.at,
                    line=out.line,
                    text=part,
                    item_id=item_id,
                )
            )

    def so_far(self, channel: str, of: DeltaOf, text: str, message_id: str) -> None:
        """Something still being said, as it stands now. What is new of it is a delta."""
        if of == "output":
            told = "".join(self._partial.get(message_id, ()))
        else:
            told = self._unfinished.get(message_id, (of, ""))[1]
            self._unfinished[message_id] = (of, text)
        if text.startswith(told):
            self.delta(channel, of, text[len(told) :], message_id)
        else:  # it was put differently: what was said before it is in an earlier delta
            self._streams.forget(message_id)
            self.delta(channel, of, text, message_id)

    def _say_unfinished(self) -> None:
        unfinished, self._unfinished = self._unfinished, {}
        for message_id, (of, text) in unfinished.items():
            if of == "text":
                self.text("unfinished", text, message_id=message_id)
            elif of == "thinking":
                self.thinking("unfinished", [text], message_id)

    def delta(
        self, channel: str, of: DeltaOf, text: str, message_id: str | None = None, part: str = ""
    ) -> None:
        """A piece of something still being said.

        A channel that does not name the message means the one that another channel named last.
        ``part`` keeps apart what streams side by side under one name.
        """
        if message_id is None:
            message_id = self._saying.get(of)
        else:
            self._saying[of] = message_id
        news = self._streams.fresh(channel, f"{message_id or of}{part}", text)
        if not news:
            self._out.twin("delta: told before")
            return
        self.agent_spoke = True
        if of == "output" and message_id is not None and self.calls.is_open(message_id):
            self._partial.setdefault(message_id, []).append(news)
        out = self._out
        out.messages.append(
            Delta(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                of=of,
                message_id=message_id,
                text=news,
            )
        )


def _repeats(once: Once, channel: str, text: str, what_id: str | None) -> bool:
    """Whether this was told before: under the same id, or by another channel. Other words are news."""
    if what_id is not None and not once.is_new_id(what_id) and once.was_said(text):
        return True
    return not once.is_new(channel, text)
