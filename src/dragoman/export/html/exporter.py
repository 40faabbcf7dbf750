"""One self-contained page to open, print or share. Written turn by turn, whatever its length.

==================  =======================================================================
message             shown as
==================  =======================================================================
session_started     the head of the page; a sub-agent's opens a group; else a line
turn_started        a section ``#turn-3``; a prompt or an answer without one opens one, too
prompt              what the user asked, with images that came with it
context             folded, if included
text                prose: Markdown without HTML, see :mod:`dragoman.html.prose`
thinking            folded
tool_call           a card, see :mod:`dragoman.html.calls`; it waits for its result
tool_result         part of that card; a card of its own if it comes too late
plan                a checklist; nothing while a call shows it
diff                the turn's last one, folded, at its end
approval_requested  a card, which waits for its decision
approval_settled    part of that card
notice, compacted   a line
turn_ended          outcome, tokens and time; the error
usage               the sums beside the list of turns
unknown, malformed  the line, folded, if included
the rest            nothing
==================  =======================================================================

Every piece has an anchor, ``#m14`` for the message from source line 14. Pure functions in :mod:`dragoman.html`
create the pieces; the live page uses them as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dragoman.export.base import Include, Options
from dragoman.export.html import page
from dragoman.export.html.places import Places
from dragoman.export.html.session import Held, SessionSummary, facts
from dragoman.html import calls, conversation, diffs
from dragoman.html.images import InlineImages
from dragoman.html.pieces import Html, element, folded
from dragoman.model import tools
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Context,
    Delta,
    Diff,
    Malformed,
    Message,
    Notice,
    Plan,
    Prompt,
    RateLimits,
    SessionEnded,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
    UsageReport,
)
from dragoman.model.turns import Use
from dragoman.model.usage import NOTHING
from dragoman.rendering import render

DEFAULT: Final[frozenset[Include]] = frozenset()
"""Included by default."""

_LONGEST_DIFF: Final = 2_000_000


class HtmlExporter:
    wants_lines: bool = False

    def __init__(self, options: Options) -> None:
        self._options = options
        self._include = options.include | DEFAULT
        self._places = Places()
        self._images = InlineImages()
        self._is_started = False
        self._head = ""
        self._line = 0
        self._again = 0

    def export(self, messages: Iterable[Message]) -> bytes:
        for message in messages:
            self._places.sums.saw(message.at)
            self._show(message)
            if not self._is_started and (self._places.has_started or self._places.flow.is_full):
                self._begin()
        return self._written() if self._is_started else b""

    def finish(self) -> bytes:
        if not self._is_started and not self._places.sessions:
            return b""
        for session in self._places.sessions.values():
            self._places.close_turn(session)
        self._places.flow.end(self._places.flow.root)
        agents = sum(
            (each.spent for each in self._places.sessions.values() if each.parent), NOTHING
        )
        main = self._places.main or self._places.first
        sums = self._places.sums.rows(main, agents, len(self._places.entries), self._options)
        masks = page.masks(self._options.masked())
        tail = page.tail(self._places.entries, sums, masks)
        return self._written() + f"{tail}\n".encode("utf-8", "backslashreplace")

    def _begin(self) -> None:
        """Write the head of the page with what is known so far, in any order of messages."""
        self._is_started = True
        self._head = page.head(self._places.title, facts(self._places.first))

    def _written(self) -> bytes:
        if not self._is_started:
            self._begin()
        head, self._head = self._head, ""
        return (head + self._places.flow.drain()).encode("utf-8", "backslashreplace")

    def _show(self, message: Message) -> None:
        session = self._places.session(message)
        match message:
            case SessionStarted():
                self._session_started(message, session)
            case TurnStarted():
                if not session.in_turn or session.announced:
                    self._places.open_turn(session, message)
                session.announced, session.turn_at = True, message.at
            case Prompt(text=text, images=images):
                if text.strip() or images:
                    self._places.entitle(session, message, text)
                    anchor = self._anchor(message)
                    shown = [self._images.show(each, anchor) for each in images]
                    self._places.add_to_turn(
                        session, message, conversation.prompt(text, shown, anchor)
                    )
            case Context():
                if "context" in self._include:
                    self._places.add(session, conversation.context(message, self._anchor(message)))
            case Text(text=text):
                if text.strip():
                    self._places.add_to_turn(
                        session, message, conversation.text(message, self._anchor(message))
                    )
            case Thinking(text=text):
                if text.strip():
                    self._places.add_to_turn(
                        session, message, conversation.thinking(message, self._anchor(message))
                    )
            case ToolCall():
                self._tool_call(message, session)
            case ToolResult():
                self._tool_result(message, session)
            case Plan(steps=steps, explanation=why):
                if (steps or why) and not session.calls.show_a_plan:
                    plan = conversation.plan(steps, why, self._anchor(message))
                    self._places.add_to_turn(session, message, plan)
            case Diff(unified=unified):
                session.diff = unified if len(unified) <= _LONGEST_DIFF else ""
            case ApprovalRequested():
                self._approval_requested(message, session)
            case ApprovalSettled():
                self._approval_settled(message, session)
            case Notice():
                if message.text.strip():
                    self._places.add(session, conversation.notice(message, self._anchor(message)))
            case Compacted():
                self._places.add(session, conversation.compacted(message, self._anchor(message)))
            case TurnEnded():
                self._turn_ended(message, session)
            case UsageReport():
                session.report(message)
            case Unknown() | Malformed():
                if "raw" in self._include:
                    self._places.add(session, conversation.raw(message, self._anchor(message)))
            case Delta() | RateLimits() | SessionEnded():
                pass

    def _anchor(self, message: Message) -> str:
        if message.line > self._line:
            self._line = message.line
            return f"m{message.line}"
        self._again += 1
        return f"m{message.line}-{self._again}"

    def _session_started(self, message: SessionStarted, session: SessionSummary) -> None:
        self._places.first = self._places.first or session
        before, session.started = session.started, message
        if before is None or session.parent is not None:
            return
        changed = [
            new
            for new, old in ((message.model, before.model), (message.cwd, before.cwd))
            if new and new != old
        ]
        if changed and (before.model or before.cwd) and self._places.has_started:
            words = f"Continues with {', '.join(changed)}"
            self._places.add(session, element("p", words, class_="notice info"))

    def _tool_call(self, call: ToolCall, session: SessionSummary) -> None:
        place = self._places.in_turn(session, call)
        session.delegates |= call.tool == tools.TASK
        session.calls.begin(call)
        self._places.sums.called(call)
        anchor = self._anchor(call)
        slot = self._places.flow.hold(place, lambda: Html(f"{calls.use(Use(call), anchor)}\n"))
        session.cards[call.call_id] = Held(slot, anchor)

    def _tool_result(self, result: ToolResult, session: SessionSummary) -> None:
        call = session.calls.end(result)
        held = session.cards.pop(result.call_id, None)
        if call and calls.state_of(result) == "bad" and render.command(call) is not None:
            self._places.sums.failed += 1
        if call and held:
            card = calls.use(Use(call, result), held.anchor)
            if self._places.flow.settle(held.slot, Html(f"{card}\n")):
                return
        if result.output.strip() or render.trouble(result):
            late = calls.late_result(result, call, self._anchor(result))
            self._places.add_to_turn(session, result, late)

    def _approval_requested(self, asked: ApprovalRequested, session: SessionSummary) -> None:
        place = self._places.in_turn(session, asked)
        anchor = self._anchor(asked)
        slot = self._places.flow.hold(
            place, lambda: Html(f"{conversation.approval(asked, None, anchor)}\n")
        )
        session.approvals[asked.approval_id] = (Held(slot, anchor), asked)

    def _approval_settled(self, settled: ApprovalSettled, session: SessionSummary) -> None:
        if (known := session.approvals.pop(settled.approval_id, None)) is not None:
            held, asked = known
            card = conversation.approval(asked, settled, held.anchor)
            if self._places.flow.settle(held.slot, Html(f"{card}\n")):
                return
        self._places.add(session, conversation.decision(settled, self._anchor(settled)))

    def _turn_ended(self, message: TurnEnded, session: SessionSummary) -> None:
        place = self._places.in_turn(session, message)
        if message.usage:
            session.summed += message.usage
        if session.parent is None:
            self._places.entries[session.number - 1].outcome = message.outcome
        if files := diffs.split(session.diff) if session.diff else []:
            count = f"{len(files)} file{'s' * (len(files) != 1)}"
            changes = diffs.changes(files)
            whole = folded(f"All changes of this turn, {count}", changes, class_="turn-diff")
            self._places.flow.add(place, Html(f"{whole}\n"))
        session.diff = ""
        end = conversation.turn_end(message, session.turn_at, self._anchor(message))
        self._places.flow.add(place, Html(f"{end}\n"))
        self._places.close_turn(session)
