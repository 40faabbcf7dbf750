"""The page of one session: header, conversation, sidebar, and message form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dragoman.html.pieces import Html, element, opening
from dragoman.rendering import render
from dragoman.web.page import approvals, charts, shell
from dragoman.web.page.rows import (
    Act,
    Choices,
    HarnessChoices,
    Option,
    SessionRow,
    SessionView,
    TurnMark,
)

_MOST_TURNS: Final = 500
_EXPORTS: Final = {
    "html": "HTML, one file",
    "text": "Plain text",
    "messages": "Messages (JSON lines)",
    "claude": "Claude's stream-json",
}

_ACTS: Final[dict[Act, str]] = {
    "rename": "Rename",
    "fork": "Fork",
    "archive": "Archive",
    "unarchive": "Bring back",
    "stop": "End the session",
}


def session(
    view: SessionView, *, sessions: Sequence[SessionRow] = (), choices: Choices | None = None
) -> str:
    """A session in its current state. The page's scripts follow it from there."""
    row = view.row
    offered = (choices or Choices()).of(row.harness)
    here = f"/s/{row.session_id}"
    body = [
        _head(view, offered),
        element(
            "div",
            element(
                "div",
                _conversation(view),
                _dock(view),
                element(
                    "section", id="steered", hidden=True, aria_label="Not read by the agent yet"
                ),
                *([element("p", view.closed, id="closed", class_="sub")] if view.closed else []),
                _elsewhere(view),
                _composer(view, offered),
                class_="talk",
            ),
            _rail(view),
            class_="columns",
        ),
    ]
    return shell.page("session", shell.title_of(row), *body, sessions=sessions, here=here)


def _head(view: SessionView, harness: HarnessChoices) -> Html:
    row = view.row
    state = shell.STATES[row.state]
    is_known = harness.name == row.harness
    title = harness.title if is_known else row.harness
    program = " ".join(filter(None, (title, row.version)))
    facts = [
        element("span", shell.harness_icon(harness) if is_known else "", program, class_="by")
        if program
        else "",
        element("span", row.model) if row.model else "",
    ]
    if row.is_open:
        facts.append(element("span", "open, last activity ", shell.since(row.at), id="open-turn"))
    notes = [
        element("span", words, class_="label", id=words)
        for words, holds in (("archived", row.is_archived), ("saved", not row.is_live))
        if holds
    ]
    exports = [
        element(
            "li",
            element(
                "a",
                _EXPORTS.get(each, each.capitalize()),
                href=f"/api/v1/sessions/{row.session_id}/export?format={each}",
                download=True,
            ),
        )
        for each in view.exports
    ]
    acts = [_act(name, words) for name, words in _ACTS.items() if name in view.acts]
    acts += [_hand_off(each) for each in view.receivers]
    acts.append(_act("raw", "Show context and raw lines"))
    menu = element(
        "details",
        element("summary", "⋯", aria_label="More", class_="button quiet"),
        element(
            "div",
            element("h2", "Export"),
            element("ul", *exports),
            element("h2", "Session"),
            element("ul", *(element("li", each) for each in acts)),
            class_="menu",
        ),
        class_="menu-holder",
    )
    return element(
        "header",
        element("span", state, id="state", class_=f"pill {row.state}", role="status"),
        element(
            "div",
            element("h1", shell.title_of(row), id="title"),
            element("p", *facts, shell.folder(row.cwd), *notes, class_="sub"),
            class_="heading",
        ),
        element(
            "div",
            _button("previous", "↑", "Previous turn", "k"),
            _button("next", "↓", "Next turn", "j"),
            _button("split", "◫", "Changes side by side", "d"),
            _button("details", "☷", "Plan, turns and usage", "i"),
            menu,
            class_="acts",
        ),
        id="head",
        data_session=row.session_id,
        data_state=row.state,
        data_live=str(row.is_live).lower(),
        data_archived=str(row.is_archived).lower(),
        data_elsewhere=str(row.is_elsewhere).lower(),
        data_last=str(view.last_seq),
        data_earlier=str(view.has_earlier).lower(),
        data_cwd=row.cwd,
        data_harness=row.harness,
    )


def _act(name: str, words: str) -> Html:
    return element("button", words, type="button", data_act=name)


def _hand_off(to: Option) -> Html:
    words = f"Hand off to {to.label}"
    return element("button", words, type="button", data_act="handoff", data_to=to.value)


def _button(name: str, sign: str, words: str, key: str) -> Html:
    return element(
        "button",
        sign,
        type="button",
        data_act=name,
        aria_label=words,
        title=f"{words} ({key})",
        aria_keyshortcuts=key,
        class_="button quiet",
    )


def _conversation(view: SessionView) -> Html:
    return element(
        "div",
        element(
            "p",
            "Loading earlier messages …",
            id="earlier",
            class_="divider",
            hidden=not view.has_earlier,
        ),
        element("div", *(Html(each.html) for each in view.fragments), id="log"),
        element("div", id="live"),
        element("button", "↓ Newest", id="newest", type="button", class_="button", hidden=True),
        id="scroller",
        role="region",
        tabindex="0",
        aria_label="Conversation",
    )


def _elsewhere(view: SessionView) -> Html:
    """Why a session that another program runs accepts no prompts, and what the user can do instead."""
    can_fork = "fork" in view.acts
    way = "You can watch it here" + (", or fork it to continue in a copy." if can_fork else ".")
    fork = element("button", "Fork", type="button", data_act="fork", class_="button")
    return element(
        "div",
        element("p", f"This session is running in another program. {way}", class_="sub"),
        *([fork] if can_fork else []),
        id="elsewhere",
        hidden=not view.row.is_elsewhere,
    )


def _dock(view: SessionView) -> Html:
    forms = [approvals.ask(each.asked, each.deadline_at) for each in view.pending]
    return element("section", *forms, id="dock", aria_label="Approval requests")


def _rail(view: SessionView) -> Html:
    turns = [_turn(each, number) for number, each in enumerate(view.turns, 1)][-_MOST_TURNS:]
    context = element(
        "section",
        element("h2", "Context"),
        element(
            "div",
            opening("progress", id="context", max="100", value="0", aria_label="Context used"),
            Html("</progress>"),
            element("p", "not reported yet", id="context-words", class_="sub"),
        ),
        element("dl", id="tokens", class_="rows"),
        element("div", *(charts.window(*each) for each in view.windows), id="limits"),
    )
    return element(
        "div",
        context,
        element(
            "section", element("h2", "Plan"), element("div", id="plan"), id="plan-part", hidden=True
        ),
        element(
            "section",
            element("h2", "Turns"),
            element("ol", *turns, id="turns", class_="turns"),
            id="turns-part",
            hidden=not turns,
        ),
        id="rail",
        role="complementary",
        aria_label="Plan, turns and usage",
        tabindex="0",
    )


def _turn(turn: TurnMark, number: int) -> Html:
    words = render.one_line(turn.title, 80) or f"Turn {number}"
    return element(
        "li",
        element("a", words, href=f"#e{turn.seq}"),
        class_=turn.outcome,
        data_seq=str(turn.seq),
        data_number=str(number),
        data_unnamed=None if turn.title else "true",
    )


def _composer(view: SessionView, choices: HarnessChoices) -> Html:
    row = view.row
    words = "Continue this session" if row.is_live else "Resume this session"
    return element(
        "form",
        element("label", "Message to the agent", class_="aside-word", for_="words"),
        element(
            "textarea",
            id="words",
            name="text",
            rows="1",
            placeholder=words,
            aria_keyshortcuts="r",
            autocomplete="off",
        ),
        element(
            "div",
            shell.picker(
                "Model",
                "model",
                [Option(value=each) for each in choices.models]
                or ([] if row.model else [Option(value="default", label="Default")]),
                row.model,
            ),
            shell.picker("Access", "access", choices.access, view.sandbox),
            element("span", "Enter sends, Shift+Enter starts a new line", id="hint", class_="sub"),
            element(
                "button",
                type="button",
                id="left-over",
                class_="button danger",
                hidden=True,
            ),
            element(
                "button",
                "Stop",
                element("kbd", "Esc", aria_hidden="true"),
                type="button",
                id="interrupt",
                title="Stop the turn and the commands it runs",
                class_="button danger",
                hidden=row.state not in ("working", "waiting") or not choices.can_interrupt,
            ),
            element("button", "Send", type="submit", id="send", class_="button primary"),
            class_="row",
        ),
        id="composer",
        data_steer=str(choices.can_steer).lower(),
        aria_label="Message the agent",
        hidden=view.closed is not None or row.is_elsewhere,
    )
