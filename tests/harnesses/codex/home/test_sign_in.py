from __future__ import annotations

import pytest

from dragoman.harnesses.codex.home.sign_in import read_sign_in
from dragoman.harnesses.contract.sign_in import SignIn

NO_ONE, SOMEONE, UNKNOWN = SignIn(signed_in=False, needed=True), SignIn(signed_in=True), SignIn()
_TOKENS = b'{"OPENAI_API_KEY": null, "tokens": {"access_token": "x"}}'
_OWN = b'model_provider = "mine"\n[model_providers.mine]\nbase_url = "http://127.0.0.1:1/v1"\n'


@pytest.mark.parametrize(
    ("env", "settings", "auth", "found"),
    [
        ({}, b"", b"", NO_ONE),
        ({}, b'model = "gpt-5.5"', b'{"OPENAI_API_KEY": null, "tokens": null}', NO_ONE),
        ({}, b"", b"not json", NO_ONE),
        ({}, b"", _TOKENS, SOMEONE),
        ({}, b"", b'{"OPENAI_API_KEY": "sk-1"}', SOMEONE),
        ({"CODEX_API_KEY": "sk-1"}, b"", b"", SOMEONE),
        ({"CODEX_API_KEY": ""}, b"", b"", NO_ONE),
        ({}, _OWN, b"", UNKNOWN),
        ({}, _OWN + b"requires_openai_auth = true\n", b"", NO_ONE),
        ({}, b'profile = "p"\n[profiles.p]\nmodel_provider = "oss"\n', b"", UNKNOWN),
        ({}, b'cli_auth_credentials_store = "keyring"', b"", UNKNOWN),
        ({}, b"broken [", b"", UNKNOWN),
    ],
)
def test_what_lies_in_its_home_says_who_is_signed_in(
    env: dict[str, str], settings: bytes, auth: bytes, found: SignIn
) -> None:
    assert read_sign_in(env, settings, auth) == found
