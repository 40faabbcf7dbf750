from __future__ import annotations

from collections.abc import Sequence

from dragoman.harnesses import HARNESSES, harness
from dragoman.harnesses.contract.capabilities import Capabilities
from dragoman.harnesses.contract.harness import Harness


def _sniff(lines: Sequence[bytes]) -> str | None:
    return None


_LEAST = Harness(name="least", title="Least", dialects=(), sniff=_sniff)


def test_the_least_harness_is_only_read() -> None:
    assert _LEAST.capabilities(None) == _LEAST.capabilities((1, 2, 3)) == Capabilities()
    assert (_LEAST.program, _LEAST.transports, _LEAST.history) == (None, (), None)
    assert _LEAST.transport() is None
    assert _LEAST.transport("lines") is None
    assert _LEAST.dialect("words") is None


def test_dialects_are_found_by_their_names() -> None:
    for each in HARNESSES:
        assert [each.dialect(dialect.name) for dialect in each.dialects] == list(each.dialects)
        assert each.dialect("klingon") is None


def test_without_a_name_the_first_transport_is_the_usual_one() -> None:
    codex = harness("codex")

    assert [codex.transport(each.name) for each in codex.transports] == list(codex.transports)
    assert codex.transport() is codex.transports[0]
    assert codex.transport("pigeon") is None


def test_a_harness_with_transports_has_a_program_and_dialects_for_them() -> None:
    for each in HARNESSES:
        assert each.program is not None or not each.transports
        for transport in each.transports:
            assert each.dialect(transport.dialect) is not None, transport
