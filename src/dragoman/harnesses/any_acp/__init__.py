"""Any program that speaks the Agent Client Protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dragoman.harnesses.acp.sniff import sniff_acp
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Dialect, Parser, Value

DIALECT: Final = "acp"


def _sniff(lines: Sequence[bytes]) -> str | None:
    return DIALECT if sniff_acp(lines, "acp") else None


def _values(line: bytes, rule: str) -> Iterable[Value]:
    # Only an audit needs them.
    from dragoman.harnesses.acp.audit import values

    return values(line, rule)


def _make_parser(*, only: frozenset[str] | None, audit: bool) -> Parser:
    from dragoman.harnesses.acp.parser import AcpParser

    return AcpParser(only=only, audit=audit)


ANY_ACP = Harness(
    name="acp",
    title="Any ACP agent",
    sniff=_sniff,
    values=_values,
    dialects=(
        Dialect(
            name=DIALECT,
            summary="the Agent Client Protocol, in both directions or what the agent says",
            releases="protocol version 1",
            make_parser=_make_parser,
        ),
    ),
)
