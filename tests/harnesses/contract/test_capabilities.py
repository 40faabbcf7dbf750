"""Access is chosen by level or by native value, and never widened by accident."""

from __future__ import annotations

import pytest

from dragoman.errors import UsageError
from dragoman.harnesses import driven, driven_harness, harness
from dragoman.harnesses.contract.capabilities import (
    Capabilities,
    is_wider,
    resolve_access,
    resolve_asking,
)
from dragoman.harnesses.contract.harness import Harness


@pytest.mark.parametrize("each", driven(), ids=[each.name for each in driven()])
def test_every_choice_has_text_for_people(each: Harness) -> None:
    offered = each.capabilities(None)
    assert {choice.level for choice in offered.access} >= {"read", "write"}
    for choice in (*offered.access, *offered.asking):
        assert choice.label[0].isupper()
        assert choice.summary.endswith(".")
    values = [choice.value for choice in offered.access]
    assert len(values) == len(set(values))


def test_a_level_a_native_value_or_nothing() -> None:
    codex = harness("codex").capabilities(None)
    assert resolve_access(codex, None).value == "workspace-write"
    assert resolve_access(codex, "read").value == "read-only"
    assert resolve_access(codex, "danger-full-access").level == "full"
    with pytest.raises(UsageError, match=r"'all'.*read, write, full.*read-only"):
        resolve_access(codex, "all")


def test_asking() -> None:
    codex = harness("codex").capabilities(None)
    chosen = resolve_asking(codex, None)
    assert chosen is not None
    assert chosen.value == "on-request"
    assert resolve_asking(Capabilities(), None) is None
    with pytest.raises(UsageError, match="on-request"):
        resolve_asking(codex, "always")


def test_an_unknown_level_counts_as_the_widest() -> None:
    assert is_wider("full", "write")
    assert is_wider(None, "full")
    assert not is_wider("read", "write")
    assert not is_wider("write", "write")


def test_only_what_can_be_driven_is_driven() -> None:
    assert driven_harness().name == "codex"
    with pytest.raises(UsageError, match="codex"):
        driven_harness("dragoman")
    with pytest.raises(UsageError, match="codex"):
        harness("nothing")
