"""Messages that are written again whenever they have grown: of each, what was not there before."""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.gemini.chat import shapes
from dragoman.harnesses.gemini.usage import usage_of
from dragoman.harnesses.gemini_tools.calls import CallReports
from dragoman.harnesses.gemini_tools.names import tool_name
from dragoman.harnesses.gemini_tools.parts import MessageParts, parts_of
from dragoman.harnesses.gemini_tools.results import call_result
from dragoman.wire.loose import as_dict, as_list, as_str
from dragoman.wire.moments import as_time, later

CHANNEL: Final = "chat"
_OVER: Final = frozenset(("success", "error", "cancelled"))


class ChatRows:
    """The messages of one file, by id."""

    def __init__(self, out: Output, session: SessionAssembler) -> None:
        self._out = out
        self._session = session
        self._calls = CallReports(session)
        self._texts: dict[str, str] = {}
        """The text of each message so far."""
        self._thoughts: dict[str, int] = {}
        """How many thoughts of each message were emitted."""
        self._counted: set[str] = set()
        """The responses whose tokens were emitted."""

    def has(self, name: str | None) -> bool:
        return name in self._texts

    def is_news(self, name: str, text: str) -> bool:
        """Note the text of a message; whether it was not there before."""
        before = self._texts.get(name)
        if before is not None and text in before:
            return False
        self._texts[name] = text
        return bool(text)

    def model_message(self, row: shapes.LogLine) -> None:
        name, said = as_str(row.id) or "", parts_of(row.content)
        if (model := as_str(row.model)) is not None:
            self._session.begin_session(model=model)
        self._think(name, row, said)
        self._say(name, said.text)
        for each in said.calls:
            self._calls.call(
                as_str(each.get("id")) or f"{name}/{as_str(each.get('name'))}",
                as_str(each.get("name")) or "",
                as_dict(each.get("args")),
            )
        for each in map(as_dict, as_list(row.toolCalls)):
            self._call(shapes.as_call(each))
        self._count(name, row, model)
        self._session.duplicate("message: it was written before")

    def _think(self, name: str, row: shapes.LogLine, said: MessageParts) -> None:
        thoughts = [_thought(as_dict(each)) for each in as_list(row.thoughts)] or said.thoughts
        known = self._thoughts.get(name, 0)
        self._thoughts[name] = max(known, len(thoughts))
        for number, thought in enumerate(thoughts[known:], known):
            self._session.thinking(CHANNEL, [thought], f"{name}/thought-{number}")

    def _say(self, name: str, text: str) -> None:
        before = self._texts.get(name, "")
        if not self.is_news(name, text):
            return
        said = text[len(before) :] if before and text.startswith(before) else text
        self._session.text(CHANNEL, said, message_id=name)

    def _call(self, call: shapes.ToolCallRecord) -> None:
        call_id, native = as_str(call.id) or "", as_str(call.name) or ""
        self._calls.call(call_id, native, as_dict(call.args))
        if as_str(call.status) not in _OVER or self._session.calls.is_closed(call_id):
            return
        responses = parts_of(call.result).results
        own = next((each for each in responses if each.get("id") == call_id), None)
        response = own or (responses[0] if responses else None)
        result = call_result(
            tool_name(native), response, status=call.status, display=call.resultDisplay
        )
        self._out.at = later(self._out.at, as_time(call.timestamp))
        self._calls.result(call_id, result)

    def response(self, response: dict[str, Any]) -> None:
        """The result of a call as the model is given it: after the call itself has reported it."""
        call_id = as_str(response.get("id")) or ""
        calls = self._session.calls
        if not calls.is_known(call_id) or calls.is_closed(call_id):
            self._session.duplicate("tool result: the call has it")
            return
        tool = self._calls.tool_of(call_id) or ""
        self._calls.result(call_id, call_result(tool, response, status=None))

    def _count(self, name: str, row: shapes.LogLine, model: str | None) -> None:
        usage = usage_of(row.tokens)
        if usage is None or name in self._counted:
            return
        self._counted.add(name)
        if usage:
            self._session.usage(None, usage, response_id=name, model=model)


def _thought(thought: dict[str, Any]) -> str:
    """A thought in the words in which the program shows it."""
    subject = as_str(thought.get("subject")) or ""
    description = as_str(thought.get("description")) or ""
    if not subject:
        return description
    return f"**{subject}**\n{description}" if description else f"**{subject}**"
