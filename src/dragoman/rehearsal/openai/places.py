"""Where a request to the Responses API stands in the script."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from dragoman.rehearsal.places import HistoryWalk, ScriptPlace
from dragoman.rehearsal.requests import HttpRequest, text_of
from dragoman.rehearsal.script import Script

_SUMMARIZE = ("CONTEXT CHECKPOINT COMPACTION", "<compaction_request>")
_CONTEXT = re.compile(
    r"# AGENTS\.md instructions for |Another language model started to solve this problem"
    r"|</?image\b"  # around a picture of the prompt
    r"|Warning: (?:apply_patch was requested|The maximum number of )"
    r"|<(?:permissions instructions|[a-z]+(?:_[a-z]+)*_(?:context|instructions|notification|action"
    r"|aborted|command|mode|switch|spec|role|prompt|goal)|skill|environment|turn_aborted|INSTRUCTIONS)\b"
)
_ABORTED = re.compile(r"aborted by user|aborted after|turn (?:was )?aborted", re.IGNORECASE)
_NEW_TASK = "Message Type: NEW_TASK"


_TURNS_KEPT = 4096


class Turns:
    """How many prompts there were when each turn began, by the id that newer releases send with it."""

    def __init__(self) -> None:
        self._prompts: dict[str, int] = {}

    def first_prompts(self, turn_id: str | None) -> int | None:
        return self._prompts.get(turn_id) if turn_id is not None else None

    def began(self, turn_id: str | None, prompts: int) -> None:
        if turn_id is None:
            return
        self._prompts.setdefault(turn_id, prompts)
        if len(self._prompts) > _TURNS_KEPT:
            self._prompts.pop(next(iter(self._prompts)), None)


def find_place(
    script: Script, request: HttpRequest, items: list[dict[str, Any]], turns: Turns | None = None
) -> ScriptPlace:
    """The place of a request in the script."""
    turns = Turns() if turns is None else turns
    turn_id = _turn_id(request)
    walk = HistoryWalk(
        script, only_named=_is_sub_agent(request), first_prompts=turns.first_prompts(turn_id)
    )
    for item in items:
        _see(walk, item)
    place = walk.place()
    turns.began(turn_id, place.prompts)
    return place


def _see(walk: HistoryWalk, item: dict[str, Any]) -> None:
    kind = item.get("type", "message")
    if kind == "message" and item.get("role") == "user":
        _see_user(walk, item)
    elif kind == "agent_message":
        text = text_of(item.get("content"))
        if _NEW_TASK in text:
            walk.prompt(text)
        else:
            walk.context()
    elif kind == "message" and item.get("role") == "assistant":
        walk.said()
    elif walk.called(str(item.get("call_id", ""))):
        if _ABORTED.search(text_of(item.get("output"))[:200]):
            walk.aborted()
        if kind == "tool_search_output":
            walk.prepared()


def _see_user(walk: HistoryWalk, item: dict[str, Any]) -> None:
    texts = list(_texts(item.get("content")))
    whole = "\n".join(texts)
    if walk.marked(whole):
        return
    if "<turn_aborted>" in whole:
        walk.aborted()
    if any(words in whole for words in _SUMMARIZE):
        walk.wants_summary()
        return
    said = "\n".join(text for text in texts if not _CONTEXT.match(text))
    if said:
        walk.prompt(said)
    else:
        walk.context()


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, list):
        for part in cast("list[Any]", content):
            yield text_of([part])
    else:
        yield text_of(content)


def _turn_id(request: HttpRequest) -> str | None:
    try:
        said = json.loads(request.headers.get("x-codex-turn-metadata", ""))
    except ValueError:
        return None
    turn_id = cast("dict[str, Any]", said).get("turn_id") if isinstance(said, dict) else None
    return turn_id if isinstance(turn_id, str) else None


def _is_sub_agent(request: HttpRequest) -> bool:
    """Whether a sub-agent asks. It must not take the turns of the agent that started it."""
    return request.headers.get("x-openai-subagent", "") not in ("", "review", "compact")
