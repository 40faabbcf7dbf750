"""What an agent says about itself, in the words that all harnesses share."""

from __future__ import annotations

from typing import Any, NamedTuple

from dragoman.harnesses.acp.quirks import AcpQuirks, quirks_of
from dragoman.model.answers import Model
from dragoman.model.intents import ServerFacts
from dragoman.wire.loose import as_dict, as_list, as_str


class AgentOffer(NamedTuple):
    """What the answer to ``initialize`` offers."""

    quirks: AcpQuirks
    name: str
    version: str | None
    title: str
    can: frozenset[str]
    """Of ``sessionCapabilities``: ``resume``, ``fork``, ``close`` …; and ``load`` and ``image``."""
    sign_in: tuple[tuple[str, str], ...]
    """The ways to sign in: id and name."""

    @property
    def label(self) -> str:
        """The agent's name, short."""
        return self.name.rpartition("/")[2] or self.title


NOTHING_OFFERED = AgentOffer(quirks_of(None), "", None, "The agent", frozenset(), ())


def offer_in(result: dict[str, Any]) -> AgentOffer:
    """The offer of an agent."""
    info = as_dict(result.get("agentInfo"))
    name = as_str(info.get("name")) or ""
    quirks = quirks_of(name)
    given = as_dict(result.get("agentCapabilities"))
    can = {
        key for key, value in as_dict(given.get("sessionCapabilities")).items() if value is not None
    }
    if given.get("loadSession") is True:
        can.add("load")
    if as_dict(given.get("promptCapabilities")).get("image") is True:
        can.add("image")
    ways = [
        (way, as_str(each.get("description")) or as_str(each.get("name")) or way)
        for each in map(as_dict, as_list(result.get("authMethods")))
        if (way := as_str(each.get("id"))) is not None
    ]
    return AgentOffer(
        quirks,
        name,
        as_str(info.get("version")),
        quirks.title or as_str(info.get("title")) or name or "The agent",
        frozenset(can),
        tuple(ways),
    )


def facts_of(offer: AgentOffer) -> ServerFacts:
    """Who answered. Whether a user is signed in shows when a session is opened."""
    agent = "/".join(filter(None, (offer.name, offer.version))) or None
    return ServerFacts(version=offer.version, agent=agent, signed_in=None)


def how_to_sign_in(offer: AgentOffer) -> str:
    """What to say when an agent wants a user to sign in."""
    ways = "; ".join(said for _, said in offer.sign_in)
    if offer.quirks.sign_in:
        return f"{offer.title} is not signed in: run `{offer.quirks.sign_in}`"
    return f"{offer.title} is not signed in; it offers: {ways or 'no way to do so over ACP'}"


def key_method(offer: AgentOffer) -> str | None:
    """The way to sign in with an API key."""
    return next((way for way, _ in offer.sign_in if "key" in way.lower()), None)


def models_in(result: dict[str, Any]) -> list[Model]:
    """The models that a session can use."""
    given = as_dict(result.get("models"))
    listed = [
        _model(name, each, is_default=name == given.get("currentModelId"))
        for each in map(as_dict, as_list(given.get("availableModels")))
        if (name := as_str(each.get("modelId"))) is not None
    ]
    option = model_option(result)
    return listed or [
        _model(name, each, is_default=name == option.get("currentValue"))
        for each in map(as_dict, as_list(option.get("options")))
        if (name := as_str(each.get("value"))) is not None
    ]


def model_option(result: dict[str, Any]) -> dict[str, Any]:
    """The config option that sets the model; empty if there is none."""
    for option in map(as_dict, as_list(result.get("configOptions"))):
        if option.get("category") == "model" or option.get("id") == "model":
            return option
    return {}


def _model(name: str, native: dict[str, Any], *, is_default: bool) -> Model:
    return Model(
        id=name,
        label=as_str(native.get("name")) or name,
        description=as_str(native.get("description")) or "",
        is_default=is_default,
        native=native,
    )
