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

Each wire knows what a prompt, a call and context look like in its own history (``openai/places.py``,
``anthropic/places.py``); what they mean for the place is decided here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dragoman.rehearsal.script import Call, Fault, Script, Step, responses

Purpose: TypeAlias = Literal["prompt", "summary", "agent"]

_CALL = re.compile(r"(?:call|toolu)_(b?)(\d+)_(\d+)_[0-9a-f]+$")
_MARK = re.compile(r"\[rehearsal: turn (\d+), response (\d+)\]")


@dataclass(frozen=True, slots=True)
class ScriptPlace:
    """A place in the script; ``turn`` is None where the script says nothing."""

    turn: int | None
    response: int
    prompt: str
    """The prompt that is being answered."""
    prompts: int
    """How many there were so far, this one included."""
    purpose: Purpose
    prepared: bool
    """Whether the agent has just done what this response needs first, such as a search for a tool."""

    @property
    def mark(self) -> str:
        """The place as words that survive in a summary."""
        return f"[rehearsal: turn {self.turn or 0}, response {self.response}]"


def call_id(
    turn: int, following: int, number: int, *, prefix: str = "call", before: str = ""
) -> str:
    """The id of a call after which the given response comes; ``before`` is "b" if the call prepares it."""
    return f"{prefix}_{before}{turn}_{following}_{number:06x}"


class HistoryWalk:
    """Goes over a history, from one thing that matters for the place to the next."""

    def __init__(
        self,
        script: Script,
        *,
        calling: tuple[type[Step], ...] = (Call,),
        only_named: bool = False,
        first_prompts: int | None = None,
    ) -> None:
        self._script = script
        self._calling = calling
        self._only_named = only_named
        self._first_prompts = (
            first_prompts  # so many were there when the turn of this request began
        )
        self._purpose: Purpose = "agent" if only_named else "prompt"
        self._used: list[int] = []
        self._turn: int | None = None
        self._response = 0
        self._ended = False  # the model has said something that no call followed
        self._prompt = ""
        self._prompts = 0
        self._prepared = False
        self._aborted = False  # the turn did not go on: what comes next is a prompt

    def said(self) -> None:
        """The model said something."""
        self._ended = True

    def called(self, ident: str) -> bool:
        """The model called a tool, or the tool returned; whether the call is one of ours."""
        found = _CALL.match(ident)
        if found is None:
            return False
        self._resume(int(found[2]), int(found[3]))
        self._aborted = False
        self._prepared = bool(found[1])
        return True

    def prepared(self) -> None:
        """The call that was just seen prepares the response that asked for it."""
        self._prepared = True

    def aborted(self) -> None:
        """The turn was interrupted."""
        self._aborted = True

    def continued(self) -> None:
        """The agent asks for the same response again, because it was cut short."""
        self._ended = False

    def wants_summary(self) -> None:
        """The agent asks for a summary of the history."""
        self._purpose = "summary"

    def marked(self, text: str) -> bool:
        """A text that may be a summary of ours; whether it is."""
        mark = _MARK.search(text)
        if mark is None:
            return False
        self._resume(int(mark[1]), int(mark[2]))
        # The prompts before it may be gone from the history, but their turns were used.
        before = enumerate(self._script.turns[: int(mark[1])])
        self._used += [at for at, turn in before if turn.when is None and at not in self._used]
        self._aborted = True  # what follows a summary is a prompt, until a call says otherwise
        return True

    def context(self) -> None:
        """Something that the agent adds by itself."""
        if self._ended:  # news after the last word: the turn goes on, but the script does not
            self._turn, self._response, self._ended = None, 0, False

    def prompt(self, prompt: str) -> None:
        """A prompt, or a steer."""
        self._prompt = prompt
        self._prompts += 1
        self._prepared = False
        is_free = not self._is_named(prompt) and not self._only_named
        if is_free and (self._has_more() or self._is_put_in()):
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

    def _is_put_in(self) -> bool:
        """Whether the agent says that its turn had begun: it drops what was said, and asks again."""
        began = self._first_prompts is not None and self._prompts > self._first_prompts
        return began and not (self._ended or self._aborted)

    def _has_more(self) -> bool:
        """Whether the turn goes on, as far as the script and the history can say."""
        if self._ended or self._aborted or not self._response or self._turn is None:
            return False
        turns = self._script.turns
        given = responses(turns[self._turn], self._calling) if self._turn < len(turns) else ()
        if self._response >= len(given):
            return False
        return not any(isinstance(step, Fault) for step in given[self._response])

    def place(self) -> ScriptPlace:
        """Where the history ends."""
        turn = self._turn
        if turn is not None and turn >= len(self._script.turns):
            turn = None  # a history that another script has made
        return ScriptPlace(
            turn, self._response, self._prompt, self._prompts, self._purpose, self._prepared
        )
