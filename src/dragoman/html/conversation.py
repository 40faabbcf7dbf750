"""What was said, as HTML: prompts, texts, thoughts, plans, approvals, notices, ends of turns.

Each function is pure and makes one piece of a page from one message. A page that shows a session
while it happens can use the same ones; the classes below are what its style sheet may count on.

=====================  =======================================================================
class                  what
=====================  =======================================================================
``said prompt``        what the user asked, with its images
``said text``          what the agent said; ``commentary`` or ``final-answer`` when it is known
``thinking``           folded; the first words of it in the summary
``context``            folded, with the role
``plan``               a checklist: ``completed``, ``in-progress``, ``pending``
``approval``           a question; ``yes``, ``no``, ``settled`` or ``open``
``notice``             ``info``, ``warning``, ``error``
``compacted``          a line across the page, or the summary, folded
``turn-end``           ``completed``, ``failed``, ``interrupted``; with ``usage`` and ``took``
``raw``                a line that we have no word for
=====================  =======================================================================
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from dragoman.html.output import output
from dragoman.html.pieces import EMPTY, Html, clipped, element, folded, joined, permalink
from dragoman.html.prose import prose
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Context,
    Malformed,
    Notice,
    PlanStep,
    Text,
    Thinking,
    TurnEnded,
    Unknown,
)
from dragoman.model.usage import Usage
from dragoman.rendering import render

_TITLE_WIDTH: Final = 90
_BOXES: Final = {"completed": "✓", "in_progress": "◐", "pending": ""}
_MARKS: Final = {"completed": "✓", "failed": "✗", "interrupted": "■"}
_BOLD: Final = re.compile(r"\s*\*\*(?P<title>[^*\n]+)\*\*\s*")


def prompt(words: str, images: Sequence[Html] = (), anchor: str | None = None) -> Html:
    """What the user asked; ``images`` as :class:`~dragoman.html.images.InlineImages` shows them."""
    shown = element("div", *images, class_="images") if images else ""
    who = element("span", "You", class_="who")
    return element(
        "article", who, permalink(anchor), prose(words), shown, class_="said prompt", id=anchor
    )


def text(message: Text, anchor: str | None = None) -> Html:
    class_ = "said text" + (f" {message.phase.replace('_', '-')}" if message.phase else "")
    return element("article", permalink(anchor), prose(message.text), class_=class_, id=anchor)


def thinking(message: Thinking, anchor: str | None = None) -> Html:
    if bold := _BOLD.match(message.text):
        title, rest = bold["title"], message.text[bold.end() :]
    else:
        title, rest = render.one_line(message.text, _TITLE_WIDTH), message.text
    label = joined([element("span", "Thinking", class_="who"), " ", title])
    if not rest.strip() or rest.strip() == title:
        return element("p", label, class_="thinking whole", id=anchor)
    return folded(label, prose(rest), class_="thinking", id=anchor)


def context(message: Context, anchor: str | None = None) -> Html:
    title = f"Context ({render.one_line(message.role, _TITLE_WIDTH)})"
    return folded(title, prose(message.text), class_="context", id=anchor)


def plan(steps: Sequence[PlanStep], why: str | None, anchor: str | None = None) -> Html:
    done = sum(step.status == "completed" for step in steps)
    bar = element(
        "header",
        element("span", "Plan", class_="name"),
        permalink(anchor),
        element("span", f"{done} of {len(steps)}", class_="facts"),
        class_="bar",
    )
    items = [_step(step) for step in steps]
    return element(
        "article", bar, prose(why or ""), element("ol", *items), class_="use plan ok", id=anchor
    )


def _step(step: PlanStep) -> Html:
    box = element("span", _BOXES[step.status], class_="box", aria_hidden="true")
    state = step.status.replace("_", " ")
    hidden = element("span", f" ({state})", class_="aside-word")
    words = element("span", clipped(" ".join(step.text.split()), 2000))
    return element("li", box, words, hidden, class_=state.replace(" ", "-"))


def approval(
    asked: ApprovalRequested, settled: ApprovalSettled | None, anchor: str | None = None
) -> Html:
    """A question, and what was decided."""
    name = {"question": "Question", "elicitation": "Question"}.get(asked.kind, "Approval")
    what = render.one_line(asked.summary or asked.tool or asked.approval_id, 400)
    decision = settled.decision if settled else "not answered"
    bar = element(
        "header",
        element("span", name, class_="name"),
        element("span", asked.kind, class_="kind") if name == "Approval" else "",
        permalink(anchor),
        element("span", element("span", decision, class_="decision"), class_="facts"),
        class_="bar",
    )
    state = _decided(settled.decision) if settled else "open"
    choices = element("p", "Offered: " + ", ".join(asked.choices)) if asked.choices else ""
    more = EMPTY
    if asked.detail:
        pretty = msgspec.json.format(msgspec.json.encode(asked.detail)).decode()
        more = folded("Details", choices, output(pretty), class_="input")
    body = element("pre", what, class_="line")
    return element("article", bar, body, more, class_=f"approval {state}", id=anchor)


def decision(settled: ApprovalSettled, anchor: str | None = None) -> Html:
    """A decision whose question is not at hand."""
    words = f"Approval {settled.approval_id}: {settled.decision}"
    return element("p", words, class_="notice info", id=anchor)


def _decided(decision: str) -> str:
    word = decision.lower()
    if word.startswith(("accept", "approve", "allow", "yes", "grant")):
        return "yes"
    return "no" if word.startswith(("de", "cancel", "abort", "no", "refuse")) else "settled"


def notice(message: Notice, anchor: str | None = None) -> Html:
    label = element("span", message.level.capitalize(), class_="who")
    retry = element("span", " (will retry)", class_="retry") if message.will_retry else ""
    class_ = f"notice {message.level}"
    return element("p", label, " ", clipped(message.text.strip()), retry, class_=class_, id=anchor)


def compacted(message: Compacted, anchor: str | None = None) -> Html:
    title = "Conversation compacted"
    if message.summary and message.summary.strip():
        return folded(title, prose(message.summary), class_="compacted", id=anchor)
    return element("p", title, class_="compacted whole", id=anchor)


def turn_end(message: TurnEnded, since: datetime | None = None, anchor: str | None = None) -> Html:
    facts = [element("span", f"{_MARKS[message.outcome]} {message.outcome}", class_="outcome")]
    if message.usage:
        facts.append(usage(message.usage))
    if took := render.elapsed(since, message.at):
        facts.append(element("span", took, class_="took"))
    why = EMPTY
    if message.error:
        why = element("pre", clipped(message.error.message.strip()), class_="output bad")
    return element("footer", *facts, why, class_=f"turn-end {message.outcome}", id=anchor)


def usage(spent: Usage) -> Html:
    return element("span", f"{render.spent(spent)} tokens", class_="usage")


def raw(message: Unknown | Malformed, anchor: str | None = None) -> Html:
    kind = message.native_type if isinstance(message, Unknown) else message.problem
    title = f"{'Unknown' if isinstance(message, Unknown) else 'Not JSON'}: "
    title += render.one_line(kind, _TITLE_WIDTH)
    return folded(title, output(message.raw), class_="raw", id=anchor)
