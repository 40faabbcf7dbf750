from __future__ import annotations

import pytest

from dragoman.model.secrets.judging import (
    Setting,
    is_dummy,
    is_login,
    is_phrase,
    is_placeholder,
    is_random,
    is_secret,
)


@pytest.mark.parametrize(
    "value",
    [
        "<password>",
        "$PASSWORD",
        "${TOKEN}",
        "****",
        "your-api-key-here",
        "xxx",
        "changeme",
        "{{ x }}",
        "%s",
    ],
)
def test_placeholders_are_no_secrets(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize("value", ["pa$$word1", "$ecret123!", "x(y)z9", "correcthorse"])
def test_values_with_signs_are_no_placeholders(value: str) -> None:
    assert not is_placeholder(value)


@pytest.mark.parametrize(
    ("value", "setting", "expected"),
    [
        ("coppertulip", "line", True),
        ("coppertulip", "argument", False),
        ("str", "line", False),
        ("SecretStr", "line", False),
        ("userPassword", "line", False),
        ("get_password()", "line", False),
        ("settings.password", "word", False),
        ("copper lantern meadow", "quoted", True),
        ("Password is required", "quoted", False),
        ("/run/secrets/db", "line", False),
        ("12345678", "word", True),
    ],
)
def test_a_password_is_told_from_code(value: str, setting: Setting, expected: bool) -> None:
    assert is_secret("password", "password", value, setting) is expected


def test_a_token_is_random() -> None:
    assert is_random("Zx81kQ72mN4pL0")
    assert is_random("13222733-c200-4fc8-aed3-fbdb3e5c67ea")
    assert not is_random("my-db-credentials-2024")
    assert not is_random("1.2.3-beta.4")


def test_a_login_is_user_and_password_in_base64() -> None:
    assert is_login("dXNlcjpwYXNz")
    assert not is_login("bm90aGluZw==")
    assert not is_login("not base64!")


def test_a_phrase_makes_no_sentence() -> None:
    assert is_phrase("copper lantern meadow thunder")
    assert not is_phrase("the password is wrong")


def test_a_made_up_key_is_a_dummy() -> None:
    assert is_dummy("sk-" + "x" * 20)
    assert not is_dummy("a8Zk2Lq0Pw7TxYb3")
