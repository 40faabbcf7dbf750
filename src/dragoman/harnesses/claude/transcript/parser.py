"""Reading the session files of Claude Code.

| row | becomes |
|---|---|
| user | prompt and the beginning of a turn; tool_result; context; the end of an interrupted turn |
| assistant, one for each content block | text, thinking, tool_call; the tokens of its response; a failed turn's end |
| attachment | context; prompt, if one was queued |
| system | notice, compacted |
| cost-state | usage, with what the session has cost |
| queue-operation, last-prompt, … | nothing: bookkeeping, but a turn that has finished ends there |

A file has no row for the end of a turn. A turn is known to have ended when its last response says so and another
kind of row follows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.parsing import StreamParser
from dragoman.harnesses.claude.blocks import (
    ResultFacts,
    is_interruption,
    report_assistant_block,
    report_result,
)
from dragoman.harnesses.claude.compaction import Compactions
from dragoman.harnesses.claude.failures import api_error
from dragoman.harnesses.claude.session import SYNTHETIC, ClaudeSession
from dragoman.harnesses.claude.tools import output_text
from dragoman.harnesses.claude.transcript import shapes
from dragoman.harnesses.claude.transcript.attachments import Attachments
from dragoman.harnesses.claude.transcript.copies import Copies
from dragoman.harnesses.claude.transcript.prompts import is_from_program
from dragoman.harnesses.claude.transcript.sessions import FileSessions
from dragoman.harnesses.claude.transcript.system import report_system
from dragoman.harnesses.claude.usage import usage_of
from dragoman.harnesses.claude.values import command_line, local_output
from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.stream_json.blocks import prompt_of, results_in, without_results
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict, as_int, as_list, as_number, as_str
from dragoman.wire.moments import as_time

CHANNEL: Final = "row"
_PATIENCE: Final = 64
"""How many rows are held until one names the model."""
_MESSAGES: Final = (shapes.User, shapes.Assistant, shapes.System, shapes.Attachment)


class TranscriptParser(StreamParser):
    """One session file: a session's own, or a sub-agent's."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self.sessions = FileSessions(self._out)
        self.session: ClaudeSession = self.sessions.main
        """The session that the row being read belongs to."""
        self.compactions = Compactions(self._out)
        self._attachments = Attachments()
        self._copies = Copies()
        self._first: list[tuple[int, bytes]] | None = []
        """The rows before the first one that names the model: the session's beginning says it, too."""
        self._held: list[tuple[int, bytes]] = []
        """Copied rows that stand before the first one that names the parent."""

    def _read(self, line: bytes) -> None:
        try:
            row = shapes.decode_row(line)
        except UNREADABLE:
            if shapes.decode_tag(line).type not in shapes.BOOKKEEPING:
                raise
            self.session.assembler.duplicate("bookkeeping")
            return
        if self._first is None:
            self._take(row, line)
            return
        self._first.append((self._out.line, line))
        self.sessions.model = _model_named(row)
        # What was handed off was said by models of others: no row of it names one.
        is_known = self.sessions.model is not None or isinstance(row, shapes.Handoff)
        if is_known or len(self._first) > _PATIENCE:
            self._take_first()

    def _take_first(self) -> None:
        first, self._first = self._first or [], None
        now = self._out.line
        for self._out.line, line in first:
            self._take(shapes.decode_row(line), line)
        self._out.line = now

    def _take(self, row: shapes.AnyRow, line: bytes) -> None:
        if not isinstance(row, _MESSAGES):
            if not isinstance(
                row, shapes.Handoff
            ):  # the rows after it keep the times they had elsewhere
                self._copies.note_beginning(row)
            self._report(row, line, is_copy=False)
            return
        is_copy = self._copies.is_copy(row)
        if is_copy and self._copies.parent is None:
            self._held.append((self._out.line, line))
            return
        self._release()
        if not is_copy:
            self.sessions.leave_copied(self._copies.parent)
        self._report(row, line, is_copy=is_copy)

    def _release(self) -> None:
        """Report the rows that were held: it is known now whose they are, or that nothing says so."""
        held, self._held = self._held, []
        now = (self._out.line, self._out.at)
        for number, line in held:
            self._out.line = number
            self._report(shapes.decode_row(line), line, is_copy=True)
        self._out.line, self._out.at = now

    def _report(self, row: shapes.AnyRow, line: bytes, *, is_copy: bool) -> None:
        self._out.at = as_time(row.timestamp)
        self.session = self.sessions.of(row, self._copies.parent if is_copy else None)
        # Copied responses count for the parent. The ledger counts each once, by its id, and still has them when
        # the parent's file is gone. Without a parent they would count for the fork, which did not spend them.
        self.session.spending.is_counted = not is_copy or self._copies.parent is not None
        if not is_copy and isinstance(row, _MESSAGES):
            self.sessions.introduce(self.session, row, self._copies.parent)
        if not isinstance(row, shapes.User):
            self.compactions.flush()
        if self.sessions.is_repeated(row):
            self.session.assembler.duplicate("row: it was written before")
        elif _REPORT[type(row)](self, row) is False:
            self._unknown(line, _native_type(row))

    def _say_held(self) -> None:
        self._take_first()  # a file may stay like this for long; other things that are held may not

    def _finish(self, ending: Ending) -> None:
        self._take_first()
        self._release()
        self.compactions.flush()
        for session in self.sessions.all():
            session.close_turn(may_go_on=ending == "left")

    def _speaker(self) -> SessionAssembler:
        return self.session.assembler

    # One method for each kind of row.

    def user(self, row: shapes.User) -> None:
        content = row.message.content
        results = list(results_in(content))
        for block in results:
            call_id = str(block.get("tool_use_id"))
            facts = ResultFacts(
                row.toolUseResult,
                {call_id: row.toolDenialKind},
                {call_id: row.permissionDecision},
            )
            report_result(self.session, block, facts)
        rest = without_results(content) if results else content
        if rest or not results:
            self._words(row, rest, beside_result=bool(results))

    def _words(self, row: shapes.User, content: Any, *, beside_result: bool) -> None:
        session, assembler = self.session, self.session.assembler
        said = prompt_of(content)
        if is_interruption(said.text):
            session.was_interrupted = True
            session.close_turn()
            assembler.duplicate("interruption: the turn's end carries it")
        elif row.isCompactSummary is True or self.compactions.is_held:
            if not self.compactions.summary(said.text):
                assembler.compacted(CHANNEL, said.text)
        elif (output := local_output(said.text)) is not None:
            assembler.notice(CHANNEL, "info", output)
            session.stop_reason = session.stop_reason or "end_turn"
        elif row.isMeta is True or beside_result:
            assembler.context("user", said.text)
        elif is_from_program(row, said.text):
            self.sessions.begin_turn(session, row)
            assembler.context("user", said.text)
        else:
            if not self._joins(row):
                self.sessions.begin_turn(session, row)
            assembler.prompt(CHANNEL, command_line(said.text) or said.text, said.images)

    def _joins(self, row: shapes.User) -> bool:
        """Whether a prompt is one of several that began the open turn together."""
        place = as_int(as_dict(row.turnPosition).get("promptIndex"))
        return self.session.assembler.in_turn and place is not None and place > 0

    def assistant(self, row: shapes.Assistant) -> bool:
        session, message = self.session, row.message
        model, response_id = as_str(message.model), as_str(message.id)
        blocks = [as_dict(each) for each in as_list(message.content)]
        if row.isApiErrorMessage is True:
            session.ensure_turn()
            error = api_error(
                output_text(message.content),
                row.error,
                row.apiErrorStatus,
                row.apiErrorType,
                row.apiError,
            )
            session.end_turn("failed", error)
            return True
        if model is not None and model != SYNTHETIC:
            self.sessions.know_model(session, model)
        session.ensure_turn()
        session.stop_reason = reason = as_str(message.stop_reason)
        session.lacks_reason = reason is None and row.isAbortedMidStream is not True
        session.spending.see(
            response_id, usage_of(message.usage), model, is_final=reason is not None
        )
        index = as_int(row.apiBlockIndex)
        known = [
            report_assistant_block(session, CHANNEL, response_id, block, index) for block in blocks
        ]
        if not blocks:
            session.assembler.duplicate("message: it has no content")
        return all(known)

    def system(self, row: shapes.System) -> bool:
        return report_system(self, row)

    def attachment(self, row: shapes.Attachment) -> None:
        self._attachments.report(self.session, row)

    def cost_state(self, row: shapes.CostState) -> None:
        self._settle()
        cost = as_number(row.totalCostUSD)
        if cost:
            self.session.assembler.usage(None, None, cost=cost)
        else:
            self.session.assembler.duplicate("bookkeeping")

    def bookkeeping(self, row: shapes.AnyRow) -> None:
        self._settle()
        self.session.assembler.duplicate("bookkeeping")

    def _settle(self) -> None:
        """Another kind of row follows: a turn that has finished ends here."""
        session = self.session
        turns = session.assembler.turns
        if turns.open_turn is not None and turns.text_was_last and not session.lacks_reason:
            session.close_turn(may_go_on=True)

    def custom_title(self, row: shapes.CustomTitle) -> None:
        self.session.assembler.notice(CHANNEL, "info", f"title: {as_str(row.customTitle) or ''}")

    def ai_title(self, row: shapes.AiTitle) -> None:
        self.session.assembler.notice(CHANNEL, "info", f"title: {as_str(row.aiTitle) or ''}")

    def handoff(self, row: shapes.Handoff) -> None:
        source = as_dict(row.handedOffFrom)
        if row.isEnd is not True:
            self.sessions.handed_off_from = as_str(source.get("sessionId"))
            self.sessions.introduce(self.session, row, None)
            return
        self.session.close_turn()
        text = f"handed off from {source.get('harness')} session {source.get('sessionId')}"
        self.session.assembler.notice(CHANNEL, "info", text)

    def summary(self, row: shapes.Summary) -> None:
        self.session.assembler.notice(CHANNEL, "info", f"title: {as_str(row.summary) or ''}")


def _model_named(row: shapes.AnyRow) -> str | None:
    """The model that a row names, if it is one of those that do."""
    if isinstance(row, shapes.Attachment):
        return as_str(as_dict(as_dict(row.attachment).get("identity")).get("modelId"))
    if isinstance(row, shapes.Assistant) and row.message.model != SYNTHETIC:
        return as_str(row.message.model)
    return None


def _native_type(row: shapes.AnyRow) -> str:
    """The best name for a row that is new to us."""
    if isinstance(row, shapes.System):
        return f"system/{row.subtype}"
    if isinstance(row, shapes.Assistant):
        kinds = [str(as_dict(each).get("type")) for each in as_list(row.message.content)]
        return f"assistant/{','.join(kinds)}"
    return type(row).__name__


_Report: TypeAlias = Callable[[TranscriptParser, Any], bool | None]
_REPORT: Final[dict[type[shapes.Row], _Report]] = {
    shapes.User: TranscriptParser.user,
    shapes.Assistant: TranscriptParser.assistant,
    shapes.System: TranscriptParser.system,
    shapes.Attachment: TranscriptParser.attachment,
    shapes.CostState: TranscriptParser.cost_state,
    shapes.QueueOperation: TranscriptParser.bookkeeping,
    shapes.LastPrompt: TranscriptParser.bookkeeping,
    shapes.CustomTitle: TranscriptParser.custom_title,
    shapes.AiTitle: TranscriptParser.ai_title,
    shapes.Summary: TranscriptParser.summary,
    shapes.Handoff: TranscriptParser.handoff,
}
