from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses import harness
from dragoman.harnesses.contract.capabilities import resolve_access


@pytest.mark.parametrize(
    ("requested", "mode"),
    [
        (None, "default"),
        ("read", "plan"),
        ("write", "default"),
        ("full", "bypassPermissions"),
        ("acceptEdits", "acceptEdits"),
    ],
)
def test_levels_are_permission_modes(requested: str | None, mode: str) -> None:
    assert resolve_access(harness("claude").capabilities(None), requested).value == mode


@pytest.mark.parametrize(
    ("text", "release"),
    [("2.1.327 (Claude Code)", (2, 1, 327)), ("unknown", None), ("", None)],
)
def test_the_release_is_in_the_version(text: str, release: Any) -> None:
    program = harness("claude").program
    assert program is not None
    assert program.parse_release(text) == release


def test_the_page_has_an_icon_to_draw() -> None:
    icon = harness("claude").capabilities(None).icon

    assert icon.startswith("M")
    assert icon != harness("codex").capabilities(None).icon
