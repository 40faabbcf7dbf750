"""A toy agent as a plug-in for Dragoman. It shows the least that a harness has to offer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dragoman_toy.conversation import ToyConversation
from dragoman_toy.parser import ToyParser

from dragoman.harnesses.contract.capabilities import Capabilities, Choice
from dragoman.harnesses.contract.conversation import Clock, Release
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.program import Program
from dragoman.harnesses.contract.reading import Dialect
from dragoman.harnesses.contract.transport import Launch, SessionTransport
from dragoman.model.intents import OpenSession
from dragoman.wire.envelope import unwrap

_CAPABILITIES = Capabilities(
    access=(
        Choice(value="touch", label="Touch", summary="It can change the toys.", level="write"),
        Choice(value="look", label="Look", summary="It can only look at the toys.", level="read"),
    ),
    models=("small", "large"),
    can=frozenset(("interrupt", "resume")),
    sign_in_command="toy-agent login",
    notes=("It is only a toy.",),
)


def _release(text: str) -> Release | None:
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _launch(program: str, release: Release | None, opening: OpenSession | None) -> Launch:
    return Launch(argv=(program, "--serve"), cwd=opening.cwd if opening is not None else None)


def _conversation(release: Release | None, clock: Clock | None) -> ToyConversation:
    return ToyConversation()


def _sniff(lines: Sequence[bytes]) -> str | None:
    line, _ = unwrap(lines[0])
    return "toy" if line.startswith((b'{"do":"hello"', b'{"is":"hello"')) else None


TOY = Harness(
    name="toy",
    title="Toy agent",
    dialects=(
        Dialect(name="toy", summary="toy-agent --serve", releases="all", make_parser=ToyParser),
    ),
    sniff=_sniff,
    capabilities=lambda release: _CAPABILITIES,
    program=Program(command="toy-agent", parse_release=_release, install="there is none"),
    transports=(
        SessionTransport(
            name="lines",
            dialect="toy",
            launch=_launch,
            conversation=_conversation,
            sessions="one",
        ),
    ),
)
