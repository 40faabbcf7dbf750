"""Approval requests as forms, always in full: people must see all of what they approve.

``form.ask`` contains the request, a place for the countdown, a message field, and one button for each
decision that the release offers. Sending the decision is up to the page's scripts.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast
from urllib.parse import urlsplit

import msgspec

from dragoman.html import diffs
from dragoman.html.output import output
from dragoman.html.pieces import EMPTY, Html, element, joined, opening
from dragoman.html.prose import prose
from dragoman.model import tools
from dragoman.model.forms import Field, fields
from dragoman.model.messages import ApprovalRequested, ToolCall
from dragoman.model.shells import is_users_shell
from dragoman.rendering import render

QUESTIONS: Final = {
    "command": "Run this command?",
    "edit": "Make these changes?",
    "permissions": "Grant these permissions?",
    "tool": "Use this tool?",
    "question": "A question for you",
    "elicitation": "A question for you",
}
WORDS: Final = {
    "allow": ("Allow", "y"),
    "allow_for_session": ("Allow for this session", "s"),
    "allow_always": ("Always allow", "w"),
    "deny": ("Deny", "n"),
    "cancel": ("Deny and stop", "x"),
}
"""The label and the key of each button."""


def ask(asked: ApprovalRequested, deadline_at: datetime | None = None) -> Html:
    """The form for a request."""
    title = element(
        "h2",
        element("span", "?", class_="mark", aria_hidden="true"),
        QUESTIONS[asked.kind],
        element("span", class_="countdown", role="timer"),
    )
    return element(
        "form",
        title,
        element("div", _body(asked), class_="ask-body", tabindex="0"),
        _where(asked),
        *_questions(asked),
        *[_field(each) for each in fields(asked.form)],
        element("p", class_="problem", role="alert", hidden=True),
        _decisions(asked),
        _always(asked),
        novalidate=True,
        class_=f"ask ask-{asked.kind}",
        aria_label=QUESTIONS[asked.kind],
        data_approval=asked.approval_id,
        data_ask=asked.kind,
        data_deadline=deadline_at.isoformat() if deadline_at else None,
    )


def _body(asked: ApprovalRequested) -> Html:
    if files := changes(asked):
        return diffs.changes(files)
    summary = asked.summary or asked.tool or ""
    if asked.kind == "command":
        sign = element("span", "$ ", class_="prompt-sign", aria_hidden="true")
        return element("pre", sign, _as_it_will_run(asked), class_="line")
    if asked.kind == "question":
        return EMPTY
    pieces = [prose(summary)]
    if asked.url is not None:
        pieces.append(_address(asked.url))
    if asked.command and asked.detail.get("network"):
        pieces.append(element("pre", asked.command, class_="line"))
    for name in ("permissions", "network", "arguments"):
        given = asked.detail.get(name)
        if isinstance(given, Mapping) and given:
            pieces.append(output(msgspec.json.format(msgspec.json.encode(given)).decode()))
    return joined(pieces)


def _as_it_will_run(asked: ApprovalRequested) -> str:
    """The script, if the user's own shell runs it, otherwise the full command line with its shell."""
    script = asked.detail.get("command")
    if (
        isinstance(script, str)
        and script
        and (asked.shell is None or is_users_shell(asked.shell, os.environ))
    ):
        return script
    return asked.command or asked.summary


def _address(url: str) -> Html:
    """A URL to visit: shown in full, and opened only by the user."""
    shown = element("pre", url, class_="line address")
    try:
        parts = urlsplit(url)
    except ValueError:
        return shown
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return shown
    words = f"Open {parts.hostname} in a new tab"
    link = element("a", words, href=url, target="_blank", rel="noopener noreferrer", class_="visit")
    return joined([shown, element("p", link)])


def changes(asked: ApprovalRequested) -> list[render.Change]:
    if asked.kind != "edit":
        return []
    call = ToolCall(call_id="", tool=tools.EDIT, native_tool="", input=asked.detail)
    return render.changes(call)


def _where(asked: ApprovalRequested) -> Html:
    pieces: list[Html] = []
    reason = asked.detail.get("reason")
    if isinstance(reason, str) and reason.strip() and reason != asked.summary:
        pieces.append(element("p", reason.strip(), class_="reason"))
    works_there = asked.kind not in ("question", "elicitation")
    cwd = (asked.cwd or asked.detail.get("cwd")) if works_there else None
    facts = [
        f"{word} {render.one_line(value, 400)}"
        for word, value in (
            ("in", cwd),
            (
                "with",
                asked.shell
                if asked.shell and not is_users_shell(asked.shell, os.environ)
                else None,
            ),
            ("from", asked.detail.get("server")),
        )
        if isinstance(value, str) and value
    ]
    if facts:
        pieces.append(element("p", ", ".join(facts), class_="where"))
    root = asked.detail.get("grant_root")
    if isinstance(root, str) and root:
        words = f"Allowing it also allows writing anywhere below {root}."
        pieces.append(element("p", words, class_="warn"))
    return joined(pieces)


def _always(asked: ApprovalRequested) -> Html:
    """What "Always allow" would store, and where."""
    always = asked.always
    if always is None or "allow_always" not in asked.choices:
        return EMPTY
    pieces: list[Html | str] = ["“Always allow” stores a rule for "]
    if always.prefix:
        pieces += ["commands that start with ", element("code", shlex.join(always.prefix))]
    elif always.host:
        pieces += ["connections to ", element("code", always.host)]
    else:
        pieces += ["this"]
    if always.stored_in:
        pieces += [", in ", element("code", always.stored_in)]
    return element("p", *pieces, ".", class_="always")


def _questions(asked: ApprovalRequested) -> list[Html]:
    if asked.kind != "question":
        return []
    questions = _dicts(asked.detail.get("questions"))
    return [_question(each, f"{number}") for number, each in enumerate(questions)]


def _question(question: dict[str, Any], number: str) -> Html:
    text = str(question.get("question") or "")
    name = str(question.get("id") or text)
    options = [
        element(
            "label",
            opening("input", type="radio", name=f"q{number}", value=str(option.get("label", ""))),
            element("span", str(option.get("label", ""))),
            element("small", str(option.get("description") or "")),
            class_="option",
        )
        for option in _dicts(question.get("options"))
    ]
    words = "Another answer" if options else "Your answer"
    kind = "password" if question.get("isSecret") is True else "text"
    own = EMPTY
    if not options or question.get("isOther") is True:
        own = element(
            "label",
            element("span", words, class_="aside-word"),
            opening("input", type=kind, class_="own", placeholder=words, autocomplete="off"),
        )
    return element(
        "fieldset", element("legend", text), *options, own, class_="question", data_question=name
    )


_INPUTS: Final = {"email": "email", "uri": "url", "date": "date"}


def _field(field: Field) -> Html:
    """One form field. The server validates the value against the schema."""
    star = element("span", "*", class_="required", aria_hidden="true") if field.required else ""
    label = element("span", field.title, star, class_="field-name")
    hint = element("small", field.description) if field.description else ""
    known: dict[str, Any] = {"data_field": field.name, "data_type": field.type}
    if field.type == "array" and field.choices:
        chosen = cast("list[Any]", field.default) if isinstance(field.default, list) else []
        boxes = [
            element(
                "label",
                opening(
                    "input", type="checkbox", value=_json(each.value), checked=each.value in chosen
                ),
                element("span", each.title),
                class_="option",
            )
            for each in field.choices
        ]
        return element("fieldset", element("legend", label), hint, *boxes, class_="field", **known)
    if field.type == "enum":
        options = [
            element(
                "option", each.title, value=_json(each.value), selected=each.value == field.default
            )
            for each in field.choices
        ]
        none = element("option", "Choose…")
        control = element("select", none, *options, aria_required=_yes(field.required), **known)
    elif field.type == "boolean":
        control = opening("input", type="checkbox", checked=field.default is True, **known)
        return element("label", control, label, hint, class_="field check")
    else:
        is_number = field.type in ("integer", "number")
        control = opening(
            "input",
            type="number" if is_number else _INPUTS.get(field.format or "", "text"),
            step={"integer": "1", "number": "any"}.get(field.type),
            value=_proposed(field),
            placeholder="2026-11-18T13:00:00Z" if field.format == "date-time" else None,
            aria_required=_yes(field.required),
            autocomplete="off",
            data_items=_items(field),
            **known,
        )
    return element("label", label, control, hint, class_="field")


def _proposed(field: Field) -> str | None:
    value = field.default
    if isinstance(value, list):
        return ", ".join(str(each) for each in cast("list[Any]", value))
    return value if isinstance(value, str) else None if value is None else _json(value)


def _items(field: Field) -> str | None:
    """The item type of a list without choices."""
    items = field.schema.get("items")
    kind = cast("dict[str, Any]", items).get("type") if isinstance(items, dict) else None
    return kind if field.type == "array" and isinstance(kind, str) else None


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _yes(value: bool) -> str | None:
    return "true" if value else None


def _decisions(asked: ApprovalRequested) -> Html:
    is_question = asked.kind == "question"
    if is_question:
        offered = [
            _button("answered", "Answer", None),
            _button("deny", "Do not answer", "n"),
            _button("cancel", "Stop", "x"),
        ]
    else:
        given = [each for each in asked.choices if each in WORDS] or ["allow", "deny"]
        words = dict(WORDS, allow=(_yes_word(asked), "y"))
        offered = [_button(each, *words[each]) for each in sorted(given, key=list(WORDS).index)]
    word = element(
        "label",
        element("span", "Message to the agent", class_="aside-word"),
        opening("input", type="text", class_="word-to-agent", placeholder="Message to the agent"),
    )
    return element("div", *offered, EMPTY if is_question else word, class_="decisions")


def _yes_word(asked: ApprovalRequested) -> str:
    """The buttons, with "Send" as the label of the one that submits a form."""
    if asked.kind == "elicitation":
        return "Send" if fields(asked.form) else "I agree" if asked.url else "Allow"
    return WORDS["allow"][0]


def _button(decision: str, words: str, key: str | None) -> Html:
    hint = element("kbd", key, aria_hidden="true") if key else ""
    return element(
        "button",
        words,
        hint,
        type="submit",
        value=decision,
        class_=f"decide {decision}",
        data_key=key,
    )


def _dicts(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    items = cast("list[Any]", value)
    return [cast("dict[str, Any]", each) for each in items if isinstance(each, dict)]
