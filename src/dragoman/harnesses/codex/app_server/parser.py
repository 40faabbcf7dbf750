"""Reading traffic with ``codex app-server`` (v1 and v2) and with Codex as an MCP server.

Lines are JSON-RPC, with or without ``"jsonrpc"``; of one direction or both, bare or inside
``{"dir", "t", "msg"}``. Up to 0.114 the server sends legacy ``codex/event/*`` beside v2: whatever
comes first is a message, the other is its duplicate.

| line | becomes |
|---|---|
| notifications | see app_server_notifications |
| requests of the server, answers to them | approval_requested, approval_settled; a dynamic tool's tool_call and tool_result |
| requests of the client | duplicates of their answers, or of what they set going; in v1 the prompt itself |
| answers of the server | session_started, or a duplicate; an error is a notice; data found nowhere else is kept as unknown |
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.app_server.decoding import (
    ID_FIRST,
    ID_SECOND,
    METHOD_ENDS,
    PARAMS,
    decode_rpc,
    decode_with_id,
)
from dragoman.harnesses.codex.app_server.notices import ASIDE
from dragoman.harnesses.codex.app_server.notifications import Notifications
from dragoman.harnesses.codex.app_server.requests import (
    REQUESTS,
    ServerRequest,
    ServerRequests,
    looks_like_answer,
)
from dragoman.harnesses.codex.app_server.sessions import ConnectionSessions
from dragoman.harnesses.codex.app_server.shapes import (
    ABSENT,
    NO_PARAMS,
    Params,
    Rpc,
    ThreadInfo,
)
from dragoman.harnesses.codex.events.notices import tell_rollback
from dragoman.harnesses.codex.failures import words_of
from dragoman.harnesses.codex.items.shape import user_input
from dragoman.harnesses.codex.stream import StreamParser
from dragoman.harnesses.codex.threads import Threads
from dragoman.harnesses.codex.values.loose import as_count, as_dict, as_list, as_str, texts_in
from dragoman.harnesses.codex.versions import release_in
from dragoman.harnesses.contract.reading import Ending
from dragoman.model.messages import Level, Outcome, TurnError
from dragoman.wire.envelope import unwrap

_QUERIES: Final = frozenset(
    (
        "account/read", "account/rateLimits/read", "account/usage/read", "getAuthStatus",
        "getUserAgent", "userInfo", "model/list", "thread/list", "thread/loaded/list",
        "listConversations", "config/read", "configRequirements/read", "skills/list",
        "mcpServerStatus/list", "collaborationMode/list", "experimentalFeature/list",
        "permissionProfile/list", "app/list", "hooks/list", "plugin/list",
        "account/securitySetup/read", "modelProvider/list", "modelProvider/config/write",
    )
)  # fmt: skip
"""Requests whose answers are about the account, the models, the settings or other sessions."""
OVERLOADED: Final = -32001
"""The code of an answer that means: later."""
_EVENT: Final = "codex/event/"
_HANDSHAKE: Final = frozenset(("initialized", "notifications/initialized"))
_OPENS_SESSION: Final = frozenset(
    ("thread/start", "thread/resume", "thread/fork", "newConversation", "resumeConversation")
)
_GOES_ON: Final = frozenset(("thread/resume", "thread/fork", "resumeConversation"))
_ASKS: Final = frozenset(("sendUserMessage", "sendUserTurn", "tools/call"))
_PROMPTS: Final = frozenset(("turn/start", "turn/steer"))
"""Requests with a prompt that an item repeats, as a rule."""
_SAYS_NOTHING: Final = frozenset(
    (
        "turn/start", "turn/steer", "turn/interrupt", "thread/compact/start", "review/start",
        "sendUserMessage", "sendUserTurn", "interruptConversation", "addConversationListener",
        "thread/name/set", "thread/archive", "thread/unarchive", "thread/unsubscribe",
        "thread/shellCommand", "thread/inject_items", "thread/settings/update",
        "thread/backgroundTerminals/clean", "thread/goal/set", "thread/goal/clear",
        "thread/rollback", "thread/revert", "tools/list",
    )
)  # fmt: skip
"""Requests whose answers only repeat notifications."""


class _Aside(msgspec.Struct, gc=False):
    params: msgspec.Raw = ABSENT


_decode_aside = msgspec.json.Decoder(_Aside).decode


class AppServerParser(StreamParser):
    """One connection, with all the threads on it."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        super().__init__(only=only, audit=audit)
        self._threads = Threads(self._out)
        self._sessions = ConnectionSessions(self._out, self._threads)
        self._requests = ServerRequests(self._out, self._threads)
        self._notifications = Notifications(self._sessions, self._requests)
        self._asked: dict[int | str, tuple[str, str | None]] = {}
        """The client's open requests: method and thread by id."""
        self.sent: bool | None = None
        """Whether the client sent the following lines; None if only the lines themselves can show it."""
        self.rpc: Rpc | None = None
        """The line read last; None if it was of no shape we know."""
        self.whole: Any = None
        """The same as plain values, if it is a request, an answer, or of no shape we know."""
        self._at_ms: int | None = None
        """The time that the output was last set to."""
        self.answers_have_readers = False
        """Whether the client itself reads the answers to its requests."""

    def _read(self, line: bytes) -> None:
        self.rpc = self.whole = None
        sent = self.sent
        if sent is None:
            line, sent = unwrap(line)
        rpc, whole = None, None
        if not line.startswith(ID_FIRST):
            found = line.find(ID_SECOND, 0, METHOD_ENDS)
            if found < 0 or line.find(PARAMS, 0, found) > 0:
                rpc = decode_rpc(line)
        if rpc is None or rpc.id is not None:
            rpc, whole = decode_with_id(line)
        self.rpc, self.whole = rpc, whole
        if rpc.emitted_at_ms is not None and rpc.emitted_at_ms != self._at_ms:
            self._at_ms = rpc.emitted_at_ms
            self._out.at = _time(rpc.emitted_at_ms)
        params = rpc.params or NO_PARAMS
        method = rpc.method
        if method is None:
            self._answer(line, rpc, whole or {}, sent)
        elif rpc.id is None or whole is None:
            if sent or method in _HANDSHAKE:
                self._out.duplicate("handshake")
            elif method in ASIDE:
                self._aside(line, method, params)
            else:
                if params.msg is ABSENT and method.startswith(_EVENT) and rpc.params is not None:
                    # Some documents show the event itself in place of the parameters.
                    params.msg = _decode_aside(line).params
                if not self._notifications.tell(method, params):
                    self._unknown(line, method)
        elif sent is True or (sent is None and method not in REQUESTS):
            self._client_request(rpc.id, method, params)
        elif method in REQUESTS:
            live = self.sent is not None
            if not self._requests.receive(rpc.id, method, params, whole, line, live=live):
                self._unknown(line, method)
        else:
            self._unknown(line, method)

    def _odd(self, line: bytes, value: Any) -> None:
        self.whole = value
        super()._odd(line, value)

    def _say_held(self) -> None:
        for thread in self._threads.all():
            thread.release()

    def _finish(self, ending: Ending) -> None:
        self._notifications.finish()
        for thread in self._threads.all():
            thread.finish()

    def _speaker(self) -> SessionAssembler:
        return self._threads.current.session if self._threads.current else self._sessions.connection

    # For who drives the other side.

    def open_turn(self, session_id: str) -> str | None:
        """The turn under way in a session."""
        thread = self._threads.find(session_id)
        return thread.session.open_turn if thread else None

    def request(self, request_id: int | str) -> ServerRequest | None:
        """A request of the server that is still open, under the names its message has."""
        return self._requests.find(request_id)

    def has_asked(self, session_id: str, approval_id: str) -> bool:
        """Whether an approval of this name was asked for, be it by an event only."""
        thread = self._threads.find(session_id)
        return thread is not None and thread.session.has_asked(approval_id)

    def has_given_up(self, session_id: str, turn_id: str) -> bool:
        """Whether we ended this turn, not the server."""
        thread = self._threads.find(session_id)
        return thread is not None and turn_id in thread.given_up

    def end_turn(
        self, session_id: str, turn_id: str | None, outcome: Outcome, error: TurnError | None
    ) -> None:
        """End a turn that the server does not end. Nothing that arrives later reopens it."""
        thread = self._threads.find(session_id)
        if thread is not None:
            self._notifications.spelled.finish(thread)
            self._requests.turn_over(thread, thread.session.open_turn)
            thread.end_turn(turn_id, outcome, error)

    def cut_off(self, error: TurnError) -> None:
        """The server is gone: the reason why an open turn failed."""
        self._requests.drop_all()
        self._notifications.finish()
        for thread in self._threads.all():
            thread.finish(error)

    def note(self, session_id: str | None, level: Level, text: str) -> None:
        """Emit a notice of our own about a session, or about the connection."""
        thread = self._threads.find(session_id)
        session = thread.session if thread else self._sessions.connection
        session.notice("ours", level, text)

    # What the client asks, and what it is answered.

    def _client_request(self, request_id: int | str, method: str, params: Params) -> None:
        self._asked[request_id] = (method, params.thread_id or params.conversation_id)
        if method in _ASKS:
            thread = self._threads.get(params.thread_id or params.conversation_id)
            if method == "tools/call":
                given = as_dict(params.arguments)
                known = as_str(given.get("conversationId")) or as_str(given.get("threadId"))
                thread = self._threads.get(known) if known else thread
                thread.ask(as_str(given.get("prompt")) or "", [])
            else:
                thread.ask(*user_input(params.items))
        elif method == "thread/inject_items" and as_list(params.items):
            self._inject(self._threads.get(params.thread_id).session, as_list(params.items))
        elif method == "thread/revert" and params.before_turn_id:
            self._threads.get(params.thread_id).reverts_to = params.before_turn_id
            self._out.duplicate("request: its notification carries it")
        elif method == "thread/rollback":
            self._threads.get(params.thread_id).rolls_back = as_count(params.num_turns)
            self._out.duplicate("request: its answer carries it")
        elif method in _PROMPTS and params.input:
            thread = self._threads.get(params.thread_id)
            text, images = user_input(params.input)
            thread.request(request_id, text, images, steers=method == "turn/steer")
        else:
            self._out.duplicate("request: its answer or what follows carries it")

    def _aside(self, line: bytes, method: str, params: Params) -> None:
        """Report a notification that is not about the conversation, with its native text."""
        thread = self._threads.find(params.thread_id)
        session = thread.session if thread else self._sessions.connection
        words = bytes(_decode_aside(line).params).decode(errors="replace")
        session.notice("aside", "info", method if words in ("", "{}") else f"{method}: {words}")

    def _inject(self, session: SessionAssembler, items: list[Any]) -> None:
        """What the client puts before the model, past the conversation."""
        for item in map(as_dict, items):
            text = texts_in(item) or msgspec.json.encode(item).decode()
            session.context(as_str(item.get("role")) or "user", text)

    def _answer(self, line: bytes, rpc: Rpc, whole: dict[str, Any], sent: bool | None) -> None:
        request_id = rpc.id
        if request_id is None:
            self._unknown(line, "no method and no id")
            return
        theirs = self._requests.has_open(request_id) and sent is not False
        if theirs and (sent or request_id not in self._asked or looks_like_answer(whole)):
            self._requests.answered(request_id, whole.get("result"), rpc.error)
            return
        if sent:
            self._out.duplicate("answer: to a request that is settled or unknown")
            return
        method, thread_id = self._asked.pop(request_id, (None, None))
        if rpc.error is not None:
            self._refused(request_id, method, thread_id, rpc.error)
            return
        result = as_dict(whole.get("result"))
        if method in _OPENS_SESSION or (method is None and _is_session(result)):
            self._session_opened(method, result)
        elif method == "initialize" or "userAgent" in result or "serverInfo" in result:
            server = as_dict(result.get("serverInfo"))
            agent = as_str(result.get("userAgent")) or as_str(server.get("user_agent"))
            self._sessions.version = release_in(agent) or as_str(server.get("version"))
            self._requests.home = as_str(result.get("codexHome"))
            self._out.duplicate("handshake")
        elif method == "tools/call":
            self._tool_answered(result)
        elif method == "thread/rollback" and (thread := self._threads.find(thread_id)):
            # Up to 0.114 an event reports it, too; later releases only answer.
            turns, thread.rolls_back = thread.rolls_back, 0
            tell_rollback(thread.session, "answer", turns)
        elif method in _SAYS_NOTHING or not result or "turn" in result:
            self._out.duplicate("answer: notifications carry it")
            if method == "thread/unsubscribe":
                self._threads.leave(thread_id)
        elif method in _QUERIES:
            self._out.duplicate("answer: to a question that is no part of a session")
        elif self.answers_have_readers:
            self._out.duplicate("answer: returned to the caller")
        else:
            self._unknown(line, f"answer to {method}" if method else "answer")

    def _refused(
        self, request_id: int | str, method: str | None, thread_id: str | None, error: Any
    ) -> None:
        message = words_of(error)
        session = self._sessions.connection
        thread = self._threads.find(thread_id) or self._threads.current
        code = as_dict(error).get("code")
        if method in (*_PROMPTS, *_ASKS) and thread:
            session = thread.session
            thread.drop_asked(request_id, again=code == OVERLOADED)
        text = f"{method}: {message}" if method else message
        if details := words_of(as_dict(error).get("data")):
            text = f"{text}\n{details}"
        if code == OVERLOADED:
            session.notice("answer", "warning", text, will_retry=True)
        else:
            session.notice("answer", "error", text)

    def _session_opened(self, method: str | None, result: dict[str, Any]) -> None:
        given = as_dict(result.get("thread"))
        thread_id = as_str(given.get("id")) or as_str(result.get("conversationId"))
        info = ThreadInfo(
            id=thread_id,
            model=as_str(result.get("model")) or as_str(given.get("model")),
            cwd=as_str(result.get("cwd")) or as_str(given.get("cwd")),
            cli_version=as_str(given.get("cliVersion")),
            parent_thread_id=as_str(given.get("parentThreadId")),
            forked_from_id=as_str(given.get("forkedFromId")),
            preview=as_str(given.get("preview")),
            turns=as_list(given.get("turns")),
        )
        self._threads.join(thread_id)
        self._sessions.begin(info, resumed=method in _GOES_ON)

    def _tool_answered(self, result: dict[str, Any]) -> None:
        """The MCP tool call is over; in 0.8 this is the only sign."""
        thread = self._threads.get(None)
        session = thread.session
        texts = [as_str(as_dict(part).get("text")) or "" for part in as_list(result.get("content"))]
        text = "\n".join(texts)
        if not session.in_turn and result.get("isError"):
            thread.drop_asked()
            session.notice("answer", "error", text)
        elif not session.in_turn:
            self._out.duplicate("answer: the events carry it")
        elif text.endswith("_APPROVAL_REQUIRED"):
            session.notice("answer", "warning", text)
            session.end_turn("interrupted")
        else:
            session.leave()


def _time(milliseconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None  # no moment that a calendar knows


def _is_session(result: dict[str, Any]) -> bool:
    return ("thread" in result and "model" in result) or "conversationId" in result
