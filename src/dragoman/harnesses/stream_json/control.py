"""The control protocol: what the agent asks its host, what the host asks the agent, and the answers of both."""

from __future__ import annotations

from typing import Any, Final, Generic, NamedTuple, Protocol

from dragoman.harnesses.stream_json.session import StreamSession
from dragoman.harnesses.stream_json.sessions import S, Sessions
from dragoman.model.messages import ApprovalKind
from dragoman.wire.loose import as_dict, as_list, as_str

CHANNEL: Final = "control"
ALLOW: Final = "allow"
DENY: Final = "deny"
WITHDRAWN: Final = "withdrawn"
_ASKED_BY_AGENT: Final = {
    "can_use_tool": "",
    "elicitation": "",
    "hook_callback": "control: a hook of the host",
    "mcp_message": "control: for an MCP server of the host",
    "request_user_dialog": "control: a dialog of the host",
    "oauth_token_refresh": "control: a token of the host",
    "host_auth_token_refresh": "control: a token of the host",
}
"""The requests that only the agent makes, and the rule for those that are no question to a person."""


class Questions(Protocol):
    """What an agent asks, and what a host's answers mean, in the words of one harness."""

    def kind_of(self, native: str) -> ApprovalKind:
        """What a request about this tool is about."""
        ...

    def ask_tool(self, session: StreamSession, request_id: str, request: dict[str, Any]) -> None:
        """Report a request to use a tool."""
        ...

    def ask_elicitation(
        self, session: StreamSession, request_id: str, request: dict[str, Any]
    ) -> None:
        """Report a form or an address that an MCP server asks for."""
        ...

    def decision_of(self, answer: dict[str, Any], kind: ApprovalKind | None) -> str:
        """The decision that a host's answer states."""
        ...


class AskedQuestion(NamedTuple):
    """An open question to a person."""

    session: StreamSession
    call_id: str | None
    kind: ApprovalKind
    input: dict[str, Any]


class Control(Generic[S]):
    """The requests that are under way, in both directions."""

    def __init__(self, sessions: Sessions[S], questions: Questions) -> None:
        self._sessions = sessions
        self._questions = questions
        self._asked: dict[str, AskedQuestion] = {}
        self._of_call: dict[str, str] = {}
        self._others: set[str] = set()
        """The agent's requests to the host that are no question to a person."""

    def is_from_agent(self, request: dict[str, Any]) -> bool:
        return as_str(request.get("subtype")) in _ASKED_BY_AGENT

    def answers_agent(self, request_id: str | None) -> bool:
        """Whether a response with this id answers the agent, and not the host."""
        return request_id in self._asked or request_id in self._others

    def agent_asks(self, request_id: str, request: dict[str, Any]) -> bool:
        """A request of the agent; False if its kind is not known."""
        subtype = as_str(request.get("subtype")) or ""
        rule = _ASKED_BY_AGENT.get(subtype)
        main = self._sessions.main
        if rule is None:
            return False
        if rule:
            self._others.add(request_id)
            main.assembler.duplicate(rule)
            return True
        call_id = as_str(request.get("tool_use_id"))
        agent_id = as_str(request.get("agent_id"))
        session = self._sessions.known_agent(agent_id) or self._sessions.owner(call_id)
        if subtype == "elicitation":
            self._asked[request_id] = AskedQuestion(session, None, "elicitation", {})
            self._questions.ask_elicitation(session, request_id, request)
            return True
        kind = self._questions.kind_of(as_str(request.get("tool_name")) or "")
        given = as_dict(request.get("input"))
        self._asked[request_id] = AskedQuestion(session, call_id, kind, given)
        if call_id is not None:
            self._of_call[call_id] = request_id
        self._questions.ask_tool(session, request_id, request)
        return True

    def host_asks(self, request: dict[str, Any]) -> None:
        subtype = as_str(request.get("subtype")) or "request"
        self._sessions.main.assembler.duplicate(f"control: the host asked for {subtype}")

    def host_answers(self, response: dict[str, Any]) -> None:
        request_id = as_str(response.get("request_id")) or ""
        asked = self._asked.pop(request_id, None)
        if asked is None:
            self._others.discard(request_id)
            self._sessions.main.assembler.duplicate("control: the host answered")
            return
        if asked.call_id is not None:
            self._of_call.pop(asked.call_id, None)
        is_error = response.get("subtype") == "error"
        answer = as_dict(response.get("response"))
        decision = DENY if is_error else self._questions.decision_of(answer, asked.kind)
        asked.session.assembler.settle(request_id, decision, _detail(answer, asked))

    def agent_answers(self, response: dict[str, Any]) -> None:
        assembler = self._sessions.main.assembler
        if response.get("subtype") == "error":
            text = as_str(response.get("error")) or "a control request failed"
            assembler.notice(CHANNEL, "warning", text)
        else:
            assembler.duplicate("control: the agent answered")

    def cancelled(self, request_id: str) -> None:
        asked = self._asked.pop(request_id, None)
        if asked is None:
            self._sessions.main.assembler.duplicate("control: a request was withdrawn")
            return
        asked.session.assembler.settle(request_id, WITHDRAWN)

    def drop_all(self) -> None:
        """The agent is gone, so no question of its waits for an answer."""
        for request_id in list(self._asked):
            self.cancelled(request_id)
        self._of_call.clear()

    def call_ended(self, call_id: str, *, was_denied: bool) -> None:
        """A call came to its end: a question about it was answered, though nothing here showed it."""
        request_id = self._of_call.pop(call_id, None)
        asked = self._asked.pop(request_id, None) if request_id is not None else None
        if asked is not None and request_id is not None:
            asked.session.assembler.settle(request_id, DENY if was_denied else ALLOW)


def _detail(answer: dict[str, Any], asked: AskedQuestion) -> dict[str, Any]:
    """What an answer adds to its decision. What was filled in comes back in the call's result."""
    if asked.kind in ("question", "elicitation"):
        return {}
    edited = as_dict(answer.get("updatedInput"))
    added = {
        "message": as_str(answer.get("message")),
        "input": edited if edited != asked.input else None,
        "rules": as_list(answer.get("updatedPermissions")),
    }
    return {name: value for name, value in added.items() if value}
