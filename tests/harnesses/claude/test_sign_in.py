from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.harnesses.claude.sign_in import read_sign_in, settings_file, sign_in_files


def test_files_are_where_the_environment_says() -> None:
    assert sign_in_files({"HOME": "/h"})[:2] == ("/h/.claude/.credentials.json", "/h/.claude.json")
    moved = {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}
    assert sign_in_files(moved)[:2] == ("/c/.credentials.json", "/c/.claude.json")
    assert settings_file(moved) == "/c/settings.json"


@pytest.mark.parametrize(
    ("env", "credentials", "state", "settings"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, {}, {}, {}),
        ({"CLAUDE_CODE_OAUTH_TOKEN": "t"}, {}, {}, {}),
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, {}, {}, {}),
        ({}, {"claudeAiOauth": {"accessToken": "t"}}, {}, {}),
        ({}, {}, {"oauthAccount": {"emailAddress": "a@example.com"}}, {}),
        ({}, {}, {"primaryApiKey": "k"}, {}),
        ({}, {}, {}, {"apiKeyHelper": "/bin/key"}),
        ({}, {}, {}, {"env": {"ANTHROPIC_AUTH_TOKEN": "t"}}),
    ],
)
def test_each_way_to_sign_in_counts(
    env: dict[str, str], credentials: Any, state: Any, settings: Any
) -> None:
    contents = [json.dumps(each).encode() for each in (credentials, state, settings)]
    assert read_sign_in(env, contents).signed_in is True


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"[" * 100_000])
def test_without_any_of_them_a_sign_in_is_needed(content: bytes) -> None:
    assert read_sign_in({}, [content] * 3).needed
    assert read_sign_in({"ANTHROPIC_API_KEY": ""}, []).needed
