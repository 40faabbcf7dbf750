"""Where a request for a chat completion stands in the script."""

from __future__ import annotations

from typing import Any

from dragoman.rehearsal.functions.prompts import (
    asks_to_go_on,
    is_helper,
    says_aborted,
    user_words,
)
from dragoman.rehearsal.places import HistoryWalk, ScriptPlace
from dragoman.rehearsal.requests import HttpRequest, mappings, text_of
from dragoman.rehearsal.script import Script, Step

_PARENT = "x-parent-session-id"
"""The header with which opencode says that a sub-agent asks."""


def find_place(
    script: Script,
    request: HttpRequest,
    messages: list[dict[str, Any]],
    calling: tuple[type[Step], ...],
) -> ScriptPlace:
    """The place of a request in the script."""
    prompts = [
        words for message in messages if message.get("role") == "user" for words in _words(message)
    ]
    helps = _PARENT in request.headers or is_helper(script, prompts)
    walk = HistoryWalk(script, calling=calling, only_named=helps)
    for message in messages:
        match message.get("role"):
            case "user":
                _see_user(walk, message)
            case "assistant":
                _see_model(walk, message)
            case "tool":
                if walk.called(str(message.get("tool_call_id", ""))) and says_aborted(
                    text_of(message.get("content"))
                ):
                    walk.aborted()
            case _:
                continue
    return walk.place()


def _see_user(walk: HistoryWalk, message: dict[str, Any]) -> None:
    whole = text_of(message.get("content"))
    if walk.marked(whole):
        return
    if asks_to_go_on(whole):
        walk.continued()
        return
    words = _words(message)
    # The parts of one message are one prompt: an attached file or picture comes as a part of its own.
    if words:
        walk.prompt("\n".join(words))
    else:
        walk.context()


def _words(message: dict[str, Any]) -> list[str]:
    content = message.get("content")
    texts = [content] if isinstance(content, str) else [text_of([p]) for p in mappings(content)]
    return [words for text in texts if (words := user_words(text)).strip()]


def _see_model(walk: HistoryWalk, message: dict[str, Any]) -> None:
    if text_of(message.get("content")):
        walk.said()
    for call in mappings(message.get("tool_calls")):
        walk.called(str(call.get("id", "")))
