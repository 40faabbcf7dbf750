"""``transcript_mirror``: the rows that the program writes into its session file, on the stream as well.

Most rows repeat a line of the stream, under the same ``uuid``. What only they have is the prompt, the context, and
the final count of each response, also of a sub-agent's.
"""

from __future__ import annotations

from dragoman.harnesses.claude.session import ClaudeSession
from dragoman.harnesses.claude.transcript import shapes
from dragoman.harnesses.claude.transcript.attachments import Attachments
from dragoman.harnesses.claude.usage import usage_of
from dragoman.harnesses.claude.values import command_line
from dragoman.harnesses.stream_json.blocks import has_results, prompt_of
from dragoman.harnesses.stream_json.prompts import PromptQueue
from dragoman.harnesses.stream_json.sessions import Sessions
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict, as_str


class Mirror:
    """The rows of all session files of one process."""

    def __init__(self, sessions: Sessions[ClaudeSession], prompts: PromptQueue) -> None:
        self._sessions = sessions
        self._prompts = prompts
        self._attachments = Attachments()

    def report(self, entry: bytes) -> None:
        """Report what a row says and the stream does not."""
        try:
            row = shapes.decode_row(entry)
        except UNREADABLE:
            return
        agent_id = as_str(row.agentId)
        agent = self._sessions.known_agent(agent_id)
        if agent_id is not None and agent is None:
            return
        session = agent or self._sessions.main
        match row:
            case shapes.User():
                if agent is None:
                    self._prompt(row)
            case shapes.Attachment():
                self._attachments.report(session, row)
            case shapes.Assistant():
                _tokens(session, row)
            case _:
                return

    def _prompt(self, row: shapes.User) -> None:
        content = row.message.content
        prompt = prompt_of(content)
        by_user = as_str(as_dict(row.origin).get("kind")) in (None, "human", "sdk")
        is_prompt = row.isMeta is not True and row.promptSource not in (None, "system")
        typed = command_line(prompt.text)
        if by_user and is_prompt and typed is None and not has_results(content):
            self._prompts.echo(self._sessions.main, prompt)


def _tokens(session: ClaudeSession, row: shapes.Assistant) -> None:
    message = row.message
    usage, reason = usage_of(message.usage), as_str(message.stop_reason)
    if reason is not None and row.isApiErrorMessage is not True:
        session.spending.see(as_str(message.id), usage, as_str(message.model), is_final=True)
