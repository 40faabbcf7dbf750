"""What each intent is called on the wire, in the words that each release uses.

Nothing here is sent: an intent becomes a method and its parameters, and the result of that method
becomes the value of the intent's answer. What a release lacks is refused before anything is sent,
because the older ones silently pass over parameters they do not know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from dragoman.errors import Unsupported
from dragoman.harnesses.codex.app_server.client import answers
from dragoman.harnesses.codex.app_server.client.features import (
    COMPACT,
    EPHEMERAL,
    EPHEMERAL_FORK,
    FORK,
    GRANULAR,
    KEBAB,
    LIST_ARCHIVED,
    NAMESPACES,
    ON_FAILURE,
    PERSONALITY,
    READ,
    RENAME,
    SHORT_RESUME,
    STEER,
    STOP_COMMANDS,
    TOOLS,
    TURN_SCHEMA,
    TYPED_TOOLS,
    UNARCHIVE,
)
from dragoman.harnesses.codex.app_server.client.sandboxes import kebab, merge_policy
from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str
from dragoman.harnesses.codex.versions import Version, can, need
from dragoman.model import intents
from dragoman.model.messages import Outcome

_CAMEL: Final = {
    "untrusted": "unlessTrusted",
    "on-failure": "onFailure",
    "on-request": "onRequest",
    "read-only": "readOnly",
    "workspace-write": "workspaceWrite",
    "danger-full-access": "dangerFullAccess",
}


def _nothing(result: dict[str, Any]) -> Any:
    """The value of an answer without content."""


@dataclass(frozen=True, slots=True)
class ClientCall:
    """A request to make, and what its result means."""

    method: str
    params: dict[str, Any] | None
    value: Callable[[dict[str, Any]], Any] = _nothing


def open_session(intent: intents.OpenSession, release: Version | None) -> ClientCall:
    """Begin, resume or branch off a session. All three ask for the same authority."""
    asked = {
        "cwd": intent.cwd,
        "model": intent.model,
        "approvalPolicy": _approvals(intent.approvals, release),
        "sandbox": _word(kebab(intent.sandbox), release),
        "config": _config(intent) or None,
        "developerInstructions": intent.instructions,
    }
    if intent.personality is not None and intent.fork is None:
        need(release, PERSONALITY)
        asked["personality"] = intent.personality
    if intent.fork is not None:
        need(release, FORK)
        method, asked = "thread/fork", {"threadId": intent.fork, **asked}
        if intent.ephemeral:
            need(release, EPHEMERAL_FORK)
            asked["ephemeral"] = True
    elif intent.resume is not None:
        method, asked = "thread/resume", {"threadId": intent.resume, **asked}
    else:
        method = "thread/start"
        if intent.ephemeral:
            need(release, EPHEMERAL)
            asked["ephemeral"] = True
        asked["dynamicTools"] = _tools(intent.tools, release)
    if method != "thread/start" and can(release, SHORT_RESUME):
        asked["excludeTurns"] = True
    return ClientCall(method, _given(asked))


def _config(intent: intents.OpenSession) -> dict[str, Any]:
    if not intent.add_dirs:
        return intent.config
    name = "sandbox_workspace_write"
    nested = as_dict(intent.config.get(name))
    dotted = intent.config.get(f"{name}.writable_roots", nested.get("writable_roots"))
    roots = [*as_list(dotted), *intent.add_dirs]
    config = {key: value for key, value in intent.config.items() if key != name}
    # One spelling only: which of two would win is up to the release.
    return {
        **config,
        **{f"{name}.{key}": value for key, value in nested.items()},
        f"{name}.writable_roots": list(dict.fromkeys(roots)),
    }


def start_turn(
    intent: intents.StartTurn, release: Version | None, policy: dict[str, Any], cwd: str | None
) -> ClientCall:
    """Ask. ``policy`` is the sandbox that the session has, ``cwd`` where it works.

    A sandbox is sent only if one is asked for; without, the one that the server confirmed when the
    session was opened stays, and no turn can be wider than that by accident.
    """
    if intent.output_schema is not None:
        need(release, TURN_SCHEMA)
    sandbox = None
    if intent.sandbox_policy is not None:
        sandbox = merge_policy(policy, intent.sandbox_policy, intent.cwd or cwd)
    asked = {
        "threadId": intent.session_id,
        "input": _input(intent.text, intent.images),
        "model": intent.model,
        "effort": intent.effort,
        "cwd": intent.cwd,
        "sandboxPolicy": sandbox,
        "outputSchema": intent.output_schema,
    }
    return ClientCall("turn/start", _given(asked), _turn_id)


def call_for(intent: intents.Intent, release: Version | None) -> ClientCall:
    """The call of any intent that is one request and its answer."""
    if type(intent) not in _CALLS:
        raise Unsupported(f"{type(intent).__name__} with Codex")
    return _CALLS[type(intent)](intent, release)


def _steer(intent: intents.Steer, release: Version | None) -> ClientCall:
    asked: dict[str, Any] = {"threadId": intent.session_id}
    if can(release, STEER):
        asked["expectedTurnId"] = intent.turn_id
    asked["input"] = _input(intent.text, intent.images)
    if can(release, STEER):
        return ClientCall("turn/steer", asked, lambda result: as_str(result.get("turnId")))
    # A second turn/start while a turn runs is a word to that turn.
    return ClientCall("turn/start", asked, lambda result: intent.turn_id)


def _interrupt(intent: intents.Interrupt, release: Version | None) -> ClientCall:
    return ClientCall("turn/interrupt", {"threadId": intent.session_id, "turnId": intent.turn_id})


def _compact(intent: intents.Compact, release: Version | None) -> ClientCall:
    need(release, COMPACT)
    return ClientCall("thread/compact/start", {"threadId": intent.session_id})


def _review(intent: intents.Review, release: Version | None) -> ClientCall:
    asked = {
        "threadId": intent.session_id,
        "target": intent.target or {"type": "uncommittedChanges"},
    }
    return ClientCall("review/start", asked, _turn_id)


def _rename(intent: intents.Rename, release: Version | None) -> ClientCall:
    need(release, RENAME)
    return ClientCall("thread/name/set", {"threadId": intent.session_id, "name": intent.name})


def _archive(intent: intents.Archive, release: Version | None) -> ClientCall:
    if not intent.archived:
        need(release, UNARCHIVE)
    method = "thread/archive" if intent.archived else "thread/unarchive"
    return ClientCall(method, {"threadId": intent.session_id})


def _stop_commands(intent: intents.StopCommands, release: Version | None) -> ClientCall:
    need(release, STOP_COMMANDS)
    return ClientCall("thread/backgroundTerminals/clean", {"threadId": intent.session_id})


def _close(intent: intents.CloseSession, release: Version | None) -> ClientCall:
    return ClientCall("thread/unsubscribe", {"threadId": intent.session_id})


def _check_turn(intent: intents.CheckTurn, release: Version | None) -> ClientCall:
    need(release, READ)
    asked = {"threadId": intent.session_id, "includeTurns": True}
    return ClientCall("thread/read", asked, lambda result: _outcome(result, intent.turn_id))


def _list_sessions(intent: intents.ListSessions, release: Version | None) -> ClientCall:
    asked: dict[str, Any] = {"limit": intent.limit, "cursor": intent.cursor}
    if intent.archived:
        need(release, LIST_ARCHIVED)
        asked["archived"] = True
    return ClientCall("thread/list", _given(asked), answers.sessions)


def _read_session(intent: intents.ReadSession, release: Version | None) -> ClientCall:
    need(release, READ)
    asked = {"threadId": intent.session_id, "includeTurns": intent.turns}
    return ClientCall(
        "thread/read", asked, lambda result: answers.session(as_dict(result.get("thread")))
    )


def _list_models(intent: intents.ListModels, release: Version | None) -> ClientCall:
    return ClientCall("model/list", {"limit": 100}, answers.models)


def _read_rate_limits(intent: intents.ReadRateLimits, release: Version | None) -> ClientCall:
    return ClientCall("account/rateLimits/read", None, answers.limits)


def _turn_id(result: dict[str, Any]) -> str | None:
    return as_str(as_dict(result.get("turn")).get("id"))


def _outcome(result: dict[str, Any], turn_id: str | None) -> Outcome | None:
    """What a turn has come to, or the last one; None while it runs, or if it is unknown."""
    turns = [as_dict(turn) for turn in as_list(as_dict(result.get("thread")).get("turns"))]
    named = [turn for turn in turns if turn_id is None or turn.get("id") == turn_id]
    return answers.OUTCOMES.get(as_str(named[-1].get("status")) or "") if named else None


def _approvals(asked: str | dict[str, Any], release: Version | None) -> Any:
    if isinstance(asked, dict):
        if "granular" in asked:
            need(release, GRANULAR)
        return asked
    word = kebab(asked)
    if word == "on-failure":
        need(release, ON_FAILURE)
    return _word(word, release)


def _word(word: str, release: Version | None) -> str:
    return word if can(release, KEBAB) else _CAMEL.get(word, word)


def _tools(specs: list[intents.ToolSpec], release: Version | None) -> list[dict[str, Any]] | None:
    """Our tools. Namespaces came first as a field, then as a list of their own."""
    if not specs:
        return None
    need(release, TOOLS)
    typed = can(release, TYPED_TOOLS)
    told: list[dict[str, Any]] = []
    spaces: dict[str, list[dict[str, Any]]] = {}
    for spec in specs:
        tool: dict[str, Any] = {"type": "function"} if typed else {}
        tool |= {"name": spec.name, "description": spec.description}
        tool["inputSchema"] = spec.input_schema
        if spec.namespace is None:
            told.append(tool)
        elif typed:
            spaces.setdefault(spec.namespace, []).append(tool)
        else:
            need(release, NAMESPACES)
            told.append(tool | {"namespace": spec.namespace})
    told += [
        {"type": "namespace", "name": name, "description": f"tools of {name}", "tools": tools}
        for name, tools in spaces.items()
    ]
    return told


def _input(text: str, images: list[str]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}, *(_image(image) for image in images)]


def _image(image: str) -> dict[str, Any]:
    if image.startswith(("http:", "https:", "data:")):
        return {"type": "image", "url": image}
    return {"type": "localImage", "path": image}


def _given(asked: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if value is not None}


_Make: TypeAlias = Callable[[Any, Version | None], ClientCall]
_CALLS: Final[dict[type, _Make]] = {
    intents.Steer: _steer,
    intents.Interrupt: _interrupt,
    intents.Compact: _compact,
    intents.Review: _review,
    intents.Rename: _rename,
    intents.Archive: _archive,
    intents.StopCommands: _stop_commands,
    intents.CloseSession: _close,
    intents.CheckTurn: _check_turn,
    intents.ListSessions: _list_sessions,
    intents.ReadSession: _read_session,
    intents.ListModels: _list_models,
    intents.ReadRateLimits: _read_rate_limits,
}
