"""The first words with the app-server: who we are, who it is, and signing in if need be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from dragoman.harnesses.codex.app_server.client.answers import account
from dragoman.harnesses.codex.app_server.client.features import APP_SERVER
from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.harnesses.codex.versions import Version, can, parse_version, release_in, spelled
from dragoman.harnesses.contract.conversation import Refusal
from dragoman.model.answers import AgentAccount
from dragoman.model.intents import Greet, ServerFacts

Then: TypeAlias = Callable[[dict[str, Any], Refusal | None], None]
"""What to do with the result of a request, or with the reason why there is none."""
Ask: TypeAlias = Callable[[str, dict[str, Any] | None, Then], object]

_FROM_SOURCE: Final = (0, 0, 0)
"""How a server names itself that was built from its sources: taken for the newest."""


class Greeting:
    """One greeting, from ``initialize`` to the facts about the server.

    ``ask`` makes a request, ``notify`` a notification, ``finish`` takes the result.
    """

    def __init__(
        self,
        intent: Greet,
        ask: Ask,
        notify: Callable[[str], None],
        finish: Callable[[ServerFacts | None, Refusal | None], None],
    ) -> None:
        self._ask = ask
        self._notify = notify
        self._finish = finish
        self._api_key = intent.api_key
        self._agent: str | None = None
        self._is_signing_in = False
        self.release: Version | None = None
        self.home: str | None = None
        """Where the server keeps its files, from 0.125 on."""
        ask(
            "initialize",
            {
                "clientInfo": {"name": intent.client, "version": intent.client_version},
                "capabilities": {"experimentalApi": True},
            },
            self._greeted,
        )

    def signed_in(self, params: dict[str, Any]) -> None:
        """``account/login/completed``."""
        if not self._is_signing_in:
            return
        self._is_signing_in = False
        if params.get("success") is True:
            self._done(signed_in=True, account=account({"type": "apiKey"}))
        else:
            reason = as_str(params.get("error")) or "no reason was given"
            self._refuse(Refusal(kind="response_error", message=f"signing in failed: {reason}"))

    def _greeted(self, result: dict[str, Any], refusal: Refusal | None) -> None:
        if refusal is not None:
            self._refuse(refusal)
            return
        self._agent = as_str(result.get("userAgent"))
        self.home = as_str(result.get("codexHome"))
        release = parse_version(self._agent)
        self.release = release if release != _FROM_SOURCE else None
        if not can(self.release, APP_SERVER):
            have = spelled(release) if release else "unknown"
            message = f"Codex {APP_SERVER.releases} is needed, this is Codex {have}"
            self._refuse(Refusal(kind="unsupported", message=message))
            return
        self._notify("initialized")
        self._ask("account/read", {}, self._account_read)

    def _account_read(self, result: dict[str, Any], refusal: Refusal | None) -> None:
        if refusal is not None:
            if refusal.kind == "port_exit":
                self._refuse(refusal)
            else:
                self._done(signed_in=None)  # unknown, so assume that it is
            return
        told = as_dict(result.get("account"))
        known = account(told) if told else None
        needed = known is None and result.get("requiresOpenaiAuth") is True
        if needed and self._api_key:
            self._is_signing_in = True
            asked = {"type": "apiKey", "apiKey": self._api_key}
            self._ask("account/login/start", asked, self._login_started)
        else:
            self._done(signed_in=known is not None, needed=needed, account=known)

    def _login_started(self, result: dict[str, Any], refusal: Refusal | None) -> None:
        if refusal is not None and self._is_signing_in:
            self._is_signing_in = False
            self._refuse(refusal)

    def _done(
        self,
        *,
        signed_in: bool | None,
        needed: bool = False,
        account: AgentAccount | None = None,
    ) -> None:
        facts = ServerFacts(
            version=release_in(self._agent),
            agent=self._agent,
            signed_in=signed_in,
            needs_sign_in=needed,
            account=account,
        )
        self._finish(facts, None)

    def _refuse(self, refusal: Refusal) -> None:
        self._finish(None, refusal)

    def receive_eof(self) -> None:
        """The server is gone; a sign-in that it took up will not be completed."""
        if self._is_signing_in:
            self._is_signing_in = False
            self._refuse(Refusal(kind="port_exit", message="the agent left while signing in"))
