"""The rows of a chat while Gemini works over ACP: what they add to what it says.

Over ACP it shows neither what a command prints nor its exit code, nor the input of most calls, nor what its sub-agents
do, and counts tokens without thoughts. The chat has all of it, as soon as a call or a response is over.
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.acp.files import FileNews
from dragoman.harnesses.acp.records import CallRecord, ResponseTokens
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.gemini.chat import shapes
from dragoman.harnesses.gemini.chat.parser import GeminiChatParser
from dragoman.harnesses.gemini.usage import usage_of
from dragoman.harnesses.gemini_tools.names import tool_input, tool_name
from dragoman.harnesses.gemini_tools.parts import parts_of
from dragoman.harnesses.gemini_tools.results import call_result
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict, as_list, as_str

_OVER: Final = frozenset(("success", "error", "cancelled"))
_NOTHING: Final = FileNews([])


class GeminiFileReader:
    """The chat of one session, and those of its sub-agents."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        """The calls and the responses that were reported."""

    def is_of_agent(self, name: str) -> bool:
        return not name.startswith("session-")

    def news(self, row: bytes) -> FileNews:
        line = _line(row)
        if line is None or line.type != "gemini":
            return _NOTHING
        calls = [shapes.as_call(each) for each in map(as_dict, as_list(line.toolCalls))]
        records = [
            _record(call) for call in calls if call.status in _OVER and self._is_new(call.id)
        ]
        usage, name = usage_of(line.tokens), as_str(line.id)
        if usage is None or not self._is_new(name):
            return FileNews(records)
        return FileNews(records, ResponseTokens(usage, name, as_str(line.model)))

    def prompt_in(self, row: bytes) -> str | None:
        line = _line(row)
        return parts_of(line.content).text if line is not None and line.type == "user" else None

    def agent(self, out: Output, parent: str | None, call_id: str | None) -> GeminiAgentFile:
        return GeminiAgentFile(out, parent, call_id)

    def _is_new(self, name: object) -> bool:
        if not isinstance(name, str) or name in self._known:
            return False
        self._known.add(name)
        return True


class GeminiAgentFile:
    """The chat of a sub-agent, which is read like any other chat."""

    def __init__(self, out: Output, parent: str | None, call_id: str | None) -> None:
        self._parser = GeminiChatParser(out=out, parent=(parent, call_id))

    def read(self, row: bytes) -> None:
        self._parser.read_row(row)

    def end(self) -> None:
        self._parser.end_now()


def _line(row: bytes) -> shapes.LogLine | None:
    try:
        return shapes.decode_line(row)
    except UNREADABLE:
        return None


def _record(call: shapes.ToolCallRecord) -> CallRecord:
    call_id, native, given = as_str(call.id) or "", as_str(call.name) or "", as_dict(call.args)
    responses = parts_of(call.result).results
    own = next((each for each in responses if each.get("id") == call_id), None)
    response = own or (responses[0] if responses else None)
    tool = tool_name(native)
    result = call_result(tool, response, status=call.status, display=call.resultDisplay)
    return CallRecord(call_id, tool, native, tool_input(native, given), *result)
