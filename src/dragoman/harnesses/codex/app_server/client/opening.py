"""Open a session: started, resumed or forked, and only with the authority that was requested."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

import msgspec

from dragoman.harnesses.codex.app_server.client.authority import mismatch
from dragoman.harnesses.codex.app_server.client.calls import open_session
from dragoman.harnesses.codex.app_server.client.features import CLOSE
from dragoman.harnesses.codex.app_server.client.handshake import Ask
from dragoman.harnesses.codex.app_server.client.sandboxes import confirmed_policy
from dragoman.harnesses.codex.home.trust import is_decided, may_be_trusted, with_trust_withheld
from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.harnesses.codex.versions import Version, can
from dragoman.harnesses.contract.conversation import Refusal
from dragoman.model.intents import ApprovalMode, OpenSession, Sandbox, SessionFacts

_GONE: Final = re.compile(
    r"no rollout found|not found|invalid (thread|session|conversation) id|is empty", re.IGNORECASE
)


class OpenedThread(NamedTuple):
    """A session that may be used."""

    facts: SessionFacts
    policy: dict[str, Any]
    """The sandbox that the server confirmed."""
    instead_of: str | None
    """The session that was to be resumed, and is gone."""


def with_native_names(intent: OpenSession) -> OpenSession:
    """The intent with ``access`` and ``asking`` where Codex has its own words for them."""
    asking = intent.asking if intent.asking is not None else intent.approvals
    return msgspec.structs.replace(
        intent,
        sandbox=cast("Sandbox", intent.access or intent.sandbox),
        approvals=cast("ApprovalMode", asking),
    )


class Opening:
    """One session being opened.

    ``ask`` makes a request, ``finish`` takes the result. Raises
    :class:`dragoman.errors.Unsupported` before anything is sent.
    """

    def __init__(
        self,
        intent: OpenSession,
        release: Version | None,
        home: str | None,
        ask: Ask,
        finish: Callable[[OpenedThread | None, Refusal | None], None],
    ) -> None:
        intent = with_native_names(intent)
        self._intent = intent
        self._release = release
        self._home = home
        self._ask = ask
        self._finish = finish
        open_session(
            msgspec.structs.replace(intent, resume=None), release
        )  # raises before anything is sent
        self._instead_of: str | None = None
        self._begin(intent)

    def _begin(self, intent: OpenSession) -> None:
        call = open_session(intent, self._release)

        def settings_read(result: dict[str, Any], refusal: Refusal | None) -> None:
            params = dict(call.params or {})
            if refusal is not None and refusal.kind == "port_exit":
                self._finish(None, refusal)
                return
            if refusal is not None or not is_decided(result, intent.cwd):
                params["config"] = with_trust_withheld(intent.config, intent.cwd)
            self._ask(call.method, params, self._opened)

        is_new = call.method == "thread/start"
        if is_new and may_be_trusted(self._release, intent.sandbox, intent.config):
            asked = {"includeLayers": True, "cwd": intent.cwd}
            self._ask("config/read", asked, settings_read)
        else:
            self._ask(call.method, call.params, self._opened)

    def _opened(self, result: dict[str, Any], refusal: Refusal | None) -> None:
        if refusal is not None:
            self._refused(refusal)
            return
        intent, thread = self._intent, as_dict(result.get("thread"))
        session_id = as_str(thread.get("id"))
        problem = mismatch(intent, result, self._home)
        if session_id is None:
            reason = "the server opened a session and did not name it"
            self._finish(None, Refusal(kind="response_error", message=reason))
        elif problem is not None:
            self._finish(None, Refusal(kind="authority", message=problem))
            if can(self._release, CLOSE):
                self._ask("thread/unsubscribe", {"threadId": session_id}, _nothing_more)
        else:
            parent = as_str(thread.get("parentThreadId")) or as_str(thread.get("forkedFromId"))
            cwd = as_str(result.get("cwd"))
            facts = SessionFacts(
                session_id=session_id,
                model=as_str(result.get("model")),
                cwd=cwd,
                access=intent.sandbox,
                sandbox=result.get("sandbox"),
                approvals=result.get("approvalPolicy"),
                resumed=intent.resume is not None and self._instead_of is None,
                parent_session_id=parent or intent.fork,
            )
            policy = confirmed_policy(result, cwd or intent.cwd)
            self._finish(OpenedThread(facts, policy, self._instead_of), None)

    def _refused(self, refusal: Refusal) -> None:
        intent = self._intent
        is_first = self._instead_of is None and intent.fork is None
        if is_first and intent.or_new and intent.resume and _GONE.search(refusal.message):
            self._instead_of = intent.resume
            self._begin(msgspec.structs.replace(intent, resume=None))
        else:
            self._finish(None, refusal)


def _nothing_more(result: dict[str, Any], refusal: Refusal | None) -> None:
    """Whether an unwanted session could be closed changes nothing."""
