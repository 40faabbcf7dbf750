"""The conversation of a session as it is now, from all its messages.

Left out: turns that were undone, what a summary replaced, the steps of sub-agents, and everything that the
program which is handed the conversation provides by itself (instructions, tokens, approvals).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from dragoman.harnesses.contract.writer import HandedConversation, HandedTurn, Loss
from dragoman.harnesses.writing.losses import LossCounter
from dragoman.harnesses.writing.parts import began_at
from dragoman.model.messages import (
    Compacted,
    Context,
    Malformed,
    Message,
    Notice,
    Plan,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from dragoman.model.turns import Use

_UNPROMPTED: Final = "(the agent continued without a prompt)"
_INNER: Final = (Text, Thinking, ToolCall)


def conversation_of(
    messages: Iterable[Message],
    session_id: str,
    *,
    ancestors: Collection[str] = (),
    turns_undone: Callable[[Notice], int],
    wanted: Callable[[int, int], bool] | None = None,
) -> tuple[HandedConversation, tuple[Loss, ...]]:
    """Return the conversation of a session, and what is left out of it.

    ``ancestors`` are sessions that it was forked from; those that its messages name are added. ``wanted`` tells,
    by its number and the count of all, which turns to take; taking only some leaves out a summary.
    """
    every = list(messages)
    reader = _ConversationReader(
        _lineage(every, session_id, ancestors), turns_undone, wanted is not None
    )
    for message in every:
        reader.take(message)
    return reader.conversation(wanted)


def _lineage(
    messages: Sequence[Message], session_id: str, ancestors: Collection[str]
) -> set[str | None]:
    """The session and those that it was forked from, whose copied messages are its own history."""
    parents = {
        each.session_id: each.parent_session_id
        for each in messages
        if isinstance(each, SessionStarted) and each.parent_call_id is None
    }
    found: set[str | None] = {None, session_id, *ancestors}
    name: str | None = session_id
    while (name := parents.get(name)) is not None and name not in found:
        found.add(name)
    return found


class _ConversationReader:
    def __init__(
        self, lineage: set[str | None], turns_undone: Callable[[Notice], int], keeps_all: bool
    ) -> None:
        self._lineage = lineage
        self._turns_undone = turns_undone
        self._keeps_all = keeps_all
        """Whether turns are selected by number, so that those before a compaction are needed."""
        self._turns: list[HandedTurn] = []
        self._by_id: dict[tuple[str | None, str], HandedTurn] = {}
        self._uses: dict[tuple[str | None, str], Use] = {}
        self._count = 0
        self._summary: str | None = None
        self._agents: dict[str | None, None] = {}
        self._losses = LossCounter()
        self._contexts: dict[int, list[str]] = {}
        """What the program put before the model in each turn."""

    def take(self, message: Message) -> None:
        if message.session_id not in self._lineage:
            if isinstance(message, _INNER):
                self._agents[message.session_id] = None
            return
        match message:
            case TurnStarted():
                self._begin(message)
            case Prompt() | Text() | Thinking() | Plan():
                self._turn_of(message).parts.append(message)
            case ToolCall():
                use = self._uses[message.session_id, message.call_id] = Use(message)
                self._turn_of(message).parts.append(use)
            case ToolResult():
                use = self._uses.get((message.session_id, message.call_id))
                if use is not None:
                    use.result = message
            case TurnEnded():
                turn = self._turn_of(message)
                turn.outcome, turn.error, turn.at = message.outcome, message.error, message.at
            case Compacted():
                self._compact(message)
            case Notice() if count := self._turns_undone(message):
                del self._turns[-count:]
            case Context():
                if self._turns:
                    self._contexts.setdefault(self._turns[-1].number, []).append(message.text)
                self._losses.add(
                    "context", "instructions of the first program; the new one adds its own"
                )
            case Unknown() | Malformed():
                self._losses.add("unknown", "lines that Dragoman cannot interpret")
            case _:
                return

    def _begin(self, message: Message) -> HandedTurn:
        self._count += 1
        turn = HandedTurn(number=self._count)
        self._turns.append(turn)
        if message.turn_id is not None:
            self._by_id[message.session_id, message.turn_id] = turn
        return turn

    def _turn_of(self, message: Message) -> HandedTurn:
        """The turn that a message names, so that a late one finds its place; else the newest."""
        if message.turn_id is not None:
            found = self._by_id.get((message.session_id, message.turn_id))
            if found is not None:
                return found
        return self._turns[-1] if self._turns else self._begin(message)

    def _compact(self, message: Compacted) -> None:
        if message.summary is None:
            self._losses.add(
                "compaction",
                "its summary cannot be read: the turns before it are handed off in full",
                kept=True,
            )
            return
        if self._keeps_all:
            return
        open_turn = self._turns[-1] if self._turns and self._turns[-1].outcome is None else None
        self._turns.clear()
        self._summary = message.summary
        if open_turn is not None:  # what comes next still belongs to it
            open_turn.parts = []
            self._turns.append(open_turn)

    def conversation(
        self, wanted: Callable[[int, int], bool] | None
    ) -> tuple[HandedConversation, tuple[Loss, ...]]:
        turns = [turn for turn in self._turns if turn.parts and not _is_local(turn)]
        for turn in turns:
            if not any(isinstance(part, Prompt) for part in turn.parts):
                self._open(turn)
        if wanted is not None:
            turns = [turn for turn in turns if wanted(turn.number, self._count)]
        elif self._summary is not None:
            before = turns[0].number - 1 if turns else self._count
            self._losses.add(
                "compacted turns", "their summary stands for them", count=before, kept=True
            )
        for _ in self._agents:
            self._losses.add("sub-agents", "their own steps; what they returned is kept")
        for turn in turns:
            self._end(turn)
        return HandedConversation(turns=turns, summary=self._summary), self._losses.found()

    def _end(self, turn: HandedTurn) -> None:
        """End a turn whose end is not written: the new session does not continue it."""
        if turn.outcome is not None:
            return
        if isinstance(turn.parts[-1], Text):
            turn.outcome = "completed"
        else:
            turn.outcome = "interrupted"
            self._losses.add("open turn", "kept as far as it is written, as interrupted", kept=True)

    def _open(self, turn: HandedTurn) -> None:
        """Let a turn that no person began, such as one after a sub-agent's report, begin with what began it."""
        text = "\n".join(self._contexts.get(turn.number, [])) or _UNPROMPTED
        turn.parts.insert(0, Prompt(text=text, at=began_at(turn)))
        self._losses.add("prompts", "what began a turn that no one prompted, as prompts", kept=True)


def _is_local(turn: HandedTurn) -> bool:
    """Whether a turn is a command of the program itself, such as ``/compact``, which no model sees."""
    prompts = [part for part in turn.parts if isinstance(part, Prompt)]
    return (
        turn.outcome == "completed"
        and len(prompts) == len(turn.parts)
        and all(part.text.startswith("/") for part in prompts)
    )
