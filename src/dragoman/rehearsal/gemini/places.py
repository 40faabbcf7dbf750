"""Where a request to the Gemini API stands in the script.

The agent puts the name of the tool before our ids: ``read_file__call_2_3_…``.
"""

from __future__ import annotations

from typing import Any

from dragoman.rehearsal.functions.prompts import (
    asks_to_go_on,
    is_helper,
    says_aborted,
    user_words,
)
from dragoman.rehearsal.places import HistoryWalk, ScriptPlace
from dragoman.rehearsal.requests import mapping, mappings
from dragoman.rehearsal.script import Script, Step


def find_place(
    script: Script, contents: list[dict[str, Any]], calling: tuple[type[Step], ...]
) -> ScriptPlace:
    """The place of a request in the script."""
    prompts = [words for each in contents if each.get("role") == "user" for words in _words(each)]
    walk = HistoryWalk(script, calling=calling, only_named=is_helper(script, prompts))
    for content in contents:
        if content.get("role") == "model":
            _see_model(walk, content)
        else:
            _see_user(walk, content)
    return walk.place()


def _see_model(walk: HistoryWalk, content: dict[str, Any]) -> None:
    for part in mappings(content.get("parts")):
        if "functionCall" in part:
            walk.called(_ident(part["functionCall"]))
        elif part.get("text") and not part.get("thought"):
            walk.said()


def _see_user(walk: HistoryWalk, content: dict[str, Any]) -> None:
    parts = mappings(content.get("parts"))
    returned = False
    for part in parts:
        if "functionResponse" in part:
            returned = True
            response = mapping(part["functionResponse"])
            if walk.called(_ident(response)) and says_aborted(output_of(response)):
                walk.aborted()
    words = _words(content)
    if any(asks_to_go_on(text) for text in words):
        walk.continued()
    elif any(walk.marked(text) for text in words):
        return
    elif words:
        walk.prompt("\n".join(words))
    elif not returned and _texts(content):
        walk.context()


def _words(content: dict[str, Any]) -> list[str]:
    return [words for text in _texts(content) if (words := user_words(text)).strip()]


def _texts(content: dict[str, Any]) -> list[str]:
    found = [part.get("text") for part in mappings(content.get("parts"))]
    return [text for text in found if isinstance(text, str)]


def _ident(call: Any) -> str:
    return str(mapping(call).get("id", "")).rpartition("__")[2]


def output_of(response: dict[str, Any]) -> str:
    """What a tool returned."""
    given = mapping(response.get("response"))
    return "\n".join(value for value in given.values() if isinstance(value, str))
