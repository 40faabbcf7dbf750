"""One session on an ACP connection: what is said in it, piece by piece, and its turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from dragoman.harnesses.acp.calls import AcpCalls
from dragoman.harnesses.acp.failures import (
    AUTH_REQUIRED,
    flagged_error,
    prompt_error,
    stop_error,
    text_error,
)
from dragoman.harnesses.acp.quirks import AcpQuirks
from dragoman.harnesses.acp.records import ResponseTokens
from dragoman.harnesses.acp.spending import ProcessTotal, turn_usage
from dragoman.harnesses.acp.tools import block_text
from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.model.messages import DeltaOf, Outcome, TurnError
from dragoman.model.usage import NOTHING, Usage
from dragoman.wire.loose import as_dict, as_list, as_str

_CHANNEL: Final = "chunk"
HISTORY: Final = "history: of a session that was loaded"


@dataclass(slots=True)
class AcpPrompt:
    """A prompt that the host has sent."""

    text: str
    images: list[str]
    turn_id: str | None


def prompt_in(params: dict[str, Any]) -> AcpPrompt:
    """The prompt in the parameters of ``session/prompt``."""
    texts: list[str] = []
    images: list[str] = []
    for block in map(as_dict, as_list(params.get("prompt"))):
        if block.get("type") == "image":
            data = as_str(block.get("data"))
            kind = as_str(block.get("mimeType")) or "image/png"
            images.append(as_str(block.get("uri")) or f"data:{kind};base64,{data or ''}")
        elif text := block_text(block):
            texts.append(text)
    turn_id = as_str(as_dict(as_dict(params.get("_meta")).get("dragoman")).get("turnId"))
    return AcpPrompt("\n".join(texts), images, turn_id)


class AcpSession:
    """A session, or a sub-agent that works in one."""

    def __init__(
        self, out: Output, harness: str, session_id: str | None, quirks: AcpQuirks
    ) -> None:
        self.assembler = SessionAssembler(out, harness, session_id)
        self.calls = AcpCalls(self.assembler, quirks)
        self.quirks = quirks
        self.is_loading = False
        """Whether the agent repeats the session's history at the moment."""
        self.keeps_history = True
        """Whether that history is news: not if its turns were on this stream."""
        self.cwd: str | None = None
        """The directory that a session was loaded for, before it is announced."""
        self._of: DeltaOf = "text"
        self._pieces: list[str] = []
        self._message_id: str | None = None
        self._waiting: list[AcpPrompt] = []
        self._prompted = False
        """Whether the open turn is for a prompt of the host."""
        self.is_failing = False
        """Whether the agent has marked the open turn as failed: the text that follows says why."""
        self._counts_responses = False
        """Whether the tokens of each response of the open turn are known."""
        self._process = ProcessTotal()
        self._cost: float | None = None
        self._window: int | None = None

    @property
    def session_id(self) -> str | None:
        return self.assembler.session_id

    # Turns.

    def prompt(self, prompt: AcpPrompt) -> None:
        """The host has sent a prompt: the next turn."""
        if self._prompted or self.is_loading:
            self._waiting.append(prompt)
            self.assembler.duplicate("prompt: it waits for the turn before")
            return
        self._begin(prompt)

    def _begin(self, prompt: AcpPrompt) -> None:
        self._close()
        self._prompted = True
        self.assembler.begin_turn(prompt.turn_id)
        self.assembler.prompt("host", prompt.text, prompt.images)

    def _close(self) -> None:
        """End a turn that the agent began by itself, or that a loaded history left open."""
        error = self._take_error()
        self.flush()
        if error is not None:
            self.end_turn("failed", error)
        elif self.assembler.in_turn:
            self.calls.end_turn()
            self._report_cost(None)
            self.assembler.leave()

    def answered(self, result: dict[str, Any]) -> None:
        """The agent has come to the end of a prompt."""
        self.end_history()
        reason = as_str(result.get("stopReason")) or ""
        error = self._take_error() if reason == "end_turn" else None
        self.flush()
        self._spend(turn_usage(result))
        error = error or stop_error(reason)
        outcome: Outcome = "interrupted" if reason == "cancelled" else "completed"
        self.end_turn("failed" if error is not None else outcome, error)

    def _take_error(self) -> TurnError | None:
        """The model error that the last text is; it is no text then."""
        text = "".join(self._pieces) if self._of == "text" else ""
        if not text and not self.is_failing:
            return None
        error = text_error(text, self.quirks)
        if error is None and self.is_failing:
            error = flagged_error(text)
        if error is not None and text:
            self._pieces.clear()
        return error

    def failed(self, error: Any) -> None:
        """The agent has refused a prompt, or failed at it."""
        self.end_history()
        problem = prompt_error(error)
        said = "".join(self._pieces).strip() if self._of == "text" else ""
        if said and as_dict(error).get("code") == AUTH_REQUIRED:
            problem = msgspec.structs.replace(problem, message=said, details=problem.message)
        if said and said in problem.message:
            self._pieces.clear()  # the same words, as if the agent had said them
        self.end_turn("failed", problem)

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        """End the open turn; a prompt that waited for that begins the next one."""
        self.flush()
        self.assembler.turns.ensure()
        self.calls.end_turn()
        self._report_cost(None)
        self.assembler.end_turn(outcome, error)
        self._prompted = self.is_failing = self._counts_responses = False
        self._next()

    def _next(self) -> None:
        """Begin the turn of a prompt that has waited for its turn."""
        if self._waiting and not self.is_loading:
            self._begin(self._waiting.pop(0))

    def end_own_turn(self, reason: str) -> None:
        """A turn that the agent began by itself is over."""
        if self._prompted or not self.assembler.in_turn:
            self.assembler.duplicate("state: a turn of the agent's own ended")
            return
        self.end_turn("interrupted" if reason == "cancelled" else "completed")

    # What is said.

    def mark_failing(self) -> None:
        """The agent says that the open turn has failed; what it said before is no error."""
        self.flush()
        self.is_failing = self.assembler.in_turn

    def chunk(self, of: DeltaOf, text: str, message_id: str | None) -> None:
        """A piece of a text or of a thought."""
        is_whole = of == "thinking" and self.quirks.whole_thoughts
        if of != self._of or message_id != self._message_id or is_whole:
            self.flush()
        self._of, self._message_id = of, message_id
        self.calls.emit_known()
        self.assembler.turns.ensure()
        self._pieces.append(text)
        whole = "".join(self._pieces)
        if of == "text" and (self.is_failing or text_error(whole, self.quirks) is not None):
            self.assembler.duplicate("text: it comes whole")
            return
        self.assembler.delta(_CHANNEL, of, text, message_id)

    def flush(self) -> None:
        """What was said is whole now."""
        if not self._pieces:
            return
        text = "".join(self._pieces)
        self._pieces.clear()
        if self._of == "thinking":
            if text := text.strip("\n"):  # some put empty lines around a thought
                self.assembler.emit_thinking([text], self._message_id)
        else:
            self.assembler.emit_text(text, None, self._message_id)

    def user_chunk(self, text: str) -> None:
        """What the user has said: an echo, or a prompt of the history."""
        self.flush()
        if text.startswith(self.quirks.context) and self.quirks.context:
            self.assembler.context("user", text)
        elif self.quirks.interruptions and text.startswith(self.quirks.interruptions):
            if self.assembler.in_turn and not self._prompted:
                self.calls.end_turn()
                self.assembler.end_turn("interrupted")
            else:
                self.assembler.duplicate("turn: ended before")
        elif self._prompted:
            self.assembler.prompt("echo", text)
        else:
            self._close()
            self.assembler.begin_turn()
            self.assembler.prompt("history", text)

    # Loading.

    def load(self, cwd: str | None) -> None:
        """The agent is about to repeat the session's history."""
        self.is_loading = True
        self.cwd = cwd
        self.keeps_history = self.keeps_history and self.assembler.turns.count == 0
        self.assembler.says_ends = False

    def loaded(self) -> None:
        """The agent says that the session is loaded."""
        if not self.quirks.repeats_late:
            self.end_history()

    def end_history(self) -> None:
        """The history is complete: what comes now is new."""
        if not self.is_loading:
            return
        self.is_loading = False
        if self.keeps_history:
            self._close()
        self.assembler.says_ends = True
        self._next()

    # Tokens.

    def spent_on(self, response: ResponseTokens) -> None:
        """The session's file says what one response has spent: more exactly than the end of the turn does."""
        self._counts_responses = True
        if response.usage != NOTHING:
            name, model = response.response_id, response.model
            self.assembler.usage(None, response.usage, response_id=name, model=model)

    def _spend(self, usage: Usage | None) -> None:
        if usage is None or self._counts_responses:
            return
        match self.quirks.usage:
            case "process":
                usage = self._process.since_last(usage)
            case "response" if self.calls.seen:
                return  # it is the last response's, and there were others
            case _:
                pass
        self.spent(usage)

    def spent(self, own: Usage) -> None:
        """These tokens were spent since the last report."""
        if own == NOTHING:
            self.assembler.duplicate("usage: unchanged")
            return
        self._report_cost(own)

    def costs(self, dollars: float | None, window: int | None) -> None:
        """The agent says what the session has cost so far: the next report of tokens has it."""
        self._cost = dollars if dollars is not None else self._cost
        self._window = window
        self.assembler.duplicate("usage: the next report has it")

    def _report_cost(self, own: Usage | None) -> None:
        cost, self._cost = self._cost, None
        if own is not None or cost is not None:
            self.assembler.usage(None, own, self._window, cost=cost)
