"""What Claude says about itself, its models and its account, in the words that all harnesses share."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from dragoman.model.answers import AccountLimits, AgentAccount, Model
from dragoman.model.intents import ServerFacts
from dragoman.model.messages import RateWindow
from dragoman.wire.loose import as_dict, as_list, as_str

_NONE: Final = (None, "", "none")
_FIRST_PARTY: Final = "firstParty"


def server_facts(result: dict[str, Any]) -> ServerFacts:
    """Who answered, by the result of ``initialize``."""
    version = as_str(result.get("claude_code_version"))
    account = as_dict(result.get("account"))
    token, key = account.get("tokenSource"), account.get("apiKeySource")
    signed_in: bool | None = None
    if account:
        elsewhere = account.get("apiProvider") not in (None, _FIRST_PARTY)
        signed_in = elsewhere or token not in _NONE or key not in _NONE or "email" in account
    return ServerFacts(
        version=version,
        agent=f"claude-code/{version}" if version else "claude-code",
        signed_in=signed_in,
        needs_sign_in=signed_in is False,
        account=account_of(account) if signed_in else None,
    )


def account_of(native: dict[str, Any]) -> AgentAccount:
    has_key = native.get("apiKeySource") not in _NONE
    return AgentAccount(
        kind="api_key" if has_key else "subscription",
        name=as_str(native.get("email")),
        plan=as_str(native.get("subscriptionType")),
        native=native,
    )


def models_in(result: dict[str, Any]) -> list[Model]:
    """The models that the result of ``initialize`` lists."""
    models: list[Model] = []
    for each in map(as_dict, as_list(result.get("models"))):
        value = as_str(each.get("value"))
        if value is None:
            continue
        models.append(
            Model(
                id=value,
                label=as_str(each.get("displayName")) or value,
                description=as_str(each.get("description")) or "",
                efforts=[
                    effort
                    for effort in as_list(each.get("supportedEffortLevels"))
                    if isinstance(effort, str)
                ],
                is_default=value == "default",
                native=each,
            )
        )
    return models


def limits_in(result: dict[str, Any]) -> AccountLimits:
    """The account's limits in the result of ``get_usage``; none for an API key."""
    windows: list[RateWindow] = []
    for name, value in as_dict(result.get("rate_limits")).items():
        window = as_dict(value)
        used = window.get("utilization", window.get("used_percent"))
        if isinstance(used, int | float) and not isinstance(used, bool):
            resets_at = _moment(window.get("resets_at"))
            windows.append(RateWindow(name=name, used_percent=float(used), resets_at=resets_at))
    return AccountLimits(
        windows=windows, plan=as_str(result.get("subscription_type")), native=result
    )


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None
