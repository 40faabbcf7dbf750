from __future__ import annotations

import pytest

from dragoman.harnesses import harness
from dragoman.harnesses.contract.capabilities import ACCESS_LEVELS, resolve_access

_CODEX = harness("codex")


@pytest.mark.parametrize(
    ("requested", "sandbox"),
    [
        (None, "workspace-write"),
        ("read", "read-only"),
        ("write", "workspace-write"),
        ("full", "danger-full-access"),
        ("read-only", "read-only"),
    ],
)
def test_levels_are_sandboxes(requested: str | None, sandbox: str) -> None:
    assert resolve_access(_CODEX.capabilities(None), requested).value == sandbox


def test_every_choice_has_words_for_people() -> None:
    offered = _CODEX.capabilities((0, 120, 0))

    assert {each.level for each in offered.access} == set(ACCESS_LEVELS)
    for choice in (*offered.access, *offered.asking):
        assert choice.label
        assert choice.summary.endswith(".")


def test_an_old_release_offers_less_and_a_new_one_no_longer_asks_on_failure() -> None:
    old, new = _CODEX.capabilities((0, 70, 0)), _CODEX.capabilities((0, 166, 0))

    assert old.can < new.can
    assert {"steer", "interrupt", "resume"} <= old.can
    assert "on-failure" in [each.value for each in old.asking]
    assert "on-failure" not in [each.value for each in new.asking]


def test_without_a_release_it_offers_what_the_newest_known_one_does() -> None:
    assert _CODEX.capabilities(None) == _CODEX.capabilities((0, 166, 0))
