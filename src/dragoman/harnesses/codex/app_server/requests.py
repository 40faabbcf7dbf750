"""What the server asks its client, and the answers.

| request | becomes |
|---|---|
| item/commandExecution/requestApproval, execCommandApproval | approval_requested (command) |
| item/fileChange/requestApproval, applyPatchApproval | approval_requested (edit) |
| item/permissions/requestApproval | approval_requested (permissions) |
| item/tool/requestUserInput | approval_requested (question) |
| mcpServer/elicitation/request, elicitation/create | approval_requested (elicitation, tool, command or edit) |
| item/tool/call | tool_call; the answer is its tool_result |
| account/chatgptAuthTokens/refresh, attestation/generate, currentTime/read | notice |
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.app_server.completeness import is_sound
from dragoman.harnesses.codex.app_server.shapes import Params
from dragoman.harnesses.codex.failures import words_of
from dragoman.harnesses.codex.questions import (
    DENY,
    always_allow,
    answer_of,
    ask_command,
    ask_edit,
    ask_elicitation,
    ask_input,
    ask_permissions,
    ask_question,
    ask_tool,
    choices_of,
    detail_of,
    rule_to_remember,
)
from dragoman.harnesses.codex.threads import Thread, Threads
from dragoman.harnesses.codex.tools.calls import given_arguments
from dragoman.harnesses.codex.tools.commands import command_line
from dragoman.harnesses.codex.tools.outputs import content_text
from dragoman.harnesses.codex.tools.patches import changes_of
from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str

_HOUSEKEEPING: Final = frozenset(
    ("account/chatgptAuthTokens/refresh", "attestation/generate", "currentTime/read")
)
_ANSWERS: Final = (
    "decision",
    "answers",
    "action",
    "permissions",
    "success",
    "contentItems",
    "content_items",
)


class ServerRequest(NamedTuple):
    """A request of the server that is still open."""

    thread: Thread
    approval_id: str
    """The name of its approval, or of its tool call."""
    method: str
    turn_id: str | None


class ServerRequests:
    """The server's open requests, on all threads of a connection."""

    def __init__(self, out: Output, threads: Threads) -> None:
        self._out = out
        self._threads = threads
        self._open: dict[int | str, ServerRequest] = {}
        self._names: dict[tuple[str | None, str], int] = {}
        self.home: str | None = None
        """Where the server keeps its files, once known."""

    def has_open(self, request_id: int | str) -> bool:
        return request_id in self._open

    def find(self, request_id: int | str) -> ServerRequest | None:
        return self._open.get(request_id)

    def receive(
        self,
        request_id: int | str,
        method: str,
        params: Params,
        whole: dict[str, Any],
        line: bytes,
        *,
        live: bool,
    ) -> bool:
        """Take a request.

        False: we have to decide, and it is unknown about what. A recording may lack the lines
        that contained it, and no decision is pending any more.
        """
        raw = as_dict(whole.get("params"))
        thread_id = params.thread_id or params.conversation_id or as_str(raw.get("conversation_id"))
        item_id = params.item_id or params.call_id or as_str(raw.get("call_id"))
        thread = self._threads.get(thread_id)
        if live and not is_sound(method, raw, thread.session, item_id):
            return False
        named = params.approval_id or item_id or as_str(raw.get("codex_call_id"))
        approval_id = self._own_name(thread, named or _name(request_id, params, thread, line))
        # The oldest requests do not name the turn; they are over with the one they came in.
        turn_id = params.turn_id or thread.session.open_turn
        self._open[request_id] = ServerRequest(thread, approval_id, method, turn_id)
        thread.session.attribute_to(params.turn_id)
        REQUESTS[method](self, thread, approval_id, params, raw)
        thread.session.attribute_to(None)
        return True

    def _own_name(self, thread: Thread, name: str) -> str:
        """A name for each request: an item may be asked about twice."""
        key = (thread.session.session_id, name)
        count = self._names[key] = self._names.get(key, 0) + 1
        return name if count == 1 else f"{name}-{count}"

    def answered(self, request_id: int | str, result: Any, error: Any) -> None:
        """The client has answered."""
        asked = self._open.pop(request_id)
        if asked.method in _HOUSEKEEPING:
            self._out.duplicate("answer: between the server and its client")
        elif asked.method == "item/tool/call":
            self._tool_answered(asked, result, error)
        else:
            decision = DENY if error is not None else answer_of(result)
            if error is not None:
                self._refused(asked, error)
                asked.thread.session.settle(asked.approval_id, decision)
            else:
                asked.thread.settle_approval(asked.approval_id, decision, detail_of(result))

    def _refused(self, asked: ServerRequest, error: Any) -> None:
        """Report the error with which the client has answered."""
        code = as_dict(error).get("code")
        words = (words_of(error), words_of(as_dict(error).get("data")))
        text = "\n".join(filter(None, words))
        text = f"{asked.method} was refused: {text}" + (f" ({code})" if code is not None else "")
        asked.thread.session.notice("refused", "warning", text)

    def _tool_answered(self, asked: ServerRequest, result: Any, error: Any) -> None:
        given = as_dict(result)
        output = content_text(given.get("contentItems", given.get("content_items")))
        if error is not None:
            # What the model then gets is the harness's word: it comes with the item.
            self._refused(asked, error)
            return
        failed = given.get("success") is False
        asked.thread.session.result(
            asked.approval_id, output or (as_str(given.get("output")) or ""), is_error=failed
        )

    def resolved(self, thread: Thread, request_id: Any) -> None:
        """The server reports that a request of its own is settled, one way or another."""
        asked = self._open.pop(request_id, None) if isinstance(request_id, int | str) else None
        if asked is None or not asked.thread.session.has_asked(asked.approval_id):
            self._out.duplicate("approval: settled before, or nothing to approve")
        else:
            asked.thread.session.settle(asked.approval_id, "resolved")

    def turn_over(self, thread: Thread, turn_id: str | None) -> None:
        """What was asked in this turn needs no answer any more."""
        for request_id, asked in list(self._open.items()):
            if asked.thread is thread and asked.turn_id == turn_id is not None:
                self.resolved(thread, request_id)

    def drop_all(self) -> None:
        """No request waits for an answer any more."""
        for request_id, asked in list(self._open.items()):
            self.resolved(asked.thread, request_id)

    # One method for each request.

    def _command(self, thread: Thread, name: str, params: Params, raw: dict[str, Any]) -> None:
        session = thread.session
        command, cwd = params.command, params.cwd
        if command is None:  # up to 0.77 the item, which came before, contains it
            item = session.native_of(params.item_id or name)
            command = item.get("command", session.input_of(params.item_id or name).get("command"))
            cwd = cwd or as_str(item.get("cwd"))
        if raw.get("kind") == "writeStdin":
            ask_input(session, name, text=command_line(command), cwd=cwd, reason=params.reason)
            return
        rule = rule_to_remember(raw)
        ask_command(
            session,
            name,
            command=command,
            cwd=cwd,
            reason=params.reason,
            choices=choices_of(params.available_decisions, rule=rule),
            always=always_allow(rule, self.home),
            network=as_dict(raw.get("networkApprovalContext")),
        )

    def _old_command(self, thread: Thread, name: str, params: Params, raw: dict[str, Any]) -> None:
        if not thread.session.calls.is_known(name):
            thread.session.call(
                name, "Bash", "exec_command", {"command": command_line(params.command)}
            )
        self._command(thread, name, params, raw)

    def _edit(self, thread: Thread, name: str, params: Params, raw: dict[str, Any]) -> None:
        changes = as_list(thread.session.input_of(params.item_id or name).get("changes"))
        ask_edit(
            thread.session,
            name,
            changes=changes,
            reason=params.reason,
            choices=choices_of(params.available_decisions),
            grant_root=as_str(raw.get("grantRoot")),
        )

    def _old_edit(self, thread: Thread, name: str, params: Params, raw: dict[str, Any]) -> None:
        given = params.file_changes if params.file_changes is not None else raw.get("file_changes")
        root = as_str(raw.get("grantRoot")) or as_str(raw.get("grant_root"))
        changes = changes_of(given)
        ask_edit(thread.session, name, changes=changes, reason=params.reason, grant_root=root)

    def _permissions(self, thread: Thread, name: str, params: Params, raw: dict[str, Any]) -> None:
        ask_permissions(thread.session, name, params.permissions, params.reason)

    def _question(self, thread: Thread, name: str, params: Params, raw: dict[str, Any]) -> None:
        ask_question(thread.session, name, as_list(params.questions))

    def _elicitation(self, thread: Thread, name: str, params: Params, raw: dict[str, Any]) -> None:
        meta = as_dict(params.meta)
        message, server = params.message or "", params.server_name or ""
        if meta.get("codex_approval_kind") == "mcp_tool_call":
            ask_tool(thread.session, name, server, message, meta, self.home)
        else:
            form, url = _asked_for(raw)
            ask_elicitation(thread.session, name, server, message, form=form, url=url, meta=meta)

    def _mcp_elicitation(
        self, thread: Thread, name: str, params: Params, raw: dict[str, Any]
    ) -> None:
        kind = as_str(raw.get("codex_elicitation"))
        if kind == "exec-approval":
            command, cwd = raw.get("codex_command"), as_str(raw.get("codex_cwd"))
            ask_command(thread.session, name, command=command, cwd=cwd, reason=params.message)
        elif kind == "patch-approval":
            changes = changes_of(raw.get("codex_changes"))
            ask_edit(thread.session, name, changes=changes, reason=params.message)
        else:
            form, url = _asked_for(raw)
            server, message = params.server_name or "", params.message or ""
            ask_elicitation(thread.session, name, server, message, form=form, url=url)

    def _tool_call(self, thread: Thread, name: str, params: Params, raw: dict[str, Any]) -> None:
        tool = f"{params.namespace}.{params.tool}" if params.namespace else params.tool or ""
        thread.session.call(name, tool, tool, given_arguments(params.arguments))

    def _housekeeping(self, thread: Thread, name: str, params: Params, raw: dict[str, Any]) -> None:
        thread.session.notice(
            "request", "info", "the agent asks its client for a token, a proof or the time"
        )


_Ask: TypeAlias = Callable[[ServerRequests, Thread, str, Params, dict[str, Any]], None]
REQUESTS: Final[dict[str, _Ask]] = {
    "item/commandExecution/requestApproval": ServerRequests._command,
    "execCommandApproval": ServerRequests._old_command,
    "item/fileChange/requestApproval": ServerRequests._edit,
    "applyPatchApproval": ServerRequests._old_edit,
    "item/permissions/requestApproval": ServerRequests._permissions,
    "item/tool/requestUserInput": ServerRequests._question,
    "mcpServer/elicitation/request": ServerRequests._elicitation,
    "elicitation/create": ServerRequests._mcp_elicitation,
    "item/tool/call": ServerRequests._tool_call,
    **dict.fromkeys(_HOUSEKEEPING, ServerRequests._housekeeping),
}


def _name(request_id: int | str, params: Params, thread: Thread, line: bytes) -> str:
    """A name for a request that has none of its own, for example an elicitation.

    A new process counts its requests from 0 again. With the turn in it, the name means this request
    for the life of the session; without a turn, what was asked has to do.
    """
    turn_id = params.turn_id or thread.session.open_turn
    return f"request-{request_id}-{turn_id or hashlib.sha256(line).hexdigest()[:12]}"


def _asked_for(raw: dict[str, Any]) -> tuple[dict[str, Any] | None, str | None]:
    """The form that an elicitation wants filled in, and the address it wants visited."""
    form = raw.get("requestedSchema")
    return as_dict(form) if isinstance(form, dict) else None, as_str(raw.get("url"))


def looks_like_answer(whole: dict[str, Any]) -> bool:
    """Whether a response of unknown direction answers a request of the server."""
    if whole.get("error") is not None:
        return False
    return any(key in as_dict(whole.get("result")) for key in _ANSWERS)
