"""One session, as far as it has been read: what all dialects report to.

opencode sends, and stores, messages and their parts, each again whenever it has changed. A part is emitted when it is
complete. A turn begins with a user's message and ends when the session is idle; the store does not say when that is,
so there it ends where the agent's last message does.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.opencode.failures import error_of, is_abort
from dragoman.harnesses.opencode.tools import call_of, outcome_of, plan_in
from dragoman.harnesses.opencode.usage import usage_of
from dragoman.model.messages import Outcome, TurnError
from dragoman.wire.loose import as_dict, as_int, as_number, as_str

HARNESS: Final = "opencode"
CHANNEL: Final = "part"
_GOES_ON: Final = frozenset(("tool-calls", "tool_use", "unknown"))


class OpencodeSession:
    """One session being read."""

    def __init__(self, out: Output, session_id: str | None) -> None:
        self.assembler = SessionAssembler(out, HARNESS, session_id)
        self.roles: dict[str, str] = {}
        """Who each message is by: ``user`` or ``assistant``."""
        self._texts: list[str] = []
        self._images: list[str] = []
        """The parts of a prompt that is not complete yet."""
        self._prompt_id: str | None = None
        self._said: set[str] = set()
        """The prompts that were emitted."""
        self._seen: set[str] = set()
        """The parts that were emitted whole."""
        self._growing: dict[str, tuple[str, str]] = {}
        """Texts and thoughts that began and are not complete."""
        self._held: list[dict[str, Any]] = []
        """Calls that run already while the text before them is still being completed."""
        self._steps: dict[str, str] = {}
        """The id of the response that each message's tokens belong to."""
        self._summaries: set[str] = set()
        """The messages that are the summary of a compaction."""
        self._cost = 0.0
        self.was_interrupted = False
        self._has_failed = False
        self._is_finished = False
        """Whether the newest response asked for nothing more."""

    @property
    def session_id(self) -> str | None:
        return self.assembler.session_id

    # Turns.

    def begin_turn(self, turn_id: str | None) -> None:
        self.close_turn()
        self.was_interrupted = self._has_failed = self._is_finished = False
        self.assembler.begin_turn(turn_id)

    def ensure_turn(self) -> None:
        self.flush_prompt()
        if not self.assembler.in_turn:
            self.begin_turn(None)

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        self.flush_prompt()
        self._flush_growing()
        if self.assembler.in_turn:
            self.assembler.end_turn(outcome, error)

    @property
    def has_finished(self) -> bool:
        return self.was_interrupted or self._has_failed or self._is_finished

    def close_turn(self, *, may_go_on: bool = False) -> None:
        """End the open turn the way its own messages show; with ``may_go_on``, only if they do."""
        self.flush_prompt()
        if not self.assembler.in_turn:
            return
        if self.was_interrupted:
            self.end_turn("interrupted")
        elif self.has_finished and not self.assembler.calls.any_open():
            self.end_turn("completed")  # or failed, if an error was reported
        elif not may_go_on:
            self.end_turn("interrupted")

    def idle(self) -> None:
        """The session itself says that it works at nothing."""
        self.flush_prompt()
        if not self.assembler.in_turn:
            self.assembler.duplicate("turn: ended before")
            return
        self.end_turn("interrupted" if self.was_interrupted else "completed")

    def fail(self, value: Any) -> None:
        """An error of the session or of a message."""
        self.flush_prompt()
        if is_abort(value):
            self.was_interrupted = self.assembler.in_turn
            self.assembler.duplicate("state: aborted")
        else:
            self._has_failed = True
            self.assembler.fail_turn(error_of(value))

    # Messages.

    def message(self, info: dict[str, Any]) -> None:
        """A message, without its parts; again whenever it has changed."""
        message_id, role = as_str(info.get("id")) or "", as_str(info.get("role")) or ""
        is_known = message_id in self.roles
        self.roles[message_id] = role
        if role == "user":
            if not is_known:
                self._user(message_id)
            self.assembler.duplicate("message: its parts carry it")
            return
        if role != "assistant":
            self.assembler.duplicate("message: of the program itself")
            return
        if not is_known:
            self._is_finished = False
            self.ensure_turn()
        self._steps.setdefault(message_id, _response_id(info, message_id))
        if info.get("summary") is True:
            self._summaries.add(message_id)
        self._announce(info)
        error = info.get("error")
        if error is not None and self.assembler.in_turn:
            self.fail(error)
        finish = as_str(info.get("finish"))
        if finish is not None and finish not in _GOES_ON:
            self._is_finished = True
        self.assembler.duplicate("message: its parts carry it")

    def _announce(self, info: dict[str, Any]) -> None:
        facts = self.assembler.facts
        model = as_str(info.get("modelID"))
        if model is not None and (facts is None or facts.model is None):
            cwd = as_str(as_dict(info.get("path")).get("cwd"))
            self.assembler.begin_session(model=model, cwd=cwd)

    def _user(self, message_id: str) -> None:
        """The user said something: a new turn, or, while the agent works, something for this one."""
        self.flush_prompt()
        if not self.assembler.in_turn or self.has_finished:
            self.begin_turn(message_id)
        self._prompt_id = message_id

    def flush_prompt(self) -> None:
        """The prompt is complete: something else follows."""
        if self._prompt_id is None or not (self._texts or self._images):
            return
        prompt_id, self._prompt_id = self._prompt_id, None
        text, images = "\n".join(self._texts), self._images
        self._texts, self._images = [], []
        if prompt_id not in self._said:
            self._said.add(prompt_id)
            self.assembler.prompt(CHANNEL, text, images, item_id=prompt_id)

    # Parts.

    def part(self, part: dict[str, Any]) -> bool:
        """A part of a message; again whenever it has changed. False if its type is not known."""
        message_id, part_id = as_str(part.get("messageID")) or "", as_str(part.get("id")) or ""
        if self.roles.get(message_id) == "user":
            return self._user_part(part, part_id)
        match part.get("type"):
            case "text":
                self._text(part, part_id, message_id)
            case "reasoning":
                self._thought(part, part_id)
            case "tool":
                self._tool(part)
            case "step-start" | "snapshot" | "patch" | "agent":
                self.assembler.duplicate(f"state: {part.get('type')}")
            case "step-finish":
                self._step(part, part_id, message_id)
            case "retry":
                self._retry(part, part_id)
            case "compaction" | "subtask" | "file":
                self.assembler.duplicate(f"state: {part.get('type')}")
            case _:
                return False
        return True

    def _user_part(self, part: dict[str, Any], part_id: str) -> bool:
        if part_id in self._seen:
            self.assembler.duplicate("prompt: emitted before")
            return True
        self._seen.add(part_id)
        text = as_str(part.get("text"))
        if part.get("type") == "text" and text is not None:
            if part.get("synthetic") is True or part.get("ignored") is True:
                self.assembler.context("user", text)
            else:
                self._texts.append(text)
                self.assembler.duplicate("prompt: emitted when it is complete")
        elif part.get("type") == "file":
            self._images.append(as_str(part.get("url")) or as_str(part.get("filename")) or "file")
            self.assembler.duplicate("prompt: emitted when it is complete")
        elif part.get("type") in ("agent", "subtask", "compaction"):
            self.assembler.duplicate(f"state: {part.get('type')}")
        else:
            return False
        return True

    def _text(self, part: dict[str, Any], part_id: str, message_id: str) -> None:
        text = as_str(part.get("text")) or ""
        if part_id in self._seen:
            self.assembler.duplicate("text: emitted before")
        elif not _is_complete(part):
            self._growing[part_id] = ("text", text)
            self.assembler.duplicate("state: text that is growing")
        else:
            self._complete(part_id)
            self.ensure_turn()
            if message_id in self._summaries:
                self.assembler.compacted(CHANNEL, text)
            else:
                self.assembler.text(CHANNEL, text, message_id=part_id)
            self._release()

    def _thought(self, part: dict[str, Any], part_id: str) -> None:
        text = as_str(part.get("text")) or ""
        if part_id in self._seen:
            self.assembler.duplicate("thinking: emitted before")
        elif not _is_complete(part):
            self._growing[part_id] = ("thinking", text)
            self.assembler.duplicate("state: thinking that is growing")
        else:
            self._complete(part_id)
            self.ensure_turn()
            self.assembler.thinking(CHANNEL, [text], part_id)
            self._release()

    def _complete(self, part_id: str) -> None:
        self._seen.add(part_id)
        self._growing.pop(part_id, None)

    def _release(self) -> None:
        """Report the calls that nothing precedes any longer."""
        held, self._held = self._held, []
        for part in held:
            self._tool(part)

    def _flush_growing(self) -> None:
        """Emit what began and never was completed."""
        growing, self._growing = self._growing, {}
        for part_id, (kind, text) in growing.items():
            self._seen.add(part_id)
            if text and kind == "text":
                self.assembler.text(CHANNEL, text, message_id=part_id)
            elif text:
                self.assembler.thinking(CHANNEL, [text], part_id)
        self._release()

    def delta(self, part_id: str, message_id: str, field: str, text: str) -> None:
        """A piece of a part."""
        kind, before = self._growing.get(part_id, ("text", ""))
        if field not in ("text", "reasoning") or part_id in self._seen:
            self.assembler.duplicate("state: a piece of a part")
            return
        self._growing[part_id] = (kind, before + text)
        of = "thinking" if kind == "thinking" else "text"
        self.assembler.delta("delta", of, text, part_id)

    def _tool(self, part: dict[str, Any]) -> None:
        call_id, native = as_str(part.get("callID")) or "", as_str(part.get("tool")) or "tool"
        state = as_dict(part.get("state"))
        status = state.get("status")
        if status == "pending":
            self.assembler.duplicate("state: a call that is being written")
            return
        part_id = as_str(part.get("id")) or ""
        if any(growing < part_id for growing in self._growing):
            self._held.append(part)
            self.assembler.duplicate("state: a call whose text is being completed")
            return
        self.ensure_turn()
        call = call_of(native, state.get("input"))
        self.assembler.call(call_id, call.tool, native, call.input)
        if status not in ("completed", "error"):
            output = as_str(as_dict(state.get("metadata")).get("output"))
            if output and self.assembler.calls.is_open(call_id):
                self.assembler.snapshot(CHANNEL, "output", output, call_id)
            return
        is_new = not self.assembler.calls.is_closed(call_id)
        outcome = outcome_of(state)
        self.assembler.result(
            call_id,
            outcome.output,
            is_error=outcome.is_error,
            exit_code=outcome.exit_code,
            duration_ms=outcome.duration_ms,
            status=outcome.status,
        )
        if outcome.status == "declined":
            self._is_finished = True  # the agent rests, unless it was given a word
        if native == "todowrite" and is_new and not outcome.is_error:
            self.assembler.plan(plan_in(as_dict(state.get("input")).get("todos")))

    def _step(self, part: dict[str, Any], part_id: str, message_id: str) -> None:
        if part_id in self._seen:
            self.assembler.duplicate("usage: counted before")
            return
        self._seen.add(part_id)
        reason = as_str(part.get("reason"))
        if reason is not None and reason not in _GOES_ON:
            self._is_finished = True
        spent = usage_of(part.get("tokens"))
        if spent is None:
            self.assembler.duplicate("usage: nothing counted")
            return
        self._cost += as_number(part.get("cost")) or 0.0
        response_id = self._steps.pop(message_id, None) or part_id
        facts = self.assembler.facts
        self.assembler.spending.counter.start()
        self.assembler.usage(
            None,
            spent,
            response_id=response_id,
            model=facts.model if facts else None,
            cost=self._cost or None,
        )

    def _retry(self, part: dict[str, Any], part_id: str) -> None:
        error = error_of(part.get("error"))
        text = f"attempt {as_int(part.get('attempt')) or 1} failed: {error.message}"
        self.assembler.notice(CHANNEL, "warning", text, will_retry=True)


def _is_complete(part: dict[str, Any]) -> bool:
    """Whether the part has come to its end. Parts that the program wrote itself have no time."""
    time = part.get("time")
    return not isinstance(time, dict) or "end" in time


def _response_id(info: dict[str, Any], message_id: str) -> str:
    """What names the response also in a fork, which copies messages under new ids and leaves their times."""
    created = as_int(as_dict(info.get("time")).get("created"))
    model = as_str(info.get("modelID"))
    return f"{model or ''}@{created}" if created is not None else message_id
