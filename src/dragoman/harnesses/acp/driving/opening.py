"""Opens the one session of a process: new, resumed or forked; then its mode, its model and its options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from dragoman.errors import Unsupported
from dragoman.harnesses.acp.driving.channel import AcpChannel
from dragoman.harnesses.acp.driving.facts import (
    AgentOffer,
    how_to_sign_in,
    key_method,
    model_option,
    models_in,
)
from dragoman.harnesses.acp.driving.modes import SessionModes, level_word
from dragoman.harnesses.contract.conversation import Refusal
from dragoman.model.answers import Model
from dragoman.model.intents import OpenSession, SessionFacts
from dragoman.wire.loose import as_dict, as_list, as_str

Finish: TypeAlias = Callable[[SessionFacts | None, Refusal | None], None]


class AcpOpening:
    """One session being opened; ``finish`` takes what came of it."""

    def __init__(
        self,
        intent: OpenSession,
        offer: AgentOffer,
        channel: AcpChannel,
        finish: Finish,
        *,
        api_key: str | None = None,
    ) -> None:
        self._intent = intent
        self._offer = offer
        self._channel = channel
        self._finish = finish
        self._api_key = api_key
        self._steps: list[tuple[str, dict[str, Any]]] = []
        self._wanted: str | None = None
        self.modes = SessionModes(offer.quirks)
        self.models: list[Model] = []
        self.result: dict[str, Any] = {}
        self.session_id: str | None = None
        self._method, self._params = _request(intent, offer)
        channel.request(self._method, self._params, self._opened)

    # Step by step.

    def _opened(self, result: dict[str, Any], refusal: Refusal | None) -> None:
        if refusal is not None and refusal.kind == "sign_in":
            self._sign_in()
        elif refusal is not None:
            self._finish(None, refusal)
        else:
            self.result = result
            self.session_id = as_str(result.get("sessionId")) or self._intent.resume
            self._prepare()

    def _sign_in(self) -> None:
        """Sign in with the key that we were given, once."""
        way, key = key_method(self._offer), self._api_key
        self._api_key = None
        if way is None or key is None:
            self._finish(None, Refusal(kind="response_error", message=how_to_sign_in(self._offer)))
            return
        params = {"methodId": way, "_meta": {"api-key": key}}

        def signed_in(result: dict[str, Any], refusal: Refusal | None) -> None:
            if refusal is not None:
                said = f"{how_to_sign_in(self._offer)} ({refusal.message})"
                self._finish(None, Refusal(kind="response_error", message=said))
            else:
                self._channel.request(self._method, self._params, self._opened)

        self._channel.request("authenticate", params, signed_in)

    def _prepare(self) -> None:
        """What has to be set before the first prompt."""
        if self.session_id is None:
            said = f"{self._offer.title} has opened a session without naming it"
            self._finish(None, Refusal(kind="response_error", message=said))
            return
        self.modes.read(self.result)
        self.models = models_in(self.result)
        try:
            self._steps = [*self._mode_step(), *self._model_step(), *self._option_steps()]
        except Unsupported as problem:
            self._finish(None, Refusal(kind="unsupported", message=str(problem)))
            return
        self._next({}, None)

    def _next(self, result: dict[str, Any], refusal: Refusal | None) -> None:
        if refusal is not None:
            self._finish(None, refusal)
        elif self._steps:
            method, params = self._steps.pop(0)
            self._channel.request(method, {"sessionId": self.session_id, **params}, self._next)
        else:
            self.modes.current = self._wanted or self.modes.current
            self._finish(self._facts(), None)

    def _facts(self) -> SessionFacts:
        intent, access = self._intent, self._access()
        current = next((each.id for each in self.models if each.is_default), None)
        return SessionFacts(
            session_id=self.session_id or "",
            model=intent.model or current,
            cwd=intent.cwd,
            access=access,
            sandbox=self.modes.current,
            approvals=intent.asking if intent.asking is not None else intent.approvals,
            resumed=intent.resume is not None and intent.fork is None,
            parent_session_id=intent.fork,
        )

    def _access(self) -> str | None:
        """The access that the agent confirms, in the word that it was requested by where that fits."""
        requested = self._intent.access or self._intent.sandbox
        current = self.modes.current
        if current is None:
            return None
        level = level_word(requested)
        return requested if level is not None and self.modes.level_of(current) == level else current

    # What is set.

    def _mode_step(self) -> list[tuple[str, dict[str, Any]]]:
        requested = self._intent.access or self._intent.sandbox
        named = as_str(self._intent.config.get("mode"))
        mode = named if named in self.modes.offered else self.modes.find(requested)
        if named is not None and mode != named:
            raise Unsupported(f"the mode {named!r} with {self._offer.title}")
        if mode is None:
            if level_word(requested) == "write" and not self._starts_wide():
                return []  # an agent without modes asks before it acts
            modes = ", ".join(self.modes.offered) or "none"
            raise Unsupported(
                f"the access {requested!r} with {self._offer.title} (its modes: {modes})"
            )
        self._wanted = mode
        if mode == self.modes.current:
            return []
        if self.modes.option is not None:
            return [("session/set_config_option", {"configId": self.modes.option, "value": mode})]
        return [("session/set_mode", {"modeId": mode})]

    def _starts_wide(self) -> bool:
        return self.modes.current is not None and self.modes.level_of(self.modes.current) == "full"

    def _model_step(self) -> list[tuple[str, dict[str, Any]]]:
        return model_steps(self.result, self._intent.model)

    def _option_steps(self) -> list[tuple[str, dict[str, Any]]]:
        """Options by the agent's own names."""
        known = {as_dict(each).get("id") for each in as_list(self.result.get("configOptions"))}
        steps: list[tuple[str, dict[str, Any]]] = []
        for name, value in self._intent.config.items():
            if name in ("mode", "mcpServers"):
                continue
            if name not in known:
                raise Unsupported(f"the option {name!r} with {self._offer.title}")
            steps.append(("session/set_config_option", {"configId": name, "value": value}))
        return steps


def model_steps(result: dict[str, Any], model: str | None) -> list[tuple[str, dict[str, Any]]]:
    """The request that sets a model; none if the session uses it already."""
    if model is None:
        return []
    option = model_option(result)
    if option:
        if option.get("currentValue") == model:
            return []
        return [("session/set_config_option", {"configId": option.get("id"), "value": model})]
    if as_dict(result.get("models")).get("currentModelId") == model:
        return []
    return [("session/set_model", {"modelId": model})]


def _request(intent: OpenSession, offer: AgentOffer) -> tuple[str, dict[str, Any]]:
    """The request that opens the session. Raises :class:`Unsupported` for what the agent does not offer."""
    for given, what in (
        (intent.tools, "tools of ours over ACP"),
        (intent.ephemeral, "a session without a file over ACP"),
        (intent.instructions, "instructions over ACP"),
        (intent.personality, "a personality over ACP"),
    ):
        if given:
            raise Unsupported(what)
    params: dict[str, Any] = {
        "cwd": intent.cwd,
        "mcpServers": as_list(intent.config.get("mcpServers")),
    }
    if intent.add_dirs:
        if "additionalDirectories" not in offer.can:
            raise Unsupported(f"more directories with {offer.title}")
        params["additionalDirectories"] = intent.add_dirs
    if intent.fork is not None:
        if "fork" not in offer.can:
            raise Unsupported(f"forks with {offer.title}")
        return "session/fork", {"sessionId": intent.fork, **params}
    if intent.resume is None:
        return "session/new", params
    if "resume" in offer.can:
        return "session/resume", {"sessionId": intent.resume, **params}
    if "load" in offer.can:
        return "session/load", {"sessionId": intent.resume, **params}
    raise Unsupported(f"resuming a session with {offer.title}")
