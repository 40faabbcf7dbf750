from __future__ import annotations

import json

import pytest

from dragoman.harnesses.contract.sign_in import SignIn
from dragoman.harnesses.gemini.sign_in import read_sign_in, sign_in_files

_OAUTH = json.dumps({"refresh_token": "r"}).encode()


def settings(method: str) -> bytes:
    return json.dumps({"security": {"auth": {"selectedType": method}}}).encode()


@pytest.mark.parametrize(
    ("env", "contents", "verdict"),
    [
        ({}, [b"", b"", b""], SignIn(False, needed=True)),
        ({"GEMINI_API_KEY": "k"}, [b"", b"", b""], SignIn(True)),
        ({}, [b"", b"", b"GEMINI_API_KEY=k\n"], SignIn(True)),
        ({}, [settings("oauth-personal"), _OAUTH], SignIn(True)),
        ({"GEMINI_API_KEY": "k"}, [settings("oauth-personal"), b""], SignIn()),
        ({}, [settings("gemini-api-key"), b""], SignIn()),
        ({}, [settings("vertex-ai"), b""], SignIn()),
        ({}, [b"odd", _OAUTH], SignIn(True)),
    ],
)
def test_the_verdict(env: dict[str, str], contents: list[bytes], verdict: SignIn) -> None:
    assert read_sign_in(env, contents) == verdict


def test_the_files_are_in_the_home() -> None:
    files = sign_in_files({"GEMINI_CLI_HOME": "/g"})

    assert files[0] == "/g/.gemini/settings.json"
    assert {path.rpartition("/")[0] for path in files} == {"/g/.gemini"}
