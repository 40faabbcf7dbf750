"""The threads of one stream: Codex's word for sessions, several of which share a connection."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.events.dispatch import Events
from dragoman.harnesses.codex.questions import CANCEL, DENY
from dragoman.harnesses.codex.responses.items import ResponseItems
from dragoman.model.messages import Outcome, TurnError


class _AskedPrompt(NamedTuple):
    line: int
    at: datetime | None
    text: str
    images: list[str]
    turn_id: str | None
    request_id: int | str | None = None
    steers: bool = False
    """Whether it is a word to the turn under way, not the beginning of one."""


class Thread:
    """Everything that reports one session: events, response items, items and notifications."""

    def __init__(self, out: Output, thread_id: str | None) -> None:
        self._out = out
        self.session = SessionAssembler(out, "codex", thread_id)
        self.responses = ResponseItems(out, self.session, alone=False)
        self.responses.patches_follow = True
        self.events = Events(out, self.session, self.responses)
        self._asked: list[_AskedPrompt] = []
        self._requested: list[_AskedPrompt] = []
        """Prompts in the client's requests, which an item will most likely repeat."""
        self.turn_line = 0
        """The line that began the open turn."""
        self.reverts_to: str | None = None
        """The first turn to be undone, if the client has asked the server to revert."""
        self.rolls_back = 0
        """How many turns are to be undone, if the client has asked the server to roll back."""
        self.next_turn: str | None = None
        """A turn that was announced while another runs: it may be that other's, after all."""
        self.given_up: set[str] = set()
        """Turns that we ended, not the server: they stay ended, whatever the server reports later."""

    def ask(self, text: str, images: list[str], turn_id: str | None = None) -> None:
        """Take a prompt as the client sent it. It is emitted when its turn begins."""
        self._asked.append(_AskedPrompt(self._out.line, self._out.at, text, images, turn_id))

    def tell_asked(self, turn_id: str | None = None) -> None:
        """Report the prompts that the client sent (for this turn), under their own lines."""
        told = [asked for asked in self._asked if asked.turn_id in (turn_id, None)]
        self._asked = [asked for asked in self._asked if asked not in told]
        self._tell(told)

    def _tell(self, prompts: list[_AskedPrompt], *, unread: bool = False) -> None:
        """``unread``: the turn was cut short before the agent took up what was sent to it."""
        out = self._out
        for asked in prompts:
            now = (out.line, out.at)
            out.line, out.at = asked.line, asked.at
            if asked.steers and unread:
                words = ", ".join(filter(None, (asked.text, *asked.images)))
                self.session.notice("steer", "warning", f"not read before the turn ended: {words}")
            else:
                self.session.prompt("request", asked.text, asked.images)
            out.line, out.at = now

    def request(self, request_id: int | str, text: str, images: list[str], *, steers: bool) -> None:
        """Take a prompt from a request. An item repeats it; it is emitted only if none does."""
        out = self._out
        asked = _AskedPrompt(out.line, out.at, text, images, None, request_id, steers)
        self._requested.append(asked)

    @property
    def has_requested(self) -> bool:
        return bool(self._requested)

    def requested_now(self, *, ends: bool, taken: bool = False) -> list[_AskedPrompt]:
        """Take the prompts of the turn under way that nothing has repeated.

        A word to the turn may still be repeated until the turn ``ends``; so may the start of another one
        that the server has ``taken`` for such a word.
        """
        begins = taken or not self.session.in_turn
        due = [
            asked
            for asked in self._requested
            if (ends if asked.steers else begins or asked.line < self.turn_line)
        ]
        self._requested = [asked for asked in self._requested if asked not in due]
        return due

    def tell_requested(
        self, prompts: list[_AskedPrompt], *, taken: bool, unread: bool = False
    ) -> None:
        """Report prompts that only requests contain, under their own lines.

        One that was taken as steering is passed to the model unchanged, which files of
        those releases (to 0.77) show as context.
        """
        self._tell([asked for asked in prompts if asked.steers or not taken], unread=unread)
        out, now = self._out, (self._out.line, self._out.at)
        for asked in prompts if taken else ():
            if not asked.steers:
                out.line, out.at = asked.line, asked.at
                self.session.context("user", asked.text)
        out.line, out.at = now

    def forget_requested(self, text: str, images: list[str]) -> None:
        """An item repeats this prompt: its request needs no message."""
        for asked in self._requested:
            if asked.text == text and len(asked.images) == len(images):
                self._requested.remove(asked)
                self._out.duplicate_of_line(asked.line, "request: the prompt's item carries it")
                return

    def drop_asked(self, request_id: int | str | None = None, *, again: bool = False) -> None:
        """The prompt that the client sent was refused; ``again``: it will be sent again."""
        out = self._out
        refused = [each for each in self._requested if each.request_id == request_id]
        self._requested = [each for each in self._requested if each not in refused]
        for asked in (*self._asked, *refused):
            if again:
                out.duplicate_of_line(asked.line, "request: it is sent again")
                continue
            now = (out.line, out.at)
            out.line, out.at = asked.line, asked.at
            words = ", ".join(filter(None, (asked.text, *asked.images)))
            self.session.notice("refused", "warning", f"not accepted: {words}")
            out.line, out.at = now
        self._asked.clear()

    def settle_approval(
        self, approval_id: str | None, decision: str, detail: dict[str, Any] | None = None
    ) -> None:
        """An approval was answered. A call that was denied gets no other end in old releases."""
        if approval_id is None or not self.session.has_asked(approval_id):
            # 0.8 to 0.42 answer by the turn's id: it means the question that is still open.
            approval_id = self.session.open_approval() or approval_id or "approval"
        self.session.settle(approval_id, decision, detail)
        if decision in (DENY, CANCEL) and self.session.calls.is_open(approval_id):
            self.session.result(approval_id, is_error=True, status="declined")

    def end_turn(self, turn_id: str | None, outcome: Outcome, error: TurnError | None) -> None:
        """End a turn that the server does not end: the open one, or one that has not started yet."""
        session = self.session
        if not session.in_turn and turn_id is not None and not session.has_ended(turn_id):
            session.begin_turn(turn_id)
            self.tell_asked()
        if not session.in_turn:
            return
        self._tell(self.requested_now(ends=True), unread=outcome != "completed")
        self.events.end = None
        self.given_up |= {name for name in (session.open_turn, self.next_turn) if name}
        self.next_turn = None
        self.responses.end_turn()
        if outcome != "failed" and error is not None:
            session.notice("ours", "warning", error.message)
        session.end_turn(outcome, error if outcome == "failed" else None)

    def release(self) -> None:
        """Emit what was held back."""
        self.responses.release_all()
        while self._asked:
            self.tell_asked(self._asked[0].turn_id)

    def finish(self, error: TurnError | None = None) -> None:
        self.release()
        self.events.finish()
        requested, self._requested = self._requested, []
        self._tell(requested)
        if error is not None and self.session.in_turn:
            self.session.end_turn("failed", error)
        self.session.leave()


class Threads:
    """Threads by id. A line without one belongs to the thread that was named last."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._by_id: dict[str, Thread] = {}
        self._parents: dict[str, str] = {}
        self._nameless: Thread | None = None
        self._left: set[str] = set()
        """Those that the client has left: what still arrives is emitted, and not kept."""
        self.current: Thread | None = None

    def get(self, thread_id: str | None) -> Thread:
        if thread_id is None:
            return self.current or self._new(None)
        thread = self._by_id.get(thread_id)
        if thread is None:
            thread = self._adopt(thread_id) or self._new(thread_id)
        self.current = thread
        return thread

    def find(self, thread_id: str | None) -> Thread | None:
        """A thread that was mentioned, without adding a mention."""
        return self._by_id.get(thread_id) if thread_id is not None else None

    def _new(self, thread_id: str | None) -> Thread:
        self.current = thread = Thread(self._out, thread_id)
        if thread_id is None:
            self._nameless = thread
        elif thread_id not in self._left:
            self._by_id[thread_id] = thread
        return thread

    def leave(self, thread_id: str | None) -> None:
        """The client no longer listens to it: forget its content."""
        thread = self.find(thread_id)
        if thread_id is not None and thread is not None and not thread.session.in_turn:
            del self._by_id[thread_id]
            self._left.add(thread_id)

    def join(self, thread_id: str | None) -> None:
        """The client listens to it, be it again."""
        if thread_id is not None:
            self._left.discard(thread_id)

    def _adopt(self, thread_id: str) -> Thread | None:
        """Give its name to the thread that has had messages without one, if there is one."""
        thread, self._nameless = self._nameless, None
        if thread is not None:
            thread.session.session_id = thread_id
            self._by_id[thread_id] = thread
        return thread

    def link(self, child_id: str, parent_id: str | None) -> None:
        """Remember whose child a session is, and report it if it was emitted without a parent."""
        if parent_id is None or child_id == parent_id:
            return
        self._parents[child_id] = parent_id
        child = self._by_id.get(child_id)
        if child is not None and child.session.has_facts:
            child.session.begin_session(parent_session_id=parent_id)

    def parent_of(self, thread_id: str | None) -> str | None:
        return self._parents.get(thread_id) if thread_id else None

    def all(self) -> list[Thread]:
        named = list(self._by_id.values())
        return [self._nameless, *named] if self._nameless else named
