"""Fills in a form for an MCP server: one field after the other, then a review of all values.

Each value is validated when it is entered, and the whole form before it is sent. Enter alone accepts
the default, or leaves an optional field empty. Esc goes one step back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from dragoman.cli.approvals.steps import AnswerStep, Came, by_person, choices
from dragoman.cli.live.cells import clip, hung, wrap
from dragoman.cli.live.editor import Editor
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.keys import Key
from dragoman.model.forms import Field, coerce, defaults, fields, problems
from dragoman.rendering import render

_EXPECTED: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "yes or no",
    "enum": "one of these, by name or number",
    "array": "a comma-separated list",
}
_VALUE_WIDTH: Final = 400


def fill_in(schema: Mapping[str, Any], back: AnswerStep) -> AnswerStep:
    """The first step of filling in this form."""
    asked = fields(schema)
    return Fill(dict(schema), asked, {}, back) if asked else Send(dict(schema), {}, back)


@dataclass(frozen=True, slots=True)
class Fill:
    """One field."""

    schema: dict[str, Any]
    asked: list[Field]
    """The current field and those after it."""
    content: dict[str, Any]
    back: AnswerStep
    problem: str = ""
    editor: Editor = field(default_factory=Editor)
    keys: str = ""

    def head(self, ink: Ink, width: int) -> list[str]:
        now = self.asked[0]
        name = f" ({now.name})" if now.title != now.name else ""
        total = len(fields(self.schema))
        place = f"{total - len(self.asked) + 1} of {total}: "
        must = "required" if now.required else "optional"
        rows = [ink(row, "bold") for row in wrap(place + render.flat(now.title + name), width)]
        rows += [ink(row, "dim") for row in hung("  ", render.harmless(now.description), width)]
        for number, each in enumerate(now.choices, 1):
            rows += hung(f"{number:>2} ", render.flat(each.title), width)
        hint = f"{_EXPECTED[now.type]}, {must}"
        if now.format:
            hint = f"{hint}, format {render.flat(now.format)}"
        if (proposed := self._proposed()) is not None:
            hint = f"{hint}; Enter accepts {shown(proposed)}"
        elif not now.required:
            hint = f"{hint}; Enter skips it"
        rows += [ink(row, "dim") for row in wrap(f"{hint} (Esc: back)", width)]
        return rows + [ink(row, "red") for row in hung("! ", self.problem, width)]

    def press(self, key: Key) -> Came:
        if key.name == "escape":
            return self.back
        entry = self.editor.press(key)
        if entry is None:
            return None
        now, content = self.asked[0], dict(self.content)
        content.pop(now.name, None)
        if not entry:
            if (proposed := self._proposed()) is not None:
                content[now.name] = proposed
            elif now.required:
                return self._again(f"{now.name} is required")
        else:
            try:
                content[now.name] = coerce(now, entry)
            except ValueError as problem:
                return self._again(str(problem))
        rest = self.asked[1:]
        return Fill(self.schema, rest, content, self) if rest else Send(self.schema, content, self)

    def _proposed(self) -> Any:
        return defaults(self.schema).get(self.asked[0].name)

    def _again(self, problem: str) -> Fill:
        return Fill(self.schema, self.asked, self.content, self.back, problem)


@dataclass(frozen=True, slots=True)
class Send:
    """The review of all values before they are sent."""

    schema: dict[str, Any]
    content: dict[str, Any]
    back: AnswerStep
    editor: None = None

    @property
    def keys(self) -> str:
        return "nc" if self._problems else "ync"

    @property
    def _problems(self) -> list[str]:
        return problems(self.schema, self.content)

    def head(self, ink: Ink, width: int) -> list[str]:
        rows = [ink("The following will be sent:", "bold")]
        for name, value in self.content.items():
            rows += hung("  ", f"{render.flat(name)}: {shown(value)}", width)
        rows += ["  nothing"] * (not self.content)
        wrong = self._problems
        for each in wrong:
            rows += [ink(row, "red") for row in hung("! ", render.harmless(each), width)]
        send = [] if wrong else [("y", "send it")]
        return rows + choices(
            ink, width, [*send, ("Esc", "back"), ("n", "no"), ("c", "no, and stop")]
        )

    def press(self, key: Key) -> Came:
        if key.name == "escape":
            return self.back
        if key.name != "text" or key.text not in tuple(self.keys):
            return None
        if key.text == "y":
            return by_person("allow", content=self.content)
        return by_person("deny" if key.text == "n" else "cancel")


def shown(value: Any) -> str:
    """A form value for display, on one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return clip(render.flat(text), _VALUE_WIDTH)
