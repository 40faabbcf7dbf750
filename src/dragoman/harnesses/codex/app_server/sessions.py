"""The sessions on one connection: finding the one that a line refers to, and its turn."""

from __future__ import annotations

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.app_server.shapes import Params, ThreadInfo
from dragoman.harnesses.codex.threads import Thread, Threads
from dragoman.harnesses.codex.values.loose import as_dict, as_str


class ConnectionSessions:
    """What notifications, requests and answers have to know of one another."""

    def __init__(self, out: Output, threads: Threads) -> None:
        self.out = out
        self.threads = threads
        self.connection = SessionAssembler(out, "codex")
        """Reports what belongs to no session: the account, the configuration, the server itself."""
        self.version: str | None = None
        """The server's release, once the handshake has named it."""

    def thread_of(self, params: Params) -> Thread:
        thread_id = params.thread_id or params.conversation_id or None
        if thread_id is None and params.meta is not None:
            thread_id = as_str(as_dict(params.meta).get("threadId"))
        if thread_id is None and params.thread is not None:
            thread_id = params.thread.id
        return self.threads.get(thread_id)

    def begin(self, info: ThreadInfo, *, resumed: bool = False) -> None:
        """Report what a session is, from whichever line shows it."""
        thread = self.threads.get(info.id)
        session = thread.session
        if resumed or info.turns:
            session.is_resumed = True
        spawn = as_dict(as_dict(as_dict(info.source).get("subAgent")).get("thread_spawn"))
        parent = info.parent_thread_id or as_str(spawn.get("parent_thread_id"))
        session.begin_session(
            version=info.cli_version or self.version,
            model=info.model,
            cwd=info.cwd,
            parent_session_id=parent or info.forked_from_id or self.threads.parent_of(info.id),
        )

    def introduce(self, thread: Thread) -> SessionAssembler:
        """Make sure a session has been announced before anything is reported in it."""
        session = thread.session
        if not session.has_facts:
            parent = self.threads.parent_of(session.session_id)
            session.begin_session(version=self.version, parent_session_id=parent)
        return session

    def enter_turn(self, thread: Thread, turn_id: str | None) -> None:
        """Stamp what follows with the turn that the line names."""
        session = thread.session
        if turn_id is None or not session.is_other_turn(turn_id):
            return
        if turn_id == thread.next_turn:
            thread.responses.end_turn()
            thread.events.finish()
            session.begin_turn(turn_id)
            thread.turn_line = self.out.line
            thread.events.ends_follow = True
            thread.next_turn = None
        elif session.has_ended(turn_id):
            session.attribute_to(turn_id)  # a late word about an earlier turn
        elif not session.in_turn:
            session.begin_turn(turn_id)  # we came in late
            thread.turn_line = self.out.line
            thread.tell_asked()
