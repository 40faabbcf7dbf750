"""Rules about what a harness says it can do: launches, choices and abilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.capabilities import ACCESS_LEVELS, Ability, Capabilities
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.transport import Launch, OneShot, SessionTransport, Transport
from dragoman.model import intents
from dragoman.testing.conformance.check import ConformanceRule
from dragoman.testing.conformance.corpus import Corpus
from dragoman.testing.conformance.driving.exchange import TrialExchange, opening, release_of

_PROGRAM: Final = "/opt/the-program"
_S: Final = "the session"
_NEEDS: Final[dict[Ability, tuple[intents.Intent, ...]]] = {
    "compact": (intents.Compact(session_id=_S),),
    "review": (intents.Review(session_id=_S),),
    "rename": (intents.Rename(session_id=_S, name="x"),),
    "archive": (intents.Archive(session_id=_S),),
    "stop_commands": (intents.StopCommands(session_id=_S),),
    "sessions": (intents.ListSessions(), intents.ReadSession(session_id=_S)),
    "models": (intents.ListModels(),),
    "rate_limits": (intents.ReadRateLimits(),),
    "check_turn": (intents.CheckTurn(session_id=_S),),
}
"""Intents that only some agents carry out; ``set_access`` depends on the choices that they offer."""


def launches_start_the_program(corpus: Corpus) -> Iterator[str]:
    """A launch starts the program that was found, or the release is refused in so many words."""
    for transport in corpus.harness.transports:
        for release in (None, release_of(corpus.harness)):
            try:
                launch = _launch(corpus, transport, release)
            except Unsupported:
                if release is not None:
                    yield f"{transport.name}: the release that is played is refused"
                continue
            if _PROGRAM not in launch.argv:
                yield f"{transport.name}: the program is not in {launch.argv}"


def _launch(corpus: Corpus, transport: Transport, release: Release | None) -> Launch:
    if isinstance(transport, SessionTransport):
        wanted = None if transport.sessions == "many" else opening(corpus.harness, session_id=_S)
        return transport.launch(_PROGRAM, release, wanted)
    return transport.launch(_PROGRAM, release, OneShot(prompt="hi", cwd="/w"))


def transports_speak_known_dialects(corpus: Corpus) -> Iterator[str]:
    """What was driven can be read again from its journal."""
    for transport in corpus.harness.transports:
        if corpus.harness.dialect(transport.dialect) is None:
            yield f"{transport.name}: {transport.dialect!r} is no dialect of the harness"
    names = [transport.name for transport in corpus.harness.transports]
    if len(names) != len(set(names)):
        yield f"two transports have the same name: {names}"


def choices_are_described(corpus: Corpus) -> Iterator[str]:
    """People see a label and a sentence for each choice, and each access has a level."""
    if not corpus.harness.transports:
        return
    for release in (None, release_of(corpus.harness)):
        offered = corpus.harness.capabilities(release)
        for choice in (*offered.access, *offered.asking):
            if not choice.label or not choice.summary.endswith("."):
                yield f"{choice.value}: it needs a label, and a summary that is a sentence"
        for choice in offered.access:
            if choice.level not in ACCESS_LEVELS:
                yield f"{choice.value}: access without a level"
        for choices in (offered.access, offered.asking):
            values = [choice.value for choice in choices]
            if len(values) != len(set(values)):
                yield f"a choice is offered twice: {values}"
        if not offered.access:
            yield "no choice of access: people must know how far an agent reaches"


def abilities_are_true(corpus: Corpus) -> Iterator[str]:
    """An intent for an ability in ``can`` is taken; one for an ability that is missing is refused."""
    if corpus.harness.playback is None:
        return
    offered = corpus.harness.capabilities(release_of(corpus.harness))
    able, needs = offered.can, {**_NEEDS, "set_access": (_set_access(offered),)}
    for transport in corpus.harness.transports:
        if not isinstance(transport, SessionTransport):
            continue
        for ability, wanted in needs.items():
            for intent in wanted:
                talk = TrialExchange(corpus.harness, transport)
                talk.greet()
                talk.open()
                try:
                    ticket = talk.submit(intent)
                except Unsupported:
                    if ability in able:
                        yield f"{transport.name}: it can {ability}, and refuses {intent}"
                    continue
                refusals = [answer.refusal for answer in talk.answers[ticket]]
                if ability not in able and not any(refusals):
                    yield f"{transport.name}: it cannot {ability}, and takes {intent}"


def _set_access(offered: Capabilities) -> intents.SetAccess:
    """Change the access, or, where only that is offered, when the agent asks."""
    if offered.access:
        return intents.SetAccess(session_id=_S, access=offered.access[-1].value)
    asking = offered.asking[-1].value if offered.asking else None
    return intents.SetAccess(session_id=_S, asking=asking)


RULES: tuple[ConformanceRule, ...] = (
    launches_start_the_program,
    transports_speak_known_dialects,
    choices_are_described,
    abilities_are_true,
)
