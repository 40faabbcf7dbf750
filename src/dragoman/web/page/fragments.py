"""Renders entries as HTML fragments of the page, like those of an exported file, each with its number.

``fragments`` keeps no state between calls, because the page loads ranges of a session in any order.
Entries of one range that belong together are combined here; a result whose call is in another range
becomes a fragment that names its call, and the page's scripts move it there.

A fragment is a ``div.entry`` with ``data-seq``, ``data-kind`` and, where they apply:

=================  ===========================================================================
``data-call``      the call whose card it is
``data-result``    the call whose result it is, for the page to put into the card
``data-message``   the text to which the deltas with this id belong
``data-approval``  the request whose card it is; ``data-settles``: the request that it settles
``data-agent``     the sub-agent that it belongs to; the first one also has ``data-parent`` and
                   ``data-title``
``data-turn``      the turn
``data-at``        its time
=================  ===========================================================================

``div.fact`` is invisible: it carries tokens, rate limits, and the starts and ends of turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dragoman.export.html.page import moment
from dragoman.html import calls as html_calls
from dragoman.html import conversation, diffs
from dragoman.html.images import InlineImages
from dragoman.html.pieces import EMPTY, Html, element, folded, joined
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
    type_of,
)
from dragoman.model.turns import Use
from dragoman.rendering import render
from dragoman.rendering.calls import CallIndex
from dragoman.web.page import approvals, facts
from dragoman.web.page.rows import Fragment, PageEntry

_LONGEST_DIFF = 400_000


def fragments(entries: Iterable[PageEntry], session_id: str | None = None) -> list[Fragment]:
    """Each entry as HTML. ``session_id`` is the id in the session's messages; others are sub-agents."""
    found = _FragmentRange(list(entries), session_id)
    # A plain str: msgspec does not encode subclasses of str.
    return [Fragment(entry.seq, str(found.html(entry))) for entry in found.entries]


class _FragmentRange:
    """The entries of one call."""

    def __init__(self, entries: Sequence[PageEntry], session_id: str | None) -> None:
        self.entries = entries
        self._main = session_id or next(
            (each.message.session_id for each in entries if each.message.session_id), None
        )
        self._images = InlineImages()
        self._calls: dict[str | None, CallIndex] = {}
        self._called: set[tuple[str | None, str]] = set()
        self._asked: set[str] = set()
        self._results: dict[tuple[str | None, str], ToolResult] = {}
        self._settled: dict[str, ApprovalSettled] = {}
        self._last_diffs: dict[tuple[str | None, str | None], int] = {}
        self._turns: dict[str | None, Message] = {}
        for entry in entries:
            self._look_at(entry)

    def _look_at(self, entry: PageEntry) -> None:
        match message := entry.message:
            case ToolCall():
                self._called.add((message.session_id, message.call_id))
            case ToolResult():
                key = (message.session_id, message.call_id)
                if key in self._called:
                    self._results[key] = message
            case ApprovalRequested():
                self._asked.add(message.approval_id)
            case ApprovalSettled():
                if message.approval_id in self._asked:
                    self._settled[message.approval_id] = message
            case Diff():
                self._last_diffs[message.session_id, message.turn_id] = entry.seq
            case _:
                return

    def html(self, entry: PageEntry) -> str:
        body, known = self._shown(entry, f"e{entry.seq}")
        if not body and not known:
            return ""
        message = entry.message
        at = entry.at or message.at
        own = message.session_id
        agent = own if own is not None and self._main is not None and own != self._main else None
        kind = type_of(type(message))
        is_fact = not body or known.pop("fact", False) is True
        return element(
            "div",
            body,
            class_="fact" if is_fact else f"entry is-{kind.replace('_', '-')}",
            hidden=is_fact,
            data_seq=str(entry.seq),
            data_kind=kind,
            data_at=at.isoformat() if at else None,
            data_turn=message.turn_id,
            data_agent=agent,
            **known,
        )

    def _shown(self, entry: PageEntry, anchor: str) -> tuple[Html, dict[str, str | bool | None]]:
        """The visible part of an entry, and its attributes for the page."""
        match message := entry.message:
            case SessionStarted():
                return self._session_started(message)
            case TurnStarted():
                self._turns[message.session_id] = message
                self._calls.pop(message.session_id, None)
                return element("div", moment(entry.at or message.at), class_="turn-head"), {}
            case Prompt(text=text, images=images):
                if not text.strip() and not images:
                    return EMPTY, {}
                shown = [self._images.show(each, anchor) for each in images]
                title = render.one_line(text, 80)
                return conversation.prompt(text, shown, anchor), {"data_title": title}
            case Context():
                return conversation.context(message, anchor), {}
            case Text(text=text):
                known: dict[str, str | bool | None] = {"data_message": message.message_id}
                return (
                    (conversation.text(message, anchor), known) if text.strip() else (EMPTY, known)
                )
            case Thinking(text=text):
                return (conversation.thinking(message, anchor) if text.strip() else EMPTY), {}
            case ToolCall():
                return self._call(message, anchor)
            case ToolResult():
                return self._result(message, anchor)
            case Plan(steps=steps, explanation=why):
                calls = self._calls.get(message.session_id)
                if (not steps and not why) or (calls and calls.show_a_plan):
                    return EMPTY, {}
                return conversation.plan(steps, why, anchor), {}
            case Diff():
                return self._diff(message, entry.seq)
            case Delta():
                return EMPTY, {}
            case ApprovalRequested():
                settled = self._settled.get(message.approval_id)
                card = conversation.approval(message, settled, anchor)
                form = EMPTY if settled else element("template", approvals.ask(message))
                return joined([card, form]), {"data_approval": message.approval_id}
            case ApprovalSettled(approval_id=approval_id, decision=decision):
                if approval_id in self._settled:
                    return EMPTY, {"data_settles": approval_id}
                known = {"data_settles": approval_id, "data_decision": decision}
                return conversation.decision(message, anchor), known
            case Notice():
                return (conversation.notice(message, anchor) if message.text.strip() else EMPTY), {}
            case Compacted():
                return conversation.compacted(message, anchor), {}
            case TurnEnded(outcome=outcome):
                started = self._turns.pop(message.session_id, None)
                since = started.at if started else None
                return conversation.turn_end(message, since, anchor), {"data_outcome": outcome}
            case SessionEnded(reason=reason):
                return element("p", f"Session ended: {reason}", class_="divider"), {}
            case Unknown() | Malformed():
                return conversation.raw(message, anchor), {}
            case UsageReport():
                return EMPTY, facts.usage(message)
            case RateLimits():
                return facts.limits(message), {"fact": True}

    def _session_started(
        self, message: SessionStarted
    ) -> tuple[Html, dict[str, str | bool | None]]:
        facts = render.session(message)
        title = " · ".join(facts)
        words = element("p", title, class_="divider") if title else EMPTY
        return words, {
            "data_parent": message.parent_session_id,
            "data_title": facts[1] if len(facts) > 1 else title,
            "data_model": message.model,
        }

    def _call(self, call: ToolCall, anchor: str) -> tuple[Html, dict[str, str | bool | None]]:
        self._calls.setdefault(call.session_id, CallIndex()).begin(call)
        result = self._results.get((call.session_id, call.call_id))
        return html_calls.use(Use(call, result), anchor), {"data_call": call.call_id}

    def _result(self, result: ToolResult, anchor: str) -> tuple[Html, dict[str, str | bool | None]]:
        if calls := self._calls.get(result.session_id):
            calls.end(result)
        if (result.session_id, result.call_id) in self._called:
            return EMPTY, {}
        card = html_calls.late_result(result, None, anchor)
        return card, {"data_result": result.call_id}

    def _diff(self, diff: Diff, seq: int) -> tuple[Html, dict[str, str | bool | None]]:
        """All changes of a turn so far. Of several in one range, only the last is shown."""
        if self._last_diffs[diff.session_id, diff.turn_id] != seq:
            return EMPTY, {}
        if len(diff.unified) > _LONGEST_DIFF or not (files := diffs.split(diff.unified)):
            return EMPTY, {}
        count = f"{len(files)} file{'s' * (len(files) != 1)}"
        title = f"All changes of this turn, {count}"
        return folded(title, diffs.changes(files), class_="turn-diff"), {}
