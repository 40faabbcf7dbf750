"""Reading the chat files of Gemini CLI.

| line | becomes |
|---|---|
| header | session_started; a later one begins another run of the program |
| message of the user | the beginning of a turn, and its prompt; tool_result; context |
| message of the model | thinking, text, tool_call, tool_result, plan; the tokens of its response |
| info, warning, error | notice |
| ``$set`` of messages | context for what stands nowhere else; the end of a turn that it takes back |
| ``$set`` of a summary | notice: the title; of a sub-agent its result, and the end of its turn |
| ``$rewindTo`` | notice, with the turns that it undoes |

A file is a log of what was done to a conversation: a message is written again whenever it has grown, and ``$set``
replaces the whole list. After a turn that was cancelled or has failed the program sets the list without that turn.
Applied literally, its prompt and all it did would be lost, so the log is read in the order in which it was written
and nothing is ever removed. A session's own file has no line for the end of a turn.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any, Final

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.assembly.parsing import StreamParser
from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.gemini.chat import shapes
from dragoman.harnesses.gemini.chat.contexts import CONTEXTS, workspace
from dragoman.harnesses.gemini.chat.rows import ChatRows
from dragoman.harnesses.gemini.chat.undoing import ChatTurns
from dragoman.harnesses.gemini_tools.parts import parts_of
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict, as_list, as_str
from dragoman.wire.moments import as_time, later

HARNESS: Final = "gemini"
CHANNEL: Final = "chat"
SUB_AGENT: Final = "subagent"
_SUMMARY: Final = "<state_snapshot>"
_BOOKKEEPING: Final = frozenset(
    ("lastUpdated", "sessionId", "projectHash", "memoryScratchpad", "directories", "kind", "startTime")
)  # fmt: skip


class GeminiChatParser(StreamParser):
    """One chat file: a session's own, or a sub-agent's."""

    def __init__(
        self,
        *,
        only: frozenset[str] | None = None,
        audit: bool = False,
        out: Output | None = None,
        parent: tuple[str | None, str | None] = (None, None),
    ) -> None:
        """``parent`` is the session that a sub-agent works for, and the call that has started it."""
        super().__init__(only=only, audit=audit, out=out)
        self._parent = parent
        self._session = SessionAssembler(self._out, HARNESS)
        self._session.says_ends = False
        self._rows = ChatRows(self._out, self._session)
        self._turns = ChatTurns(self._session)
        self._is_agent = False
        """Whether the file is a sub-agent's: what other files have as the title is its result there."""
        self._header: tuple[int, shapes.LogLine] | None = None
        """The header, until the next line says where the session works."""
        self._last_at: datetime | None = None
        """When the newest message was written."""

    def _read(self, line: bytes) -> None:
        row = shapes.decode_line(line)
        if row.is_header:
            self._take_header(row)
            return
        patch = as_dict(row.patch)
        self._introduce(patch)
        # A message that has grown has the time of its beginning still.
        self._out.at = later(self._out.at, as_time(row.timestamp))
        if patch:
            self._patch(patch, line)
        elif isinstance(row.rewind_to, str):
            self._rewind(row.rewind_to)
        elif isinstance(row.id, str):
            if row.type == "gemini":  # not one that a list repeats later
                self._last_at = self._out.at
            if not self._message(row):
                self._unknown(line, as_str(row.type) or "message")
        else:
            raise msgspec.ValidationError

    def read_row(self, row: bytes) -> None:
        """Read a row that is on a line of another stream, which keeps what cannot be read."""
        with suppress(*UNREADABLE):
            self._read(row)

    def end_now(self) -> None:
        """The call that the sub-agent works for is over."""
        self._finish("over")

    def _say_held(self) -> None:
        self._introduce({})

    def _finish(self, ending: Ending) -> None:
        self._introduce({})
        self._session.leave(may_go_on=ending == "left")

    def _speaker(self) -> SessionAssembler:
        return self._session

    # The session.

    def _take_header(self, row: shapes.LogLine) -> None:
        self._introduce({})
        session, name = self._session, as_str(row.sessionId)
        self._out.at = as_time(row.startTime) or self._out.at
        if session.has_facts:
            # Another run of the program goes on with the session, or only tries to, while the first one works.
            self._turns.begin_run()
            session.duplicate("header: the session goes on")
        else:
            session.session_id = name
            self._is_agent = row.kind == SUB_AGENT
            self._header = (self._out.line, row)
        for each in as_list(row.messages):
            self._message(shapes.as_line(each))

    def _introduce(self, patch: dict[str, Any]) -> None:
        """Announce the session under its header, now that the line after it is known."""
        if self._header is None:
            return
        (number, row), self._header = self._header, None
        now, self._out.line = self._out.line, number
        folders = [text for each in as_list(row.directories) if (text := as_str(each))]
        parent, call_id = self._parent
        self._session.begin_session(
            cwd=next(iter(folders), None) or workspace(patch),
            parent_session_id=parent,
            parent_call_id=call_id,
        )
        self._turns.begin_run()
        if (title := as_str(row.summary)) is not None:
            self._title(title)
        self._out.line = now

    def _title(self, title: str) -> None:
        what = "result" if self._is_agent else "title"
        self._session.notice(CHANNEL, "info", f"{what}: {title}")
        if self._is_agent and self._session.in_turn:
            self._session.end_turn("completed")  # it is written when the agent has reached its goal

    # The log.

    def _patch(self, patch: dict[str, Any], line: bytes) -> None:
        self._out.at = later(self._out.at, as_time(patch.get("lastUpdated")))
        known = False
        if isinstance(patch.get("messages"), list):
            self._replace([shapes.as_line(as_dict(each)) for each in as_list(patch["messages"])])
            known = True
        if (title := as_str(patch.get("summary"))) is not None:
            self._title(title)
            known = True
        if not known and patch.keys() <= _BOOKKEEPING:
            self._session.duplicate("bookkeeping")
        elif not known:
            self._unknown(line, f"$set/{','.join(sorted(patch))}")

    def _replace(self, messages: list[shapes.LogLine]) -> None:
        """The whole list is set: report what stands nowhere else, and see what is gone."""
        names = [name for row in messages if (name := as_str(row.id)) is not None]
        new = [row for row in messages if not self._rows.has(as_str(row.id))]
        self._turns.set_messages(names, has_news=any(not _is_context(row) for row in new))
        for row in messages:
            self._carried(row)
        self._session.duplicate("log: the messages again")

    def _carried(self, row: shapes.LogLine) -> None:
        """A message in the list: one that was written before, or that only the list has."""
        if (
            row.tokens is not None
            or row.toolCalls is not None
            or row.type not in ("user", "gemini")
        ):
            self._message(row)
            return
        said = parts_of(row.content)
        name = as_str(row.id) or ""
        if _SUMMARY in said.text and self._rows.is_news(name, said.text):
            self._session.compacted(CHANNEL, said.text)
        elif self._rows.is_news(name, said.text):
            self._session.context("user" if row.type == "user" else "assistant", said.text)
        for response in said.results:
            self._rows.response(response)

    def _rewind(self, name: str) -> None:
        undone = self._turns.rewind_to(name)
        turns = "turn" if undone == 1 else "turns"
        self._session.notice("rewind", "info", f"{undone} {turns} taken back", undone_turns=undone)

    # Messages.

    def _message(self, row: shapes.LogLine) -> bool:
        """Report a message; False if its kind is not known."""
        match row.type:
            case "user":
                self._user(row)
            case "gemini":
                self._turns.see(as_str(row.id))
                self._rows.model_message(row)
            case "info" | "warning" | "error":
                text = parts_of(row.content).text
                self._session.notice(CHANNEL, row.type, text)
            case _:
                return False
        return True

    def _user(self, row: shapes.LogLine) -> None:
        said, name = parts_of(row.content), as_str(row.id) or ""
        for response in said.results:
            self._rows.response(response)
        if said.results and not (said.text or said.images):
            self._rows.is_news(name, "")
            return
        if not self._rows.is_news(name, said.text) and not said.images:
            self._session.duplicate("message: it was written before")
        elif said.results or said.text.lstrip().startswith(CONTEXTS):
            self._session.context("user", said.text)
        else:
            self._prompt(row, name)

    def _prompt(self, row: shapes.LogLine, name: str) -> None:
        said = parts_of(row.content)
        shown = parts_of(row.displayContent).text if row.displayContent is not None else ""
        now, self._out.at = self._out.at, self._last_at or self._out.at
        self._session.leave()  # it ended with its newest message, not with this one
        self._out.at = self._last_at = now
        self._turns.begin(name)
        self._session.prompt(CHANNEL, shown or said.text, said.images)
        if shown and shown != said.text:
            self._session.context("user", said.text)


def _is_context(row: shapes.LogLine) -> bool:
    return parts_of(row.content).text.lstrip().startswith(CONTEXTS)
