"""What the server answers, in our words."""

from __future__ import annotations

from typing import Any, Final

from dragoman.model.answers import AgentSession, AgentSessions, Model
from dragoman.wire.loose import as_dict, as_list, as_number, as_str

_SECRETS: Final = frozenset(("key", "apiKey", "api_key", "headers", "env", "options", "token"))


def without_secrets(path: str, body: Any) -> Any:
    """The answer about providers, without their keys."""
    if not path.startswith(("/config", "/provider", "/global/config")):
        return body
    return _stripped(body)


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        items = as_dict(value).items()
        return {name: _stripped(inner) for name, inner in items if name not in _SECRETS}
    if isinstance(value, list):
        return [_stripped(each) for each in as_list(value)]
    return value


def models_in(body: Any) -> list[Model]:
    """The answer to ``/config/providers``."""
    answer = as_dict(body)
    usual = as_dict(answer.get("default"))
    models: list[Model] = []
    for provider in map(as_dict, as_list(answer.get("providers"))):
        provider_id = as_str(provider.get("id")) or ""
        for name, model in as_dict(provider.get("models")).items():
            facts = as_dict(model)
            models.append(
                Model(
                    id=f"{provider_id}/{name}",
                    label=as_str(facts.get("name")) or "",
                    efforts=[str(each) for each in as_dict(facts.get("variants"))],
                    is_default=usual.get(provider_id) == name,
                    native=facts,
                )
            )
    return models


def session_in(info: dict[str, Any]) -> AgentSession:
    """A session as the server lists it."""
    time = as_dict(info.get("time"))
    return AgentSession(
        id=as_str(info.get("id")) or "",
        title=as_str(info.get("title")),
        cwd=as_str(info.get("directory")),
        created_at=_seconds(time.get("created")),
        updated_at=_seconds(time.get("updated")),
        parent_session_id=as_str(info.get("parentID")),
        native=info,
    )


def sessions_in(body: Any) -> AgentSessions:
    """The answer to ``/experimental/session``."""
    return AgentSessions(sessions=[session_in(as_dict(each)) for each in as_list(body)])


def _seconds(milliseconds: Any) -> float | None:
    number = as_number(milliseconds)
    return number / 1000 if number is not None else None
