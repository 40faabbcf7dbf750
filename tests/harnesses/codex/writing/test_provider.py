from __future__ import annotations

import pytest

from dragoman.harnesses.codex.writing.provider import model_provider


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (b"", "openai"),
        (b'model_provider = "mine"', "mine"),
        (b'profile = "p"\nmodel_provider = "mine"\n[profiles.p]\nmodel_provider = "its"', "its"),
        (b'profile = "p"\nmodel_provider = "mine"\n[profiles.q]\nmodel_provider = "its"', "mine"),
        (b"model_provider = 3", "openai"),
        (b"not toml [", "openai"),
        (b"\xff", "openai"),
    ],
)
def test_the_provider_is_the_one_of_new_sessions(settings: bytes, expected: str) -> None:
    assert model_provider(settings) == expected
