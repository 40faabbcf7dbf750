"""Emits the texts of a session: prompts, context, texts, thoughts, and deltas of them."""

from __future__ import annotations

from dragoman.harnesses.assembly.calls import SessionCalls
from dragoman.harnesses.assembly.duplicates import Deduplicator
from dragoman.harnesses.assembly.output import SessionOutput
from dragoman.harnesses.assembly.streams import DeltaStreams, Snapshots
from dragoman.harnesses.assembly.turns import TurnLifecycle
from dragoman.model.messages import Context, Delta, DeltaOf, Phase, Prompt, Text, Thinking


class SessionContent:
    """The texts of one session, each once, whichever channels report them.

    The methods that most lines of a long session end in construct their message directly, which is
    faster than going through ``emit``.
    """

    __slots__ = (
        "_calls",
        "_out",
        "_prompts",
        "_snapshots",
        "_streams",
        "_texts",
        "_thoughts",
        "_turns",
    )

    def __init__(self, out: SessionOutput, turns: TurnLifecycle, calls: SessionCalls) -> None:
        self._out = out
        self._turns = turns
        self._calls = calls
        self._prompts = Deduplicator()
        self._texts = Deduplicator()
        self._thoughts = Deduplicator()
        self._streams = DeltaStreams()
        self._snapshots = Snapshots()

    def prompt(
        self, channel: str, text: str, images: list[str] | None = None, item_id: str | None = None
    ) -> None:
        if self._prompts.repeats(channel, text, item_id):
            self._out.duplicate("prompt: emitted before")
            return
        self._turns.ensure()
        self._turns.text_was_last = False
        self._out.emit(Prompt, text=text, images=images or [])

    def context(self, role: str, text: str) -> None:
        session = self._out
        out = session.stream
        out.messages.append(
            Context(
                session_id=session.session_id,
                turn_id=session.turn_id,
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
        """A text. Where several texts share a ``message_id``, ``item_id`` names this one."""
        if not text:
            self._out.duplicate("text: empty")
            return
        self._snapshots.complete(message_id)
        if self._texts.repeats(channel, text, item_id or message_id):
            self._turns.text_was_last = True
            self._out.duplicate("text: emitted before")
            return
        self._streams.complete("text", message_id)
        self.emit_text(text, phase, message_id, item_id)

    def emit_text(
        self, text: str, phase: Phase | None, message_id: str | None, item_id: str | None = None
    ) -> None:
        """Emit a text that no other channel can have reported."""
        turns = self._turns
        if turns.open_turn is None:
            turns.ensure()
        turns.text_was_last = turns.has_text = self._out.agent_spoke = True
        session = self._out
        out = session.stream
        out.messages.append(
            Text(
                session_id=session.session_id,
                turn_id=session.turn_id,
                at=out.at,
                line=out.line,
                text=text,
                phase=phase,
                message_id=message_id,
                item_id=item_id,
            )
        )

    def knows_text(self, channel: str, text: str, message_id: str | None) -> bool:
        """Whether this text would repeat one that another channel has reported."""
        return self._texts.knows(channel, text, message_id)

    def repeats_text(self, message_id: str) -> bool:
        """Whether a text with this id was emitted; if so, the line is recorded as its duplicate."""
        if not self._texts.has_id(message_id):
            return False
        self._turns.text_was_last = True
        self._out.duplicate("text: emitted before")
        return True

    def repeats_thought(self, item_id: str) -> bool:
        """Whether a thought with this id was emitted; if so, the line is recorded as its duplicate."""
        if not self._thoughts.has_id(item_id):
            return False
        self._out.duplicate("thinking: emitted before, or not shown")
        return True

    def thinking(self, channel: str, parts: list[str], item_id: str | None = None) -> None:
        """Reasoning, one message for each part; parts that another channel has reported are dropped."""
        thoughts = self._thoughts
        self._snapshots.complete(item_id)
        if item_id is None or thoughts.is_new_id(item_id):
            parts = [part for part in parts if part and thoughts.is_new(channel, part)]
        else:
            # Channels split one thought into different parts: under a known id only parts count that
            # do not appear in what was emitted, however it was split.
            parts = [part for part in parts if part and not thoughts.was_emitted_in_parts(part)]
            for part in parts:
                thoughts.is_new(channel, part)
        if not parts:
            self._out.duplicate("thinking: emitted before, or not shown")
            return
        self._streams.complete("thinking", item_id)
        self.emit_thinking(parts, item_id)

    def emit_thinking(self, parts: list[str], item_id: str | None = None) -> None:
        """Emit thoughts that no other channel can have reported."""
        if self._turns.open_turn is None:
            self._turns.ensure()
        self._turns.text_was_last = False
        self._out.agent_spoke = True
        session = self._out
        out = session.stream
        for part in parts:
            out.messages.append(
                Thinking(
                    session_id=session.session_id,
                    turn_id=session.turn_id,
                    at=out.at,
                    line=out.line,
                    text=part,
                    item_id=item_id,
                )
            )

    # Pieces of content that is still growing.

    def delta(
        self, channel: str, of: DeltaOf, text: str, message_id: str | None = None, part: str = ""
    ) -> None:
        """A piece of something that is still growing.

        A channel that does not name the message means the one that another channel named last.
        ``part`` keeps apart what streams side by side under one id.
        """
        message_id = self._streams.message_of(of, message_id)
        news = self._streams.fresh(channel, f"{message_id or of}{part}", text)
        if not news:
            self._out.duplicate("delta: emitted before")
            return
        self._out.agent_spoke = True
        if of == "output" and message_id is not None:
            self._calls.add_output(message_id, news)
        session = self._out
        out = session.stream
        out.messages.append(
            Delta(
                session_id=session.session_id,
                turn_id=session.turn_id,
                at=out.at,
                line=out.line,
                of=of,
                message_id=message_id,
                text=news,
            )
        )

    def snapshot(self, channel: str, of: DeltaOf, text: str, message_id: str) -> None:
        """The current text of something that is still growing. What is new is a delta."""
        before = (
            self._calls.output_of(message_id)
            if of == "output"
            else self._snapshots.update(message_id, of, text)
        )
        if text.startswith(before):
            self.delta(channel, of, text[len(before) :], message_id)
        else:  # it was rewritten, not continued: earlier deltas have the old text
            self._streams.forget(message_id)
            self.delta(channel, of, text, message_id)

    # The turn.

    def expect_echoes(self) -> None:
        """From here to the end of the turn, a channel may repeat itself."""
        for seen in (self._prompts, self._texts, self._thoughts):
            seen.echoes = True

    def emit_unfinished(self) -> None:
        """Emit texts and thoughts that began in the turn and never arrived in their final form."""
        for message_id, (of, text) in self._snapshots.take().items():
            if of == "text":
                self.text("unfinished", text, message_id=message_id)
            elif of == "thinking":
                self.thinking("unfinished", [text], message_id)

    def end_turn(self) -> None:
        # Agents repeat themselves from turn to turn, and mean it: nothing is compared across turns.
        for seen in (self._prompts, self._texts, self._thoughts):
            seen.clear()
        self._streams.clear()
