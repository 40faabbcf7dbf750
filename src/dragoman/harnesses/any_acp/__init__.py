"""Any program that speaks the Agent Client Protocol.

What reads, drives and plays is imported when it is used (:mod:`~dragoman.harnesses.contract.lazy`).
"""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.harnesses.acp.sniff import sniff_acp
from dragoman.harnesses.any_acp.history import ACP_HISTORY
from dragoman.harnesses.any_acp.transports import (
    ACP_PLAYBACK,
    ACP_PROGRAM,
    ACP_TRANSPORTS,
    DIALECT,
    capabilities,
)
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.reading import Dialect


def _sniff(lines: Sequence[bytes]) -> str | None:
    return DIALECT if sniff_acp(lines, "acp") else None


@on_use
def _values():
    from dragoman.harnesses.acp.audit import values

    return values


@on_use
def _parser():
    from dragoman.harnesses.acp.parser import AcpParser

    return AcpParser


ANY_ACP = Harness(
    name="acp",
    title="Any ACP agent",
    sniff=_sniff,
    capabilities=capabilities,
    program=ACP_PROGRAM,
    transports=ACP_TRANSPORTS,
    playback=ACP_PLAYBACK,
    history=ACP_HISTORY,
    values=_values,
    dialects=(
        Dialect(
            name=DIALECT,
            summary="the Agent Client Protocol, in both directions or what the agent says",
            releases="protocol version 1",
            make_parser=_parser,
        ),
    ),
)
