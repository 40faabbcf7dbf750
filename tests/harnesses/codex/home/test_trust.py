from __future__ import annotations

import pytest

from dragoman.harnesses.codex.home.trust import (
    is_decided,
    is_decided_in,
    may_be_trusted,
    with_trust_withheld,
)

_TRUSTED = {"trust_level": "trusted"}


@pytest.mark.parametrize(
    ("place", "decided"),
    [("/w", True), ("/w/repo", True), ("/w/repo/", True), ("/w/re", False), ("/other", False)],
)
def test_a_folder_is_decided_by_itself_or_one_above_it(place: str, decided: bool) -> None:
    answer = {"config": {"projects": {place: _TRUSTED}}, "layers": None}
    assert is_decided(answer, "/w/repo") is decided
    settings = f'[projects."{place}"]\ntrust_level = "untrusted"\n'.encode()
    assert is_decided_in(settings, "/w/repo") is decided


def test_a_project_layer_that_is_loaded_is_a_decision() -> None:
    """As with a linked worktree, whose main repository the user trusts."""
    layer = {"name": {"type": "project", "dotCodexFolder": "/w/.codex"}, "disabledReason": None}
    assert is_decided({"config": {}, "layers": [layer]}, "/w")
    assert not is_decided({"config": {}, "layers": [layer | {"disabledReason": "no"}]}, "/w")
    assert not is_decided({"config": {}, "layers": [{"name": {"type": "user"}}]}, "/w")


@pytest.mark.parametrize("settings", [b"", b"not toml [", b"\xff\xfe", b"projects = 7"])
def test_settings_that_say_nothing_decide_nothing(settings: bytes) -> None:
    assert not is_decided_in(settings, "/w")


def test_only_a_session_that_may_write_is_told_and_what_the_caller_says_stays() -> None:
    assert may_be_trusted((0, 169, 0), "workspace-write", {})
    assert may_be_trusted(None, "danger-full-access", {})
    assert not may_be_trusted((0, 169, 0), "read-only", {})
    assert not may_be_trusted((0, 104, 0), "workspace-write", {})
    assert not may_be_trusted(None, "workspace-write", {'projects."/w".trust_level': "trusted"})
    assert with_trust_withheld({"a": 1}, "/w") == {
        "a": 1,
        "projects": {"/w": {"trust_level": "untrusted"}},
    }
