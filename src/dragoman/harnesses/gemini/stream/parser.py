"""Reading the stream of ``gemini -o stream-json -p``: one process, one prompt, one turn.

| line | becomes |
|---|---|
| init | session_started |
| message of the user | the beginning of the turn, and its prompt |
| message of the assistant | delta; the pieces up to a line of another kind are one text |
| tool_use, tool_result | tool_call, tool_result, plan |
| error | notice |
| result | the tokens of the run for each model, turn_ended |

A run that is stopped by a signal prints no result: its turn ends with the stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.parsing import StreamParser
from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.gemini.failures import exit_error, result_error
from dragoman.harnesses.gemini.stream import shapes
from dragoman.harnesses.gemini.usage import usage_by_model
from dragoman.harnesses.gemini_tools.calls import CallReports
from dragoman.harnesses.gemini_tools.results import CallResult
from dragoman.model.messages import Level
from dragoman.wire import jsonl
from dragoman.wire.directions import ASIDE, ERRORS, unwrap
from dragoman.wire.envelope import time_on
from dragoman.wire.loose import as_dict, as_int, as_str
from dragoman.wire.moments import as_time

HARNESS: Final = "gemini"
CHANNEL: Final = "stream"
_LEVELS: Final[dict[str, Level]] = {"warning": "warning", "error": "error"}
_END_OF_INPUT: Final = b"<EOF>"


class GeminiStreamParser(StreamParser):
    """One run of Gemini CLI."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self._session = SessionAssembler(self._out, HARNESS)
        self._calls = CallReports(self._session)
        self._pieces: list[str] = []
        """The pieces of the text that the agent is saying."""
        self._text_id: str | None = None
        self._exit_code: int | None = None
        self._complaint: str | None = None
        """The newest error that the run has reported: a result that failed may not repeat it."""

    def _read(self, line: bytes) -> None:
        if (at := time_on(line)) is not None:
            self._out.at = at
        inner, sent, way = unwrap(line)
        if way in ASIDE:
            self._about_the_run(inner)
        elif way in ERRORS:
            text = inner.decode(errors="replace").strip()
            self._session.notice("stderr", "warning", text)
        elif sent:
            self._session.duplicate(
                "journal: the end of the input"
                if inner.strip() == _END_OF_INPUT
                else "journal: the input of the run"
            )
        elif way:
            self._unwrapped(inner)
        else:
            self._report(shapes.decode_line(inner))

    def _unwrapped(self, line: bytes) -> None:
        """A line out of a journal: what cannot be read is kept without its wrapper."""
        try:
            row = shapes.decode_line(line)
        except jsonl.UNREADABLE:
            try:
                self._odd(line, jsonl.loads(line))
            except jsonl.NotJson:
                self._malformed(line)
        else:
            self._report(row)

    def _report(self, row: shapes.AnyLine) -> None:
        if (at := as_time(row.timestamp)) is not None:
            self._out.at = at
        if not (isinstance(row, shapes.Message) and row.role == "assistant"):
            self._end_text()
        _REPORT[type(row)](self, row)

    def _about_the_run(self, line: bytes) -> None:
        try:
            code = as_int(shapes.decode_run(line).rc)
        except jsonl.UNREADABLE:
            code = None
        self._exit_code = code if code is not None else self._exit_code
        self._session.duplicate("journal: how it was recorded")

    def _finish(self, ending: Ending) -> None:
        self._end_text()
        if self._session.in_turn:
            error = exit_error(self._exit_code)
            self._session.end_turn("failed" if error else "interrupted", error)

    def _speaker(self) -> SessionAssembler:
        return self._session

    # One method for each kind of line.

    def init(self, row: shapes.Init) -> None:
        session, name = self._session, as_str(row.session_id)
        if name is not None and session.session_id not in (None, name):
            session.leave()
            session.forget_facts()
        session.session_id = name or session.session_id
        session.begin_session(model=as_str(row.model) or None)

    def message(self, row: shapes.Message) -> None:
        session, text = self._session, as_str(row.content) or ""
        if row.role != "assistant":
            session.begin_turn()
            session.prompt(CHANNEL, text)
            return
        if self._text_id is None:
            self._text_id = f"text-{self._out.line}"
        self._pieces.append(text)
        session.turns.ensure()
        if row.delta is True and text:
            session.delta(CHANNEL, "text", text, self._text_id)
        else:
            session.duplicate("text: it is emitted whole")

    def _end_text(self) -> None:
        """The agent does something else: what it said until here is one text."""
        text, message_id = "".join(self._pieces), self._text_id
        self._pieces, self._text_id = [], None
        if text:
            self._session.text(CHANNEL, text, message_id=message_id)

    def tool_use(self, row: shapes.ToolUse) -> None:
        call_id, native = as_str(row.tool_id) or "", as_str(row.tool_name) or ""
        self._calls.call(call_id, native, as_dict(row.parameters))

    def tool_result(self, row: shapes.ToolResult) -> None:
        error = as_dict(row.error)
        is_error = row.status != "success"
        output = as_str(row.output) or as_str(error.get("message")) or ""
        status = "failed" if is_error else "completed"
        self._calls.result(as_str(row.tool_id) or "", CallResult(output, is_error, None, status))

    def error(self, row: shapes.Error) -> None:
        level, text = _LEVELS.get(as_str(row.severity) or "", "warning"), as_str(row.message) or ""
        if level == "error":
            self._complaint = text
        self._session.notice(CHANNEL, level, text)

    def result(self, row: shapes.Result) -> None:
        session = self._session
        session.turns.ensure()
        for model, usage in usage_by_model(row.stats):
            session.usage(None, usage, model=model)
        if row.status == "success":
            session.end_turn("completed")
        else:
            session.end_turn("failed", result_error(row.error, self._complaint))


_Report: TypeAlias = Callable[[GeminiStreamParser, Any], None]
_REPORT: Final[dict[type[shapes.StreamLine], _Report]] = {
    shapes.Init: GeminiStreamParser.init,
    shapes.Message: GeminiStreamParser.message,
    shapes.ToolUse: GeminiStreamParser.tool_use,
    shapes.ToolResult: GeminiStreamParser.tool_result,
    shapes.Error: GeminiStreamParser.error,
    shapes.Result: GeminiStreamParser.result,
}
