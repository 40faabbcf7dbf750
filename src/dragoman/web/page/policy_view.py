"""The policy page: edit the approval rules, and try them on past requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dragoman.html.pieces import EMPTY, Html, element
from dragoman.web.page import shell
from dragoman.web.page.rows import PolicyView, SessionRow

EXAMPLE: Final = """\
default = "ask"

[[rule]]
name = "looking is fine"
command = ["git status", "ls", "pwd"]
decision = "allow"

[[rule]]
name = "not without me"
command = ["rm", "git push"]
decision = "deny"
message = "Ask me in chat before you do that."
"""


def policy(view: PolicyView, *, sessions: Sequence[SessionRow] = ()) -> str:
    """The rules and their decisions on past requests."""
    where = (
        element("p", "Kept in ", element("code", view.path), class_="sub") if view.path else EMPTY
    )
    problem = view.problem or ""
    if problem and view.line:
        problem = f"Line {view.line}: {problem}"
    editor = element(
        "form",
        element(
            "label",
            "Rules in TOML. The first rule that matches decides. If none matches, the default applies: ",
            "usually, you are asked.",
            for_="rules",
        ),
        element(
            "div",
            element("pre", id="numbers", aria_hidden="true"),
            element(
                "textarea",
                Html("\n"),
                view.text,
                id="rules",
                name="text",
                spellcheck="false",
                autocapitalize="off",
                wrap="off",
                aria_describedby="problem",
            ),
            class_="editor",
        ),
        element("p", problem, id="problem", role="alert", class_="problem"),
        element(
            "div",
            element(
                "button",
                "Add an example",
                type="button",
                id="example",
                class_="button quiet",
            ),
            element("button", "Try on past requests", type="submit", value="try", class_="button"),
            element(
                "button",
                "Save",
                element("kbd", "Ctrl S", aria_hidden="true"),
                type="submit",
                value="save",
                class_="button primary",
            ),
            class_="ends",
        ),
        # In a template element, because attribute values cannot hold line breaks here.
        element("pre", Html("\n"), EXAMPLE, id="example-text", hidden=True),
        id="policy",
    )
    result = element(
        "section",
        element("h2", "Decisions on past requests"),
        element("p", "Not tried yet.", id="tried", role="status", class_="sub"),
        element(
            "div",
            element("table", id="verdicts"),
            class_="table",
            tabindex="0",
            role="region",
            aria_label="Past requests",
        ),
        class_="group",
    )
    remembered = element(
        "section",
        element("h2", "Always allowed"),
        element(
            "p",
            "The agent stores what you always allowed in its own files, and applies it before these rules. ",
            "Open sessions keep a removed rule until they are resumed.",
            class_="sub",
        ),
        element("ul", id="remembered", aria_label="Always allowed"),
        class_="group",
    )
    heading = element("h1", "Approval policy")
    body = element("div", heading, where, editor, remembered, result, class_="column")
    return shell.page("policy", "Policy", body, sessions=sessions, here="/policy")
