"""One session, as far as it has been read: what all dialects report to.

opencode sends, and stores, messages and their parts, each again whenever it has changed. A part is emitted when it is
complete. A turn begins with a user's message and ends when the session is idle; the store does not say when that is,
so there it ends where the agent's last message does. A session may say that it is idle before the last states of its
message arrive, and even before the error: its turn then ends with those.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.opencode.approvals import asked_of, call_of_asked
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
        self._asked: list[dict[str, Any]] = []
        """Permissions whose calls are not known yet: the call says where a command runs, and with what."""
        self._steps: dict[str, str] = {}
        """The id of the response that each message's tokens belong to."""
        self._summaries: set[str] = set()
        """The messages that are the summary of a compaction."""
        self._cost = 0.0
        self.created: float | None = None
        """When the session was made: the server repeats older messages of the session that it was branched off from."""
        self._copied: set[str] = set()
        self._turns: dict[str, str] = {}
        """The turn that each message of the agent belongs to."""
        self._message_id: str | None = None
        """The newest message of the agent …"""
        self._is_complete = False
        """… and whether its last state has arrived."""
        self._is_resting = False
        """Whether the session said that it is idle, and its turn is not over yet."""
        self.was_interrupted = False
        self._has_failed = False
        self._is_finished = False
        """Whether the newest response asked for nothing more."""
        self._was_asked_to_stop = False
        self._was_stopped = False
        """Whether the newest message has ended with neither an answer nor an error."""

    @property
    def session_id(self) -> str | None:
        return self.assembler.session_id

    # Turns.

    def begin_turn(self, turn_id: str | None) -> None:
        self.close_turn()
        self.was_interrupted = self._has_failed = self._is_finished = False
        self._was_asked_to_stop = self._was_stopped = False
        self._message_id, self._is_complete = None, False
        self.assembler.attribute_to(None)
        self.assembler.begin_turn(turn_id)

    def ensure_turn(self) -> None:
        self.flush_prompt()
        if not self.assembler.in_turn and not self.assembler.turns.is_late:
            self.begin_turn(None)

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        self.flush_prompt()
        self._flush_growing()
        self._is_resting = False
        if self.assembler.in_turn:
            self.settle_all()
            self.assembler.end_turn(outcome, error)

    def ask(self, given: dict[str, Any]) -> None:
        """A permission is asked for, before or after the server shows the call."""
        self.flush_prompt()
        self._asked.append(given)
        call_id = call_of_asked(given)
        if call_id is None or self._input_of(call_id) is not None:
            self.ask_now(call_id)
        else:
            self.assembler.duplicate("state: a permission whose call is being shown")

    def ask_now(self, call_id: str | None = None) -> None:
        """Report the permissions that wait for this call, or all of them."""
        for given in [*self._asked]:
            if call_id in (None, call_of_asked(given)):
                self._asked.remove(given)
                call = self._input_of(call_of_asked(given) or "") or {}
                asked = asked_of(given, self.assembler.cwd, call)
                self.assembler.ask(asked.approval_id, asked.kind, **asked.fields)

    def _input_of(self, call_id: str) -> dict[str, Any] | None:
        """The input of a call, as far as it is known."""
        if self.assembler.calls.is_open(call_id):
            return self.assembler.input_of(call_id)
        held = (part for part in self._held if part.get("callID") == call_id)
        return next((as_dict(as_dict(part.get("state")).get("input")) for part in held), None)

    def settle_all(self) -> None:
        """What was asked in a turn that is over is not waited for any longer."""
        self.ask_now()
        while (approval_id := self.assembler.open_approval()) is not None:
            self.assembler.settle(approval_id, "cancel")

    def interrupt(self) -> None:
        """The turn was asked to stop. It may end without a word about it."""
        if self.assembler.in_turn:
            self._was_asked_to_stop = True

    @property
    def has_finished(self) -> bool:
        return self.was_interrupted or self._has_failed or self._is_finished

    def close_turn(self, *, may_go_on: bool = False) -> None:
        """End the open turn the way its own messages show; with ``may_go_on``, only if they do."""
        self.flush_prompt()
        if not self.assembler.in_turn:
            return
        if self.was_interrupted or (self._was_stopped and not self.has_finished):
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
        elif self._is_complete or self._is_resting:
            self.rest()
        else:
            self._is_resting = True
            self.assembler.duplicate("state: idle before the last states arrived")

    def rest(self) -> None:
        """End the turn of a session that is idle."""
        if not self.assembler.in_turn:
            return
        stopped = (self._was_asked_to_stop or self._was_stopped) and not self.has_finished
        self.end_turn("interrupted" if self.was_interrupted or stopped else "completed")

    def settle_down(self) -> None:
        """Time has passed: what has not arrived by now never will."""
        self.ask_now()
        if self._is_resting:
            self.rest()

    def fail(self, value: Any) -> None:
        """An error of the session or of a message."""
        self.flush_prompt()
        if is_abort(value):
            self.was_interrupted = self.was_interrupted or self.assembler.in_turn
            self.assembler.duplicate("state: aborted")
        elif self._has_failed:
            # The first says what went wrong; the next ones repeat it with a stack trace.
            self.assembler.duplicate("state: an error of a turn that has failed")
        else:
            self._has_failed = self.assembler.in_turn
            self.assembler.fail_turn(error_of(value))
            if self._is_resting:
                self.rest()

    # Messages.

    def message(self, info: dict[str, Any]) -> None:
        """A message, without its parts; again whenever it has changed."""
        message_id, role = as_str(info.get("id")) or "", as_str(info.get("role")) or ""
        is_known = message_id in self.roles
        self.roles[message_id] = role
        if self._is_copy(info, message_id):
            self.assembler.duplicate("copy: of the session that this one was branched off from")
            return
        if role == "user":
            if not is_known:
                self._user(message_id)
            self.assembler.duplicate("message: its parts carry it")
            return
        if role != "assistant":
            self.assembler.duplicate("message: of the program itself")
            return
        if not is_known:
            self.assembler.attribute_to(None)
            self._is_finished = False
            self.ensure_turn()
            if self.assembler.open_turn is not None:
                self._turns[message_id] = self.assembler.open_turn
            self._message_id, self._is_complete = message_id, False
            self._was_stopped = False
        is_current = self._turns.get(message_id) == self.assembler.open_turn
        self._steps.setdefault(message_id, _response_id(info, message_id))
        if info.get("summary") is True:
            self._summaries.add(message_id)
        self._announce(info)
        error = info.get("error")
        finish = as_str(info.get("finish"))
        if is_current and finish is not None and finish not in _GOES_ON:
            self._is_finished = True
        if message_id == self._message_id and "completed" in as_dict(info.get("time")):
            self._is_complete = True
            # Stopped while it waited to ask the model again: opencode writes no error.
            self._was_stopped = finish is None and error is None
        self.assembler.duplicate("message: its parts carry it")
        if error is not None and is_current and self.assembler.in_turn:
            self.fail(error)
        if self._is_complete:
            self.settle_down()

    def _is_copy(self, info: dict[str, Any], message_id: str) -> bool:
        created = as_number(as_dict(info.get("time")).get("created"))
        if self.created is not None and created is not None and created < self.created:
            self._copied.add(message_id)
        return message_id in self._copied

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
        if message_id in self._copied:
            self.assembler.duplicate("copy: of the session that this one was branched off from")
            return True
        self.assembler.attribute_to(self._turns.get(message_id))
        try:
            return self._part(part, part_id, message_id)
        finally:
            self.assembler.attribute_to(None)

    def _part(self, part: dict[str, Any], part_id: str, message_id: str) -> bool:
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
            self.ask_now(call_id)
            return
        self.ensure_turn()
        call = call_of(native, state.get("input"))
        self.assembler.call(call_id, call.tool, native, call.input)
        self.ask_now(call_id)
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
