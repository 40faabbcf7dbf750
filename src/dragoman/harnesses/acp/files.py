"""What an agent writes into a session's file and does not say over ACP: inputs, outputs, tokens, its sub-agents' work.

Which rows say it is the harness's knowledge (:class:`SessionFileReader`). The rows arrive as lines among those of the wire.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from dragoman.harnesses.acp.records import CallRecord, ResponseTokens
from dragoman.harnesses.acp.session import AcpSession
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.contract.session_files import WrittenRow


class FileNews(NamedTuple):
    """What a row says that the wire does not."""

    calls: list[CallRecord]
    spent: ResponseTokens | None = None


class AgentFile(Protocol):
    """Reads the file of one sub-agent."""

    def read(self, row: bytes) -> None: ...

    def end(self) -> None: ...


class SessionFileReader(Protocol):
    """Reads the rows of a session's files."""

    def news(self, row: bytes) -> FileNews:
        """What a row of the session's own file says, once. Never raises."""
        ...

    def is_of_agent(self, name: str) -> bool:
        """Whether a file of this name is a sub-agent's."""
        ...

    def prompt_in(self, row: bytes) -> str | None:
        """The prompt of a sub-agent, in the row of its file that has it. Never raises."""
        ...

    def agent(self, out: Output, parent: str | None, call_id: str | None) -> AgentFile: ...


MakeFileReader: TypeAlias = Callable[[], SessionFileReader]


class SessionFileRows:
    """The rows of all files of one connection."""

    def __init__(self, out: Output, reader: SessionFileReader) -> None:
        self._out = out
        self._reader = reader
        self._agents: dict[str, AgentFile] = {}
        self._of_calls: dict[str, AgentFile] = {}
        """The sub-agents that work, by the calls that started them."""
        self._waiting: dict[str, list[bytes]] = {}
        """The first rows of sub-agents' files, up to the prompt."""

    def receive(self, row: WrittenRow, session: AcpSession) -> None:
        """Take a row; the line of the stream that it is on makes no message of its own."""
        at = self._out.at
        session.calls.has_file = True
        if self._reader.is_of_agent(row.name):
            self._agent(row, session)
        else:
            self._own(row.row, session)
        self._out.at = at
        self._out.duplicate("file: what it adds was emitted")

    def _own(self, row: bytes, session: AcpSession) -> None:
        news = self._reader.news(row)
        for record in news.calls:
            if (agent := self._of_calls.pop(record.call_id, None)) is not None:
                agent.end()
            session.calls.complete(record)
        if news.spent is not None:
            session.spent_on(news.spent)

    def _agent(self, row: WrittenRow, session: AcpSession) -> None:
        if (agent := self._agents.get(row.name)) is not None:
            agent.read(row.row)
            return
        first = self._waiting.setdefault(row.name, [])
        first.append(row.row)
        prompt = self._reader.prompt_in(row.row)
        if prompt is None:
            return
        call_id = session.calls.begin_agent(prompt)
        agent = self._reader.agent(self._out, session.session_id, call_id)
        self._agents[row.name] = agent
        if call_id is not None:
            self._of_calls[call_id] = agent
        for each in self._waiting.pop(row.name):
            agent.read(each)

    def end(self) -> None:
        """No more rows will come."""
        for agent in self._agents.values():
            agent.end()
