"""Where a request stands in the script, found from the request alone.

Strategy: an agent sends its whole history with every request, and our own call ids are in it. So we
write the place into them: ``call_2_3_…`` means that response 3 of turn 2 comes next. One walk over
the history then gives the place: each prompt begins a turn, each of our call ids says how far the
turn has come. When the agent has its history summarized, the calls are gone, but the summary is
ours as well and carries the same mark.

A prompt that comes while the script has more to say in the turn is a steer: it changes nothing of the
place. It is the next prompt after all where the turn was interrupted, or where the next response is a
fault that ended it.

So any number of sessions can share one script, at any speed, resumed or not, and nothing is counted
by order of arrival. The price: the stand-in model knows no more than a real one. After a turn was
taken back, the next prompt gets the turn that follows in the history that is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dragoman.rehearsal.requests import Request, text_of
from dragoman.rehearsal.script import Fault, Script, responses

Purpose: TypeAlias = Literal["prompt", "summary", "agent"]

_CALL = re.compile(r"call_(\d+)_(\d+)_[0-9a-f]+$")
_MARK = re.compile(r"\[rehearsal: turn (\d+), response (\d+)\]")
_SUMMARIZE = ("CONTEXT CHECKPOINT COMPACTION", "<compaction_request>")
_CONTEXT = re.compile(
    r"# AGENTS\.md instructions for |Another language model started to solve this problem"
    r"|Warning: (?:apply_patch was requested|The maximum number of )"
    r"|<(?:permissions instructions|[a-z]+(?:_[a-z]+)*_(?:context|instructions|notification|action"
    r"|aborted|command|mode|switch|spec|role|prompt|goal)|skill|environment|turn_aborted|INSTRUCTIONS)\b"
)
_ABORTED = re.compile(r"aborted by user|aborted after|turn (?:was )?aborted", re.IGNORECASE)
_NEW_TASK = "Message Type: NEW_TASK"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the script; ``turn`` is None where the script says nothing."""

    turn: int | None
    response: int
    prompt: str
    """The prompt that is being answered."""
    prompts: int
    """How many there were so far, this one included."""
    purpose: Purpose
    searched: bool
    """Whether the agent has just looked for a tool that this response needs."""

    @property
    def mark(self) -> str:
        """The place as words that survive in a summary."""
        return f"[rehearsal: turn {self.turn or 0}, response {self.response}]"


def call_id(turn: int, following: int, number: int) -> str:
    """The id of a call after which the given response comes."""
    return f"call_{turn}_{following}_{number:06x}"


def find_place(script: Script, request: Request) -> Place:
    """The place of a request in the script."""
    walk = _Walk(script, only_named=_is_sub_agent(request))
    for item in request.items:
        walk.see(item)
    return walk.place()


class _Walk:
    """Goes over a history, item by item."""

    def __init__(self, script: Script, *, only_named: bool) -> None:
        self._script = script
        self._only_named = only_named
        self._purpose: Purpose = "agent" if only_named else "prompt"
        self._used: list[int] = []
        self._turn: int | None = None
        self._response = 0
        self._ended = False  # the model has said something that no call followed
        self._prompt = ""
        self._prompts = 0
        self._searched = False
        self._aborted = False  # the turn did not go on: what comes next is a prompt

    def see(self, item: dict[str, Any]) -> None:
        kind = item.get("type", "message")
        if kind == "message" and item.get("role") == "user":
            self._see_user(item)
        elif kind == "agent_message":
            text = text_of(item.get("content"))
            if _NEW_TASK in text:
                self._begin(text)
            else:
                self._see_context()
        elif kind == "message" and item.get("role") == "assistant":
            self._ended = True
        elif found := _CALL.match(str(item.get("call_id", ""))):
            self._resume(int(found[1]), int(found[2]))
            self._aborted = bool(_ABORTED.search(text_of(item.get("output"))[:200]))
            self._searched = kind == "tool_search_output"

    def _see_user(self, item: dict[str, Any]) -> None:
        texts = list(_texts(item.get("content")))
        whole = "\n".join(texts)
        if mark := _MARK.search(whole):
            self._resume(int(mark[1]), int(mark[2]))
            self._aborted = True  # what follows a summary is a prompt, until a call says otherwise
            return
        self._aborted = self._aborted or "<turn_aborted>" in whole
        if any(words in whole for words in _SUMMARIZE):
            self._purpose = "summary"
            return
        said = "\n".join(text for text in texts if not _CONTEXT.match(text))
        if said:
            self._begin(said)
        else:
            self._see_context()

    def _see_context(self) -> None:
        if self._ended:  # news after the last word: the turn goes on, but the script does not
            self._turn, self._response, self._ended = None, 0, False

    def _begin(self, prompt: str) -> None:
        self._prompt = prompt
        self._prompts += 1
        self._searched = False
        if not self._is_named(prompt) and not self._only_named and self._has_more():
            return  # words put in while the turn goes on
        turn = self._next_turn(prompt)
        self._turn, self._response, self._ended = turn, 0, False
        self._aborted = False
        if turn is not None:
            self._used.append(turn)

    def _resume(self, turn: int, response: int) -> None:
        """Our own mark says where we are; so what looked like a prompt in between was none."""
        if self._turn != turn:
            if self._turn is not None and self._response == 0 and self._used:
                self._used.pop()
            if turn not in self._used:
                self._used.append(turn)
        self._turn, self._response, self._ended = turn, response, False

    def _next_turn(self, prompt: str) -> int | None:
        turns = list(enumerate(self._script.turns))
        named = [at for at, turn in turns if turn.when is not None and turn.when in prompt]
        if named:
            return next((at for at in named if at not in self._used), named[-1])
        if self._only_named:
            return None
        return next((at for at, turn in turns if turn.when is None and at not in self._used), None)

    def _is_named(self, prompt: str) -> bool:
        return any(turn.when is not None and turn.when in prompt for turn in self._script.turns)

    def _has_more(self) -> bool:
        """Whether the turn goes on, as far as the script and the history can say."""
        if self._ended or self._aborted or not self._response or self._turn is None:
            return False
        turns = self._script.turns
        given = responses(turns[self._turn]) if self._turn < len(turns) else ()
        if self._response >= len(given):
            return False
        return not any(isinstance(step, Fault) for step in given[self._response])

    def place(self) -> Place:
        turn = self._turn
        if turn is not None and turn >= len(self._script.turns):
            turn = None  # a history that another script has made
        return Place(
            turn, self._response, self._prompt, self._prompts, self._purpose, self._searched
        )


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, list):
        for part in content:  # pyright: ignore[reportUnknownVariableType]
            yield text_of([part])
    else:
        yield text_of(content)


def _is_sub_agent(request: Request) -> bool:
    """A helper that the agent itself has started, which must not take its master's turns."""
    return request.headers.get("x-openai-subagent", "") not in ("", "review", "compact")
