"""Opening sessions: the stream of events of each directory, the guard that is checked, what each prompt carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.conversation import Refusal
from dragoman.harnesses.opencode.capabilities import ALLOW, ASK, PLAN
from dragoman.harnesses.opencode.driving.access import has_agent, unguarded
from dragoman.harnesses.opencode.driving.prompts import model_of
from dragoman.harnesses.opencode.driving.requests import (
    Done,
    HttpRequests,
    in_directory,
    of_session,
)
from dragoman.model import intents

_PLAN_AGENT: Final = "plan"
_SETTINGS: Final = frozenset(("agent", "variant"))


class OpenedSession:
    """A session that is open, with what each of its prompts carries."""

    def __init__(
        self,
        directory: str,
        access: str,
        *,
        model: dict[str, str] | None,
        agent: str | None,
        variant: str | None,
        system: str | None,
    ) -> None:
        self.directory = directory
        self.access = access
        self.model = model
        self._agent = agent
        self._variant = variant
        self._system = system

    def prompt(self, parts: list[dict[str, Any]], variant: str | None) -> dict[str, Any]:
        """The body of a prompt."""
        given = {
            "model": self.model,
            "agent": _PLAN_AGENT if self.access == PLAN else self._agent,
            "variant": variant or self._variant,
            "system": self._system,
        }
        return {**{name: each for name, each in given.items() if each is not None}, "parts": parts}

    def request(self, intent: intents.OpenSession) -> tuple[str, Any, str]:
        """The path, the body and the method that open it."""
        if intent.fork is not None:
            return in_directory(of_session(intent.fork, "/fork"), self.directory), {}, "POST"
        if intent.resume is not None:
            return in_directory(of_session(intent.resume), self.directory), None, "GET"
        return in_directory("/session", self.directory), {}, "POST"


def opened(intent: intents.OpenSession) -> OpenedSession:
    """The session that an intent asks for. Raises :class:`Unsupported`."""
    if intent.ephemeral:
        raise Unsupported("a session that is not saved with opencode")
    if intent.tools:
        raise Unsupported("tools of the client with opencode")
    if intent.add_dirs:
        raise Unsupported("more directories with opencode")
    if unknown := sorted(set(intent.config) - _SETTINGS):
        raise Unsupported(
            f"the setting {unknown[0]!r} with opencode, which takes {', '.join(sorted(_SETTINGS))}"
        )
    return OpenedSession(
        intent.cwd,
        intent.access if intent.access in (ASK, PLAN, ALLOW) else ASK,
        model=model_of(intent.model) if intent.model is not None else None,
        agent=intent.config.get("agent"),
        variant=intent.config.get("variant"),
        system=intent.instructions,
    )


class DirectoryStreams:
    """One stream of events for each directory, opened before its first session, and the agents that are there."""

    def __init__(self, requests: HttpRequests, missed: Callable[[str], None]) -> None:
        self._requests = requests
        self._missed = missed
        self._open: set[str] = set()
        self._waiting: dict[str, list[Done]] = {}
        self.agents: dict[str, Any] = {}
        """The answer to ``GET /agent`` by directory."""

    def ready(self, directory: str, done: Done) -> None:
        """Call ``done`` with the agents of a directory once its events arrive."""
        if directory in self._open:
            self._ask_for_agents(directory, done)
            return
        waiting = self._waiting.setdefault(directory, [])
        waiting.append(done)
        if len(waiting) > 1:
            return

        def streams(body: Any, refusal: Refusal | None) -> None:
            if refusal is not None:
                self._open.discard(directory)
                for each in self._waiting.pop(directory, ()):
                    each(None, refusal)
            elif directory in self._open:  # again, after an interruption
                self._missed(directory)
            else:
                self._open.add(directory)
                for each in self._waiting.pop(directory, ()):
                    self._ask_for_agents(directory, each)

        path = in_directory("/event", directory)
        self._requests.send("GET", path, None, streams, is_stream=True)

    def _ask_for_agents(self, directory: str, done: Done) -> None:
        def listed(body: Any, refusal: Refusal | None) -> None:
            if refusal is None:
                self.agents[directory] = body
            done(body, refusal)

        self._requests.send("GET", in_directory("/agent", directory), None, listed)

    def anywhere(self, path: str) -> str:
        """A path in any directory that is open: for what is the same in all."""
        return in_directory(path, min(self._open)) if self._open else path

    def cannot_apply(self, access: str, agents: Any) -> Refusal | None:
        """Why a session with this access cannot be opened where these agents are."""
        if access != ALLOW and (problem := unguarded(agents)) is not None:
            said = f"opencode does not apply the access {access!r}: {problem}"
            return Refusal(kind="authority", message=said)
        if access == PLAN and not has_agent(agents, _PLAN_AGENT):
            said = "opencode has no agent 'plan' here, so it cannot plan"
            return Refusal(kind="authority", message=said)
        return None
