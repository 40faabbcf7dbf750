"""What an agent asks, as a form: the whole of it, since nobody should approve what he cannot see.

``form.ask`` holds the request, a place for the countdown, a word to the agent and one button for each
decision that this release offers. The page sends what is pressed; nothing here does.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast

import msgspec

from dragoman.export import html_diffs, render
from dragoman.export.html_output import output
from dragoman.export.html_pieces import EMPTY, Html, element, joined, opening
from dragoman.export.html_prose import prose
from dragoman.model import tools
from dragoman.model.messages import ApprovalRequested, ToolCall

QUESTIONS: Final = {
    "command": "May I run this command?",
    "edit": "May I make these changes?",
    "permissions": "May I have these permissions?",
    "tool": "May I use this tool?",
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
"""What a button says, and the key that presses it."""


def ask(asked: ApprovalRequested, deadline_at: datetime | None = None) -> Html:
    """The form that settles a request."""
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
        *(_fields(asked) if asked.kind in ("question", "elicitation") else []),
        _decisions(asked),
        class_=f"ask ask-{asked.kind}",
        aria_label=QUESTIONS[asked.kind],
        data_approval=asked.approval_id,
        data_ask=asked.kind,
        data_deadline=deadline_at.isoformat() if deadline_at else None,
    )


def _body(asked: ApprovalRequested) -> Html:
    if files := changes(asked):
        return html_diffs.changes(files)
    summary = asked.summary or asked.tool or ""
    if asked.kind == "command":
        sign = element("span", "$ ", class_="prompt-sign", aria_hidden="true")
        return element("pre", sign, summary, class_="line")
    if asked.kind == "question":
        return EMPTY
    pieces = [prose(summary)]
    for name in ("permissions", "arguments"):
        given = asked.detail.get(name)
        if isinstance(given, Mapping) and given:
            pieces.append(output(msgspec.json.format(msgspec.json.encode(given)).decode()))
    return joined(pieces)


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
    facts = [
        f"{word} {render.one_line(value, 200)}"
        for word, key in (("in", "cwd"), ("from", "server"))
        if isinstance(value := asked.detail.get(key), str) and value
    ]
    if facts:
        pieces.append(element("p", ", ".join(facts), class_="where"))
    return joined(pieces)


def _fields(asked: ApprovalRequested) -> list[Html]:
    if asked.kind == "question":
        questions = _dicts(asked.detail.get("questions"))
        return [_question(each, f"{number}") for number, each in enumerate(questions)]
    schema = next(
        (asked.detail[key] for key in asked.detail if key.lower().endswith("schema")), None
    )
    wanted = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    properties = wanted.get("properties")
    if not isinstance(properties, dict):
        return []
    return [
        _property(str(name), cast("dict[str, Any]", spec))
        for name, spec in cast("dict[str, Any]", properties).items()
        if isinstance(spec, dict)
    ]


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
    own = element(
        "label",
        element("span", "Another answer" if options else "Your answer", class_="aside-word"),
        opening(
            "input",
            type="text",
            class_="own",
            placeholder="Another answer" if options else "Your answer",
        ),
    )
    return element(
        "fieldset", element("legend", text), *options, own, class_="question", data_question=name
    )


def _property(name: str, spec: dict[str, Any]) -> Html:
    label = str(spec.get("title") or spec.get("description") or name)
    kind = spec.get("type")
    choices = cast("list[Any]", spec.get("enum")) if isinstance(spec.get("enum"), list) else []
    if choices:
        options = [element("option", str(each)) for each in choices]
        field = element("select", *options, data_field=name)
    else:
        types = {"boolean": "checkbox", "number": "number", "integer": "number"}
        field = opening(
            "input",
            type=types.get(str(kind), "text"),
            step="any" if kind == "number" else None,
            data_field=name,
        )
    return element("label", element("span", label), field, class_="field")


def _decisions(asked: ApprovalRequested) -> Html:
    is_question = asked.kind == "question"
    if is_question:
        offered = [_button("answered", "Answer", None), _button("cancel", "Stop", "x")]
    else:
        given = [each for each in asked.choices if each in WORDS] or ["allow", "deny"]
        offered = [_button(each, *WORDS[each]) for each in sorted(given, key=list(WORDS).index)]
    word = element(
        "label",
        element("span", "A word to the agent", class_="aside-word"),
        opening("input", type="text", class_="word-to-agent", placeholder="A word to the agent"),
    )
    return element("div", *offered, EMPTY if is_question else word, class_="decisions")


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
