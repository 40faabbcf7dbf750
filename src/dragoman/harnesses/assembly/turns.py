"""The life of a session: its facts, its turns, and what is left open when a turn ends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from dragoman.harnesses.assembly.calls import Calls
from dragoman.harnesses.assembly.duplicates import Once, Streams
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.assembly.tokens import Tally
from dragoman.model.messages import (
    Message,
    Notice,
    Outcome,
    SessionEnded,
    SessionStarted,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from dragoman.model.usage import Usage


class Turns:
    """One session's beginning, turns and end."""

    def __init__(self, out: Output, harness: str, session_id: str | None = None) -> None:
        self._out = out
        self._harness = harness
        self.session_id = session_id
        self.turn_id: str | None = None
        """What messages are stamped with: the open turn, unless a line speaks of an earlier one."""
        self.in_turn = False
        self.open_turn: str | None = None
        """The turn that is under way."""
        self._is_late = False
        self.is_copying = False
        """Whether what is read was copied from another session, whose name it is told under."""
        self.says_ends = True
        """Whether the dialect says when a turn ends. If it does, a turn without an end was cut off;
        if not, it was cut off only when the agent did not have the last word."""
        self.agent_spoke = False
        """Whether the agent itself, not the user or the harness, has said anything yet."""
        self.is_reviewing = self._reviewer_began = False
        self._review = ""
        self._review_at: tuple[int, datetime | None] = (0, None)
        self.calls = Calls()
        self._tally = Tally()
        self._facts: tuple[str | None, str | None, str | None, str | None] | None = None
        self._count = 0
        self._ended: dict[str, None] = {}
        """Turns that are over, in their order."""
        self.before_turn: Callable[[], None] | None = None
        """Called when the turn before is over and the next has not begun."""
        self._error: TurnError | None = None
        self._text_was_last = False
        self.turn_has_text = False
        self._diff: str | None = None
        self._prompts = Once()
        self._texts = Once()
        self._thoughts = Once()
        self._notices = Once()
        self._compactions = Once()
        self._streams = Streams()
        self._inputs: dict[str, dict[str, Any]] = {}
        self._natives: dict[str, dict[str, Any]] = {}
        self._partial: dict[str, list[str]] = {}
        """What calls still open have put out so far, in case nobody says it whole."""

    def _say(self, kind: type[Message], /, **fields: Any) -> None:
        """Append a message of this kind, stamped with where and when it was said."""
        out = self._out
        out.messages.append(
            kind(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                **fields,
            )
        )

    def twin(self, rule: str) -> None:
        """Note that the line being read makes no message, and why."""
        self._out.twin(rule)

    @property
    def text_was_last(self) -> bool:
        """Whether a text was the last thing said in the open turn."""
        return self._text_was_last

    @property
    def is_told(self) -> bool:
        return self._facts is not None

    @property
    def cwd(self) -> str | None:
        return self._facts[2] if self._facts else None

    def begin_session(
        self,
        *,
        version: str | None = None,
        model: str | None = None,
        cwd: str | None = None,
        parent_session_id: str | None = None,
        parent_call_id: str | None = None,
    ) -> None:
        """Say what the session is: once, and again when that changes or more is known."""
        if self.is_copying:
            self._out.twin("session: the one that this was copied from")
            return
        new = (version, model, cwd, parent_session_id)
        old = self._facts
        if old is not None:
            new = (version or old[0], model or old[1], cwd or old[2], parent_session_id or old[3])
            if new[1:] == old[1:]:
                self._facts = new
                self._out.twin("session: told before")
                return
        self._facts = new
        self._say(
            SessionStarted,
            harness=self._harness,
            version=new[0],
            model=new[1],
            cwd=new[2],
            parent_session_id=new[3],
            parent_call_id=parent_call_id,
        )

    def forget_facts(self) -> None:
        """Another session follows, of which nothing is known yet."""
        self._facts = None

    def know_facts(
        self,
        *,
        model: str | None = None,
        cwd: str | None = None,
        parent_session_id: str | None = None,
    ) -> bool:
        """Take note of what another message already says; whether it is news."""
        old = self._facts or (None, None, None, None)
        new = (old[0], model or old[1], cwd or old[2], old[3] or parent_session_id)
        self._facts = new
        return new != old

    def end_session(self, reason: str) -> None:
        self._say(SessionEnded, reason=reason)

    def begin_turn(self, turn_id: str | None = None) -> None:
        """Open a turn. One that is still open was left behind by its process: it ends first."""
        if self.in_turn:
            if turn_id is not None and turn_id == self.open_turn:
                self._out.twin("turn: begun before")
                return
            if self.is_reviewing and not self._reviewer_began:
                self._reviewer_began = True
                self._out.twin("turn: the reviewer's own, inside the turn that asked for it")
                return
            self.leave()
        if self.before_turn is not None:
            self.before_turn()
        self._count += 1
        self.turn_id = turn_id if turn_id is not None else f"turn-{self._count}"
        self.open_turn = self.turn_id
        self._ended.pop(self.turn_id, None)
        self.in_turn = True
        self._text_was_last = self.turn_has_text = False
        self._error = None
        self._say(TurnStarted)
        self._say_review()

    def begin_review(self, what: str) -> None:
        """The turn is a review: another agent works, and what it says may be told twice over."""
        if self.is_reviewing:
            self._out.twin("review: begun before")
            return
        if not self.says_ends:
            self.leave()
        self.is_reviewing = True
        for once in (self._prompts, self._texts, self._thoughts):
            once.echoes = True
        self._review = f"review of {what} began" if what else "review began"
        self._review_at = (self._out.line, self._out.at)
        if self.in_turn:
            self._say_review()

    def end_review(self) -> None:
        """The reviewer is done; what it said may still be repeated until the turn ends."""
        self.is_reviewing = False

    def _say_review(self) -> None:
        """Say that a review began, under the line that did: its turn may begin after it."""
        if self._review:
            now = (self._out.line, self._out.at)
            self._out.line, self._out.at = self._review_at
            self._say(Notice, level="info", text=self._review)
            self._out.line, self._out.at = now
            self._review = ""

    def spent_so_far(self) -> Usage | None:
        """What the open turn has spent until now; null if none is open, or nobody told."""
        return self._tally.so_far() if self.in_turn else None

    def fail_turn(self, error: TurnError) -> None:
        """Remember why the turn is about to fail; its end will say so."""
        if not self.in_turn:
            self._say_error(error)
            return
        self._error = self._joined(error)
        self._out.twin("error: the turn's end says it")

    def _joined(self, error: TurnError) -> TurnError:
        """The error with what an earlier telling of it knew besides; another one is told by itself."""
        before = self._error
        if before is None or before == error:
            return error
        if before.message != error.message:
            self._say_error(before)
            return error
        if error.native is None and before.native is not None:
            return before if error.details is None else _with_details(before, error.details)
        return _with_details(error, before.details) if error.details is None else error

    def _say_error(self, error: TurnError) -> None:
        text = "\n".join(filter(None, (error.message, error.details)))
        self._say(Notice, level="error", text=text)

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        """Close the turn and every call it leaves open."""
        if not self.in_turn:
            self._out.twin("turn: ended before")
            return
        self._say_unfinished()
        for call_id in self.calls.give_up():
            output = "".join(self._partial.pop(call_id, ()))
            self._say(ToolResult, call_id=call_id, output=output, is_error=True, status="abandoned")
        error = self._error if error is None else self._joined(error)
        if error is not None and outcome == "completed":
            outcome = "failed"
        if error is not None and outcome != "failed":
            self._say_error(error)
        self._say(
            TurnEnded,
            outcome=outcome,
            error=error if outcome == "failed" else None,
            usage=self._tally.take_turn(),
        )
        self.in_turn = False
        if self.open_turn is not None:
            self._ended[self.open_turn] = None
        self.turn_id = self.open_turn = None
        self._error = None
        for once in (self._prompts, self._texts, self._thoughts, self._notices, self._compactions):
            once.clear()
        self._streams.clear()
        self._inputs.clear()
        self._natives.clear()
        self.is_reviewing = self._reviewer_began = False
        self._diff = None

    def _say_unfinished(self) -> None:
        """Say what was begun in the turn and never said whole."""

    def has_ended(self, turn_id: str) -> bool:
        return turn_id in self._ended

    def is_other_turn(self, turn_id: str | None) -> bool:
        """Whether this names a turn, and not the one that is open."""
        return turn_id is not None and turn_id != self.open_turn

    def speak_of(self, turn_id: str | None) -> None:
        """What follows is about this turn. One that is over is not opened again."""
        self._is_late = turn_id is not None and turn_id in self._ended
        self.turn_id = turn_id if self._is_late else self.open_turn

    def leave(self, *, may_go_on: bool = False) -> None:
        """Close a turn that is still open although the stream, or the session, goes on without it.

        With ``may_go_on`` only one that has come to its end, as far as its dialect tells: any other stays
        open, as nothing says how it ended.
        """
        if not self.in_turn:
            self._say_review()
            return
        finished = not self.says_ends and self._text_was_last and not self.calls.any_open()
        if finished or self._error:
            self.end_turn("completed")
        elif not may_go_on:
            self.end_turn("interrupted")

    def _ensure_turn(self) -> None:
        if not self.in_turn and not self._is_late:
            self.begin_turn()


def _with_details(error: TurnError, details: str | None) -> TurnError:
    return TurnError(error.kind, error.message, error.retryable, error.native, details)
